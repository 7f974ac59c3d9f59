"""Which of a client's uploads a download holds, so that one that crosses an upload makes nobody forget what it sent.

A server's node remembers, for each client, which of its uploads were taken in, and writes it into each download that
has a field for it; the client's node compares it with what it has sent. It is one number, a stamp:

    told 1 bit | epoch of the uploads, its last bits 16 | early 12 bits | all up to this number 32 bits

where bit k of `early` says that the number k + 2 after it was taken in before its turn. A stamp of 0.1.0, which counted
something else there, is smaller and tells nothing: such a download is taken for one that lacks nothing. Where uploads
have come so far out of order that a stamp cannot tell it, it is UNCLEAR, and such a download is of no use.
"""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.protocol.seen import Seen
from fedbandit.protocol.sequence import are_last

UNCLEAR = -1
_TOLD = 1 << 60
_EPOCHS = 1 << 16
_EARLY_BITS = 12
_NUMBERS = 1 << 32
_MOST = 60  # things sent that the client's side is told of, one by one


def stamps(epoch: int, clients: Ints, seen: Seen) -> Ints:
    """Return what says which uploads of an epoch were taken in, for each client.

    >>> seen = Seen.nothing(clients=2)
    >>> seen.admit(0, np.array([1]), np.array([2])).size
    1
    >>> told = stamps(0, np.array([1]), seen)
    >>> lacks_of(told, epoch=0, sent=np.array([0, 3]), clients=np.array([1]))  # the third and the first
    array([5])
    """
    if epoch == 0 and not seen.windows:
        return _head(epoch) + seen.in_order[clients]
    return np.array([stamp(epoch, seen, client) for client in clients.tolist()])


def stamp(epoch: int, seen: Seen, client: int) -> int:
    """Return what says which uploads of an epoch of one client were taken in."""
    window = seen.look(client, epoch)
    early = 0
    for number in window.early:
        if number - window.up_to - 2 >= _EARLY_BITS:
            return UNCLEAR
        early |= 1 << (number - window.up_to - 2)
    return _head(epoch) + (early << 32) + window.up_to % _NUMBERS


def _head(epoch: int) -> int:
    return _TOLD | (epoch % _EPOCHS) << 32 + _EARLY_BITS


def nothing_told(clients: int) -> Ints:
    """Return the stamps of clients of whom nothing was taken in."""
    return np.full(clients, _head(0))


def lacks_of(told: int | Ints, epoch: int, sent: Ints, clients: Ints) -> Ints | None:
    """Return which things that clients have sent are not in a download, if any: bit 0 is the newest, bit 1 the next.

    `sent` counts what each client of the cohort has sent; `told` is the stamp of each recipient, or one for all. Of
    another epoch, a download has none of this one's.

    >>> lacks_of(nothing_told(1), epoch=7, sent=np.array([2]), clients=np.array([0]))
    array([3])
    >>> lacks_of(4, epoch=7, sent=np.array([2]), clients=np.array([0])) is None
    True
    """
    each = told if isinstance(told, np.ndarray) and told.shape == clients.shape else np.full(len(clients), told)
    if are_last(each, _head(epoch), sent, clients):
        return None
    pairs = zip(each.tolist(), sent[clients].tolist(), strict=True)
    lacks = np.array([_lacks(one, epoch, count) for one, count in pairs])
    return lacks if lacks.any() else None


def _lacks(told: int, epoch: int, sent: int) -> int:
    if told < _TOLD:
        return UNCLEAR if told == UNCLEAR else 0
    rest = told - _head(epoch)
    if not 0 <= rest < 1 << 32 + _EARLY_BITS:
        return (1 << min(sent, _MOST)) - 1
    early, up_to = divmod(rest, _NUMBERS)
    behind = (sent - up_to) % _NUMBERS
    if behind > _NUMBERS // 2:  # it holds what this client has yet to send: another has a copy of its store
        return 0
    lacks = (1 << min(behind, _MOST)) - 1
    for place in range(_EARLY_BITS):
        age = behind - place - 2  # of the number place + 2 after `up_to`, counted from 0
        if early >> place & 1 and 0 <= age < _MOST:
            lacks &= ~(1 << age)
    return lacks
