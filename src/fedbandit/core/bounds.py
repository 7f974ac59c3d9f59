"""What a federation knows of its data before it sees any: by this an upload can be told to be impossible."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import cast

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput, ProtocolError

SLACK = 1e-9  # relative: what rounding may add to a sum
MOST = 1 << 40  # of anything that is counted: sums over a million sites stay far inside 64 bits
FAR = 1 << 20  # more than a coordinator gives out between two backups
_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


def check_counts(**headers: Ints) -> None:
    """Refuse numbers of things (observations, versions, rounds) that are negative or beyond all that can be counted.

    >>> check_counts(version=np.array([-30]))
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.ProtocolError: version is -30, but it counts something: it is from 0 to 2^40
    """
    for name, values in headers.items():
        for value in values.tolist():
            if not 0 <= value <= MOST:
                raise ProtocolError(f"{name} is {value}, but it counts something: it is from 0 to 2^40")


def check_length(name: str, vector: Floats, most: float) -> None:
    """Refuse a vector that is longer than `most`.

    >>> check_length("gradient", np.array([3.0, 4.0]), most=4.9)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.ProtocolError: the length of the gradient is 5: no honest one is longer than 4.9
    """
    length = math.sqrt(float(vector @ vector))
    if length > most * (1 + SLACK):
        raise ProtocolError(f"the length of the {name} is {length:g}: no honest one is longer than {most:g}")


def check_not_ahead(name: str, value: int, known: int) -> None:
    """Refuse a number of what a server gives out (versions, questions) that is absurdly far beyond what it has given.

    A little ahead of it an honest client can be, after a coordinator was restored from a backup.
    """
    if value > known + FAR:
        raise ProtocolError(f"{name} {value} is far beyond {known}, which is as far as this coordinator is")


def is_lost_in(trace: float, size: int, ridge: float) -> bool:
    """Tell whether rounding errors in sums of a size x size matrix may reach half of the ridge.

    Added to the sums' own rounding is what the check of each upload allows for its rounding, which an upload that
    claims very many observations could use.
    """
    return trace * (size * 4.0 * _EPS + SLACK) > 0.5 * ridge


def check_invertible(total: Floats, new: Floats, ridge: float) -> None:
    """Refuse sums if total + new + (ridge / 2) I is not positive definite: an inverse would not exist, or hardly.

    With sums that are small compared with the ridge nothing is computed: see `is_lost_in`.

    >>> check_invertible(np.zeros((2, 2)), np.full((2, 2), 1e30), ridge=1.0)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.ProtocolError: sums with it would be so large beside the ridge of 1 that no inverse exists
    """
    if is_lost_in(total.trace() + new.trace(), len(total), ridge) and not _is_positive(total + new, 0.5 * ridge):
        raise ProtocolError(f"sums with it would be so large beside the ridge of {ridge:g} that no inverse exists")


@dataclass(frozen=True, slots=True)
class Bounds:
    """No arm (or context) is longer than `context`, no reward farther from zero than `reward`; infinite: not known.

    >>> Bounds(context=-1.0)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: context must be greater than 0, not -1.0: give the length of the longest arm
    """

    context: float = math.inf  # L
    reward: float = math.inf  # R

    def __post_init__(self) -> None:
        """Check both."""
        if not self.context > 0:
            raise InvalidInput(
                f"context must be greater than 0, not {self.context}: give the length of the longest arm"
            )
        if not self.reward > 0:
            raise InvalidInput(f"reward must be greater than 0, not {self.reward}: give the largest reward")

    def check_observation(self, context: Floats, reward: float) -> None:
        """Refuse an arm (or context) or a reward that is out of bounds."""
        check_length("context", context, self.context)
        if abs(reward) > self.reward:
            raise ProtocolError(f"a reward of {reward:g}, but none is farther from zero than {self.reward:g}")

    def check_gram(self, name: str, gram: Floats, observations: int, weight: float = 1.0) -> float:
        """Refuse what is no sum of w x x^T over n observations with 0 <= w <= `weight`; return the trace.

        Such a sum is symmetric, positive semi-definite, and its trace is at most n weight L^2.
        """
        trace = self._check_trace(name, gram, observations, weight)
        if not _is_positive(gram, SLACK * max(trace, _TINY)):
            raise ProtocolError(f"the {name} is not positive semi-definite")
        return trace

    def check_sums(self, gram: Floats, moment: Floats, observations: int) -> None:
        """Refuse sums (dV, db) that no n observations within the bounds can have.

        dV = sum x x^T and db = sum x y over n pairs with |x| <= L and |y| <= R have: dV symmetric, positive
        semi-definite, trace(dV) <= n L^2, |db| <= n L R; and since sum (x, y) (x, y)^T is positive semi-definite too,
        so is dV - db db^T / (n R^2).

        >>> Bounds(context=1.0).check_sums(-np.eye(2), np.zeros(2), observations=1)
        Traceback (most recent call last):
        ...
        fedbandit.core.errors.ProtocolError: the gram matrix is not positive semi-definite
        """
        trace = self._check_trace("gram matrix", gram, observations, 1.0)
        if observations == 0:
            if moment.any():
                raise ProtocolError("sums that are not zero, of no observations")
            return
        length = math.sqrt(float(moment @ moment))
        if length > observations * self.context * self.reward * (1 + SLACK):
            raise ProtocolError(
                f"the length of the moment is {length:g}, more than {observations} observations of length "
                f"{self.context:g} with rewards up to {self.reward:g} can have"
            )
        spare = SLACK * max(trace, _TINY)
        rest = gram - moment[:, np.newaxis] * (moment * (1.0 / (observations * self.reward**2)))
        if not _is_positive(rest, spare):  # then the gram matrix is not either, or the two do not fit
            if not _is_positive(gram, spare):
                raise ProtocolError("the gram matrix is not positive semi-definite")
            raise ProtocolError("the moment does not fit the gram matrix: no rewards in bounds give both")

    def _check_trace(self, name: str, gram: Floats, observations: int, weight: float) -> float:
        if gram.tobytes() != gram.T.tobytes() and not (gram == gram.T).all():  # a zero may have a sign
            raise ProtocolError(f"the {name} is not symmetric")
        if observations == 0 and gram.any():
            raise ProtocolError("sums that are not zero, of no observations")
        trace = float(gram.trace())
        most = observations * weight * self.context**2 if observations else 0.0  # else 0 times infinity, which is nan
        if trace > most * (1 + SLACK):
            raise ProtocolError(
                f"the trace of the {name} is {trace:g}, more than {observations} observations of length "
                f"{self.context:g} can have"
            )
        return trace


def _is_positive(matrix: Floats, spare: float) -> bool:
    """Tell whether a symmetric matrix is positive semi-definite, but for rounding."""
    lifted = matrix.copy()
    lifted.reshape(-1)[:: len(lifted) + 1] += spare
    _, failed = _cholesky()(lifted.T, clean=False, overwrite_a=True)
    return not failed


@cache
def _cholesky() -> Callable[..., tuple[Floats, int]]:
    from scipy.linalg.lapack import dpotrf  # slow to import, and only a coordinator needs it

    return cast(Callable[..., tuple[Floats, int]], dpotrf)
