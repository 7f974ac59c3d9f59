"""How sums are carried over when features are added or removed, or the ridge changes.

V and b are sums over x x^T and x y. Where x gets a feature, all that was observed had 0 there: a row and a column of
zeros are added. Where x loses one, its row and its column go: the rest is the sum over what is left of each x. The
ridge is no part of them. Inverses, determinants and growths are computed afresh.

What a question tells of the copy that its sender was last sent does not follow in the same way: carried over, it tells
that its sender knows nothing, and so is answered.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.forgetting import age_model, age_rows
from fedbandit.algorithms.linear.shared.messages import (
    Answer,
    AskingStatistics,
    FactorAnswer,
    FadingQuestion,
    FadingStatistics,
    Question,
    Shared,
    Snapshot,
    Statistics,
    Sums,
)
from fedbandit.algorithms.linear.shared.questions import Asks, AsksBySpectrum
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.messages import Download, Upload
from fedbandit.kernels.linear.ridge_rows import Model, RidgeRows
from fedbandit.kernels.linear.snapshots import Snapshots


def vectors(sums: Floats, places: Ints) -> Floats:
    """Return vectors, along the last axis, with the features that stood in some places; -1: a new one, which is 0.

    >>> vectors(np.array([5.0, 6.0]), np.array([1, -1]))
    array([6., 0.])
    """
    longer = np.concatenate([sums, np.zeros((*sums.shape[:-1], 1))], axis=-1)
    return np.ascontiguousarray(longer[..., places])


def matrices(sums: Floats, places: Ints) -> Floats:
    """Return matrices, of the last two axes, in the same way.

    >>> matrices(np.array([[5.0, 6.0], [6.0, 7.0]]), np.array([1, -1]))
    array([[7., 0.],
           [0., 0.]])
    """
    rows = vectors(np.swapaxes(sums, -1, -2), places)
    return vectors(np.swapaxes(rows, -1, -2), places)


def carry_cohort(state: LinearCohortState, ridge: float, places: Ints) -> None:
    """Carry over all that clients know: sums, downloads on their way in, uploads that may not have arrived."""
    used, size = int(state.used[0]), len(places)
    state.rows = _rows(state.rows, places)
    age_rows(state.rows, used, ridge, 1.0)
    shared = state.shared
    state.shared = Snapshots(
        matrices(shared.gram, places), vectors(shared.moment, places), np.zeros((len(shared.users), size, size)),
        np.zeros(len(shared.users)), np.zeros(len(shared.users), dtype=np.bool_), shared.users,
    )  # fmt: skip
    state.exchange = state.exchange._replace(
        sent_gram=matrices(state.exchange.sent_gram, places), sent_moment=vectors(state.exchange.sent_moment, places)
    )
    if state.downloaded is not None:
        state.downloaded = _model(state.downloaded, places)
        age_model(state.downloaded, used, ridge, 1.0)


def _rows(rows: RidgeRows, places: Ints) -> RidgeRows:
    model = _model(Model(rows.gram, rows.moment, rows.inverse, rows.estimate, rows.log_det), places)
    return rows._replace(
        **model._asdict(), new_gram=matrices(rows.new_gram, places), new_moment=vectors(rows.new_moment, places)
    )


def _model(model: Model, places: Ints) -> Model:
    """Return the sums carried over, and room for what follows from them."""
    gram, moment = matrices(model.gram, places), vectors(model.moment, places)
    return Model(gram, moment, np.zeros_like(gram), np.zeros_like(moment), model.log_det)


class Summed(Protocol):
    """The state of a server that keeps V_g and b_g."""

    gram: Floats
    moment: Floats


def carry_sums(state: Summed, places: Ints) -> None:
    """Carry over V_g and b_g of a server."""
    state.gram, state.moment = matrices(state.gram, places), vectors(state.moment, places)


def carried_upload(message: Upload, places: Ints, ridge: float) -> Upload:
    """Return an upload of the family as it is with other features or another ridge."""
    told: tuple[Any, ...] = ()
    if isinstance(message, Asks):
        many, size = len(message.includes), len(places)
        fades = isinstance(message, AsksBySpectrum)
        told = message.includes, np.zeros((many, size)) if fades else np.full(many, size * math.log(ridge))
        if not isinstance(message, Sums):
            return (FadingQuestion if fades else Question)(*told)
    if not isinstance(message, Sums):
        return message
    gram, moment = message.sums()
    kind = Statistics if not told else FadingStatistics if isinstance(message, AsksBySpectrum) else AskingStatistics
    return kind(matrices(gram, places), vectors(moment, places), message.observations, *told)


def carried_download(message: Download, places: Ints, ridge_before: float) -> Download:
    """Return a download of the family as it is with other features; what is no snapshot is what it is."""
    if not isinstance(message, Shared):
        return message
    gram, moment = message.sums(ridge_before)
    gram, moment = matrices(gram, places), vectors(moment, places)
    if isinstance(message, Answer | FactorAnswer):
        return Answer(gram, moment, message.version, message.holds)
    return Snapshot(gram, moment, message.holds)
