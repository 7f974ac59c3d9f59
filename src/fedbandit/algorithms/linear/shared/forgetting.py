"""How sums fade when an epoch ends: V and b are multiplied, the ridge is not.

With e the present epoch every sum is V = sum of discount^(e - e_s) x_s x_s^T, b likewise, over observations s of epochs
e_s. To age it by k epochs is to multiply it by discount^k. The inverse of A = V + ridge I is computed afresh then. For
V >= B >= 0, log det(cV + ridge I) - log det(cB + ridge I) grows with c: the end of an epoch alone triggers nothing.

The width of the confidence bound is the family's with the aged A. D-LinUCB (Russac, Vernade and Cappe 2019) has
beta |x| in the norm of A^-1 A~ A^-1, with A~ the sum with squared weights. That is never wider, at steady state less by
a factor of about sqrt(1 + discount), and would take a second matrix in every message.
"""

from __future__ import annotations

import math

import numpy as np

from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.messages import (
    Answer,
    FactorAnswer,
    FadingQuestion,
    FadingStatistics,
    Shared,
    Snapshot,
    Statistics,
    Sums,
)
from fedbandit.algorithms.linear.shared.questions import AsksBySpectrum
from fedbandit.core.arrays import Floats
from fedbandit.core.messages import Upload
from fedbandit.kernels.linear.download_check import Contacts, Copies, lowest_of
from fedbandit.kernels.linear.ridge import factorise, invert, multiply
from fedbandit.kernels.linear.ridge_rows import Model, RidgeRows, model_of
from fedbandit.kernels.linear.snapshots import Snapshots


def age_arrays(weight: float, *arrays: Floats) -> None:
    """Multiply sums by what their observations keep of their weight.

    >>> sums = np.array([4.0, 2.0])
    >>> age_arrays(0.5, sums)
    >>> sums
    array([2., 1.])
    """
    for each in arrays:
        each *= weight


def age_model(model: Model, rows: int, ridge: float, weight: float) -> None:
    """Age the sums that scores use of the first so many rows, and compute afresh what rests on them."""
    size = model.moment.shape[1]
    upper, lower = np.empty((size, size)), np.empty((size, size))
    age_arrays(weight, model.gram[:rows], model.moment[:rows])
    for row in range(rows):
        model.log_det[row] = invert(model.gram[row], ridge, model.inverse[row], upper, lower)
        multiply(model.inverse[row], model.moment[row], model.estimate[row])


def age_rows(known: RidgeRows, rows: int, ridge: float, weight: float) -> None:
    """Age all that the clients of the first so many rows know, and their part of it that is not uploaded."""
    age_model(model_of(known), rows, ridge, weight)
    age_arrays(weight, known.new_gram[:rows], known.new_moment[:rows])
    known.updates[:rows] = 0
    if weight == 0.0:
        known.telling[:rows] = 0
    upper = np.empty(known.gram.shape[1:])
    for row in np.flatnonzero(known.fresh[:rows]).tolist():
        shared = known.gram[row] - known.new_gram[row]
        known.growth[row] = known.log_det[row] - factorise(shared, ridge, upper)


def age_snapshots(shared: Snapshots, weight: float) -> None:
    """Age downloads that have yet to be taken in."""
    age_arrays(weight, shared.gram, shared.moment)
    shared.ready[:] = False


def age_cohort(state: LinearCohortState, ridge: float, weight: float) -> None:
    """Age all that clients have observed or been told: sums, downloads on their way in, errors of predictions."""
    age_rows(state.rows, int(state.used[0]), ridge, weight)
    age_snapshots(state.shared, weight)
    age_arrays(weight, state.exchange.sent_gram, state.exchange.sent_moment)
    if state.downloaded is not None:
        age_model(state.downloaded, int(state.used[0]), ridge, weight)
    if state.errors is not None:
        age_arrays(weight, *state.errors)


def aged_upload(message: Upload, weight: float) -> Upload:
    """Return an upload of the family as it is when its sums, and what it tells of others, have faded.

    Rounded factors become the sums that they stand for: a factor fades by a root, which would be rounded again.
    """
    if isinstance(message, AsksBySpectrum):
        told = message.includes, weight * message.spectrum
        if isinstance(message, FadingQuestion):
            return FadingQuestion(*told)
        assert isinstance(message, Sums)
        gram, moment = message.sums()
        return FadingStatistics(weight * gram, weight * moment, message.observations, *told)
    if isinstance(message, Sums):
        gram, moment = message.sums()
        return Statistics(weight * gram, weight * moment, message.observations)
    return message


def aged_download(message: Shared, weight: float, ridge: float) -> Shared:
    """Return a snapshot of the server's sums as it is when they have faded."""
    gram, moment = message.sums(ridge)
    if isinstance(message, Answer | FactorAnswer):
        return Answer(weight * gram, weight * moment, message.version, message.holds)
    return Snapshot(weight * gram, weight * moment, message.holds)


def add_late(rows: RidgeRows, row: int, arm: Floats, reward: float, ridge: float, weight: float) -> None:
    """Add an observation whose arm was chosen in an earlier epoch, by which it counts for less."""
    gram, moment = weight * np.outer(arm, arm), weight * reward * arm
    for sums in (rows.gram, rows.new_gram):
        sums[row] += gram
    for sums in (rows.moment, rows.new_moment):
        sums[row] += moment
    upper, lower = np.empty_like(gram), np.empty_like(gram)
    rows.log_det[row] = invert(rows.gram[row], ridge, rows.inverse[row], upper, lower)
    multiply(rows.inverse[row], rows.moment[row], rows.estimate[row])
    rows.growth[row] = rows.log_det[row] - factorise(rows.gram[row] - rows.new_gram[row], ridge, upper)
    rows.updates[row] = 0
    rows.fresh[row] += 1
    rows.telling[row] += bool(gram.any())
    rows.turns[row] += 1


def age_contacts(contacts: Contacts, copies: Copies, log_gammas: Floats, ridge: float, weight: float) -> None:
    """Age the copies last shared with clients, and the levels that the server's determinant is compared with."""
    age_arrays(weight, copies.common, copies.own)
    set_levels(contacts, copies, log_gammas, ridge)


def set_levels(contacts: Contacts, copies: Copies, log_gammas: Floats, ridge: float) -> None:
    """Compute the levels of all clients that the server has met from the copies last shared with them."""
    size = copies.own.shape[1]
    upper = np.empty((size, size))
    own = np.where(contacts.slot_of < 0, contacts.row_of, -1)  # a copy of its own counts if no common one is newer
    nothing = np.isfinite(contacts.level) & (contacts.slot_of < 0) & (own < 0)
    contacts.level[nothing] = log_gammas[nothing] + size * math.log(ridge)
    for place, grams in ((contacts.slot_of, copies.common), (own, copies.own)):
        clients = np.flatnonzero(place >= 0)
        log_det = {each: factorise(grams[each], ridge, upper) for each in np.unique(place[clients]).tolist()}
        for client in clients.tolist():
            contacts.level[client] = log_gammas[client] + log_det[int(place[client])]
    for block in range(contacts.lowest.size):
        contacts.lowest[block] = lowest_of(contacts.level, block)
