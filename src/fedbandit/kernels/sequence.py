"""Sequence numbers of many peers at once: is this message the next one, is it newer than the last?"""

from __future__ import annotations

from fedbandit.core.arrays import Ints
from fedbandit.kernels.compiled import compiled


@compiled
def advance(last: Ints, clients: Ints, sequence: Ints) -> bool:
    """If each client's number is the one after its last, note them all; else change nothing and return False."""
    for each in range(clients.size):
        if last[clients[each]] + 1 != sequence[each]:
            return False
    for each in range(clients.size):
        last[clients[each]] = sequence[each]
    return True


@compiled
def raise_to(last: Ints, clients: Ints, sequence: int) -> bool:
    """If the number is above each client's last, note it for all; else change nothing and return False."""
    for each in range(clients.size):
        if last[clients[each]] >= sequence:
            return False
    for each in range(clients.size):
        last[clients[each]] = sequence
    return True
