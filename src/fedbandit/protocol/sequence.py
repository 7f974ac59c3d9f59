"""Sequence numbers of many peers at once: is this message the next one, is it newer than the last?"""

from __future__ import annotations

from fedbandit.core.arrays import Ints
from fedbandit.kernels.shared.compiled import borrowing
from fedbandit.kernels.shared.worthwhile import once_worthwhile


@once_worthwhile(lambda *call: call[1].size)
@borrowing
def advance(last: Ints, clients: Ints, sequence: Ints) -> bool:
    """If each client is known and its number is the one after its last, note them all; else change nothing: False."""
    for each in range(clients.size):
        client = clients[each]
        if client < 0 or client >= last.size or last[client] + 1 != sequence[each]:
            for noted in range(each):
                last[clients[noted]] -= 1
            return False
        last[client] += 1
    return True


@once_worthwhile(lambda *call: call[1].size)
@borrowing
def raise_to(last: Ints, clients: Ints, sequence: int) -> bool:
    """If each client is known and the number is above its last, note it for all; else change nothing: False."""
    for each in range(clients.size):
        client = clients[each]
        if client < 0 or client >= last.size or last[client] >= sequence:
            return False
    for each in range(clients.size):
        last[clients[each]] = sequence
    return True


@once_worthwhile(lambda *call: call[3].size)
@borrowing
def are_last(numbers: Ints, above: int, last: Ints, clients: Ints) -> bool:
    """Tell whether the number of each client, less what it is counted from, is its last."""
    differing = 0
    for each in range(clients.size):
        differing += numbers[each] - above != last[clients[each]]
    return differing == 0
