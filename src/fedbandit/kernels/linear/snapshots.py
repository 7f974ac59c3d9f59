"""Shared copies of the server's statistics: many clients point at one slot, a slot without pointers is reused."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.kernels.shared.at_once import AtOnce
from fedbandit.kernels.shared.compiled import borrowing


class Snapshots(NamedTuple):
    """Versions of the server's statistics that some client still needs; the first axis is the slot."""

    gram: Floats
    moment: Floats
    inverse: Floats  # computed when the first client takes the snapshot in
    log_det: Floats
    ready: Bools  # whether inverse and log_det are
    users: Ints  # how many clients point here


def empty_snapshots(slots: int, dimension: int) -> Snapshots:
    """Return slots without content.

    >>> empty_snapshots(4, 2).users
    array([0, 0, 0, 0])
    """
    return Snapshots(
        np.zeros((slots, dimension, dimension)),
        np.zeros((slots, dimension)),
        np.zeros((slots, dimension, dimension)),
        np.zeros(slots),
        np.zeros(slots, dtype=np.bool_),
        np.zeros(slots, dtype=np.int64),
    )


def free_slot(users: Ints) -> int:
    """Return the first slot that no client points at, or -1.

    >>> free_slot(np.array([2, 0, 0]))
    1
    """
    slot = int(users.argmin())
    return -1 if users[slot] else slot


@borrowing
def point(slot_of: Ints, users: Ints, clients: Ints, slot: int) -> None:
    """Let clients point at a slot, and no longer at the one they pointed at."""
    for each in range(clients.size):
        client = clients[each]
        old = slot_of[client]
        if old >= 0:
            users[old] -= 1
        slot_of[client] = slot
    users[slot] += clients.size


point_at_once = AtOnce(point, lambda *call: call[2].size)
