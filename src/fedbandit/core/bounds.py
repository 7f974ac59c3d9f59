"""What a federation knows of its data before it sees any: by this an upload can be told to be impossible."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput, ProtocolError

SLACK = 1e-9  # relative: what rounding may add to a sum
_TINY = float(np.finfo(np.float64).tiny)


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
        if observations < 0:
            raise ProtocolError(f"the number of observations is {observations}, less than 0")
        if observations == 0:
            if gram.any() or moment.any():
                raise ProtocolError("sums that are not zero, of no observations")
            return
        if not (gram == gram.T).all():
            raise ProtocolError("the gram matrix is not symmetric")
        trace = float(gram.trace())
        if trace > observations * self.context**2 * (1 + SLACK):
            raise ProtocolError(
                f"the trace of the gram matrix is {trace:g}, more than {observations} observations of length "
                f"{self.context:g} can have"
            )
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


def _is_positive(matrix: Floats, spare: float) -> bool:
    """Tell whether a symmetric matrix is positive semi-definite, but for rounding."""
    from scipy.linalg.lapack import dpotrf  # slow to import, and only a coordinator needs it

    lifted = matrix.copy()
    lifted.reshape(-1)[:: len(lifted) + 1] += spare
    _, failed = dpotrf(lifted.T, clean=False, overwrite_a=True)
    return not failed
