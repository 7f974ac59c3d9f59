"""Many uploads of sums at once, one after the other: what is done with each is in `plausible` and `download_check`."""

from __future__ import annotations

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.download_check import merge_and_check_arrays
from fedbandit.kernels.linear.plausible import are_plausible, excess_of
from fedbandit.kernels.linear.ridge import trace_of
from fedbandit.kernels.shared.compiled import compiled


@compiled
def are_all_plausible(
    grams: Floats, moments: Floats, observations: Ints, context: float, reward: float, slack: float
) -> bool:  # fmt: skip
    """Tell whether the sums of all uploads are plausible."""
    for each in range(observations.size):
        if not are_plausible(grams[each], moments[each], observations[each], context, reward, slack):
            return False
    return True


@compiled
def find_excess(
    grams: Floats, moments: Floats, observations: Ints, context: float, reward: float, slack: float, found: Floats
) -> None:  # fmt: skip
    """Write by how many observations the sums of each upload are beyond those that it names."""
    for each in range(observations.size):
        found[each] = excess_of(grams[each], moments[each], observations[each], context, reward, slack)


@compiled
def trace_of_all(matrices: Floats) -> float:
    """Return the sum of the traces.

    >>> import numpy as np
    >>> trace_of_all(np.array([np.eye(3), 2.0 * np.eye(3)]))
    9.0
    """
    total = 0.0
    for each in range(matrices.shape[0]):
        total += trace_of(matrices[each])
    return total


@compiled
def largest_trace(common: Floats, own: Floats, slot_of: Ints, row_of: Ints, clients: Ints) -> float:
    """Return the largest trace of what was last shared with each of some clients, all of whom have a row."""
    largest = 0.0
    for client in clients:
        slot = slot_of[client]
        trace = trace_of(common[slot]) if slot >= 0 else trace_of(own[row_of[client]])
        if not trace <= largest:
            largest = trace
    return largest


@compiled
def merge_some(
    gram: Floats, moment: Floats, level: Floats, lowest: Floats, uploads_before: Ints, uploads_since: Ints,
    slot_of: Ints, row_of: Ints, common: Floats, users: Ints, own: Floats, senders: Ints, grams: Floats,
    moments: Floats, first: int, uploads: int, ridge: float, log_gammas: Floats, scratch: Floats, found: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Merge uploads from the place `first` on, up to one after which downloads are owed; `uploads` came before.

    Return how many were merged, and to how many clients, written to `found`, a download is owed then.
    """
    for each in range(first, senders.size):
        sender = senders[each]
        owed = merge_and_check_arrays(
            gram, moment, level, lowest, uploads_before, uploads_since, slot_of, row_of, common, users, own, sender,
            row_of[sender], grams[each], moments[each], uploads + each - first + 1, ridge, log_gammas, scratch, found,
        )  # fmt: skip
        if owed > 0:
            return each - first + 1, owed
    return senders.size - first, 0
