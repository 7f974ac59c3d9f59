"""How sums travel: as they are, in double precision, or as factors in a lower one.

**Uploads.** R with R^T R = dV has as many rows as dV has rank, so after few observations it is far smaller than dV; it
tells nothing that dV does not tell. It is rounded to the precision, db to single precision. What was sent is what was
rounded: the client takes R~^T R~ and the rounded db from its buffer, and what is left travels with the next upload
(error feedback). So V_g + sum_i dV_i is still the sum over all observations, to the rounding of double precision.

**Downloads.** U with U^T U = V_g + ridge I, rounded to the precision, and theta_g in single precision.

**What rounding may add.** With u the precision's unit roundoff, rounding changes the entries of R by a share of at most
u, and what is left of dV when its trace is within 4 u of nothing is left out. So an upload leaves at most 8 u of its
observations in the buffer, of either sign, and all of it may come with later ones: over its life a site's uploads are
beyond their observations (`excess_of`) by at most `ROUNDING` = 16 u of all observations, 1/128 in half precision.
A coordinator counts that for each site and allows no more, so it does not help a liar to send many small uploads.

A number that half precision cannot hold (beyond 65,504, or a pivot of a download below 6e-5) travels in single.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fedbandit.algorithms.linear.shared.messages import (
    Answer,
    AskingFactors,
    AskingStatistics,
    FactorAnswer,
    Factors,
    FactorSnapshot,
    FadingFactors,
    FadingStatistics,
    Shared,
    Snapshot,
    Statistics,
    Sums,
)
from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.factors import multiplied_out, trapezoid
from fedbandit.kernels.linear.ridge import factorise
from fedbandit.kernels.shared.cholesky import backward, forward

PRECISIONS = ("float64", "float32", "float16")
_LEFT_OUT = {"float32": 4 * 2.0**-24, "float16": 4 * 2.0**-11}
ROUNDING = {"float64": 0.0, "float32": 16 * 2.0**-24, "float16": 16 * 2.0**-11}


class Sent(NamedTuple):
    """An upload of some clients, and the sums that it stands for."""

    message: Sums
    gram: Floats
    moment: Floats


def upload(
    kind: type[Sums], precision: str, gram: Floats, moment: Floats, observations: Ints, question: tuple[Any, ...] = ()
) -> Sent:
    """Return what clients send of their buffers; what it tells as a question is added as it is."""
    if precision == "float64":
        return Sent(kind(gram, moment, observations, *question), gram, moment)
    factors = np.zeros(gram.shape)
    for each, count in enumerate(observations.tolist()):
        trapezoid(gram[each], count, _LEFT_OUT[precision], factors[each])
    rounded, short = _rounded(factors, precision), moment.astype(np.float32)
    message = kind(rounded, short, observations, *question)
    return Sent(message, multiplied_out(rounded), short.astype(np.float64))


def download(precision: str, gram: Floats, moment: Floats, ridge: float, version: int | None) -> Shared:
    """Return the server's sums as a snapshot or, with a version, as an answer."""
    told = () if version is None else (version,)
    if precision == "float64":
        kind = Snapshot if version is None else Answer
        return kind(gram.copy(), moment.copy(), *told)
    upper, estimate = np.zeros(gram.shape), moment.copy()
    factorise(gram, ridge, upper)
    forward(upper, len(moment), estimate)
    backward(upper, len(moment), estimate)
    rounded_kind = FactorSnapshot if version is None else FactorAnswer
    return rounded_kind(_rounded(upper, precision, least=upper.diagonal().min()), estimate.astype(np.float32), *told)


def kinds_of_upload(precision: str, *, asks: bool, fades: bool = False) -> type[Sums]:
    """Return the type of the uploads."""
    if not asks:
        return Statistics if precision == "float64" else Factors
    if fades:
        return FadingStatistics if precision == "float64" else FadingFactors
    return AskingStatistics if precision == "float64" else AskingFactors


def kinds_of_download(precision: str, *, answers: bool) -> type[Shared]:
    """Return the type of the downloads."""
    if precision == "float64":
        return Answer if answers else Snapshot
    return FactorAnswer if answers else FactorSnapshot


def _rounded(values: Floats, precision: str, least: float = math.inf) -> Any:
    """Return values in a precision, or in the next that holds them: the largest of them, and the least that matters."""
    if precision == "float16":
        half = np.finfo(np.float16)
        if np.abs(values).max(initial=0.0) <= float(half.max) and least >= float(half.tiny):
            return values.astype(np.float16)
    if np.abs(values).max(initial=0.0) <= float(np.finfo(np.float32).max):
        return values.astype(np.float32)
    return values
