"""What an application hands in, checked: the limits of its federation, the arms on offer, and the reward."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.arrays import Floats
from fedbandit.core.bounds import SLACK, Bounds
from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.protocol.forms import Forms

# Where a site is told no limits. Longer arms leave an inverse of V with the usual ridge no digit that is right, and
# make it infinite in the end; the squares of such rewards still fit into the single precision of neural networks.
USUAL = Bounds(context=1e7, reward=1e12)
LARGEST = Bounds(context=1e30, reward=1e30)  # the sums of any number of turns stay finite

_NUMBERS = "fiub"  # the kinds of numpy's types that are real numbers


def checked_limits(limits: Mapping[str, float] | None) -> Bounds:
    """Return what a site lets in: the federation's limits where given, else what only absurd input is beyond.

    >>> checked_limits({"reward": 1.0})
    Bounds(context=10000000.0, reward=1.0)
    """
    given = {} if limits is None else dict(limits)
    names = ("context", "reward")
    for name, value in given.items():
        if name not in names:
            raise unknown("limit of a site", str(name), names)
        most = getattr(LARGEST, name)
        if isinstance(value, bool | str) or not isinstance(value, Real) or not 0 < value <= most:
            raise InvalidInput(
                f"limits[{name!r}] must be a number greater than 0 and at most {most:g}, not {value!r}: "
                "give that of the federation"
            )
    return Bounds(*(float(given.get(name, getattr(USUAL, name))) for name in names))


class InputCheck:
    """Checks what is handed in against the sizes of a federation and against limits.

    >>> from fedbandit.algorithms.linear.async_linucb import AsyncLinUCB
    >>> check = InputCheck(AsyncLinUCB(), dimension=2)
    >>> check.offer([[1, 0], [0, 1]]).shape, check.reward(1)
    ((1, 2, 2), 1.0)
    """

    def __init__(
        self, algorithm: Algorithm, dimension: int, bounds: Bounds = LARGEST, forms: Forms | None = None
    ) -> None:
        """Take what decides about shapes, the limits, and the forms that vectors may have had before."""
        self._forms = forms
        self.bounds = bounds
        self._dimension = dimension
        self._axes = 2 - algorithm.shares_context
        self._duels = algorithm.duels
        self._longest = bounds.context * (1 + SLACK / 4)  # less than a coordinator allows for rounding
        self._largest_square = self._longest**2

    def offer(self, arms: Any) -> Floats:
        """Return the arms (K, d) of one turn, or its context (d,) where arms share one, as a block of one turn.

        It is a copy: the caller may use the array again before the reward comes.
        """
        offer: Floats = arms.copy() if type(arms) is np.ndarray and arms.dtype == np.float64 else _as_floats(arms)
        if self._forms is not None and offer.ndim == self._axes and offer.shape[-1] != self._dimension:
            offer = self._forms.fitted_by_length(offer)
        if offer.ndim != self._axes or offer.shape[-1] != self._dimension or not offer.size:
            what = f"({self._dimension},)" if self._axes == 1 else f"(K, {self._dimension})"
            raise InvalidInput(f"arms has shape {offer.shape}, but {what} is needed: reshape it")
        if not np.vdot(offer, offer) <= self._largest_square:  # one pass, as a rule; else arm by arm
            _check_arms(np.atleast_2d(offer), self.bounds.context, self._longest)
        return offer[np.newaxis]

    def reward(self, reward: Any) -> float:
        """Return a reward as a number within the limits; of a duel it is 1 if the first arm won, else 0."""
        number: float = reward if type(reward) is float else _as_float(reward)
        if not math.isfinite(number):
            raise InvalidInput(f"reward must be a finite number, not {_briefly(reward)}: give what the decision earned")
        if self._duels and number not in (0.0, 1.0):
            raise InvalidInput(
                f"reward must be 1 if the first arm won and 0 if not, not {number:g}: give one of the two"
            )
        if abs(number) > self.bounds.reward:
            raise InvalidInput(
                f"reward {number:g} is farther from 0 than the limit of {self.bounds.reward:g}: scale rewards, or give "
                "the site the federation's limits"
            )
        return number


def _as_floats(arms: Any) -> Floats:
    """Return a copy as numbers; text, complex numbers and anything else that is no real number is refused."""
    try:
        given = np.asarray(arms)
        is_right = given.dtype.kind in _NUMBERS or (
            given.dtype.kind == "O" and all(isinstance(each, Real | Decimal) for each in given.flat)
        )
        if is_right:
            return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise InvalidInput("arms has a number that is too large for a float: scale the features") from None
    raise InvalidInput("arms must hold numbers in rows of one length: give an array of floats")


def _as_float(reward: Any) -> float:
    """Return a number as a float, and anything else as NaN."""
    try:
        return math.nan if isinstance(reward, str | bytes) else float(reward)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _check_arms(offer: Floats, limit: float, most: float) -> None:
    """Refuse an arm that is not finite or too long, by its place."""
    finite = np.isfinite(offer).all(axis=1)
    if not finite.all():
        raise InvalidInput(f"arms[{int(np.argmin(finite))}] is not finite: give finite features")
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(offer, axis=1)
    longest = int(np.argmax(lengths))
    if lengths[longest] > most:
        raise InvalidInput(
            f"arms[{longest}] has length {math.hypot(*offer[longest]):g}, more than the limit of {limit:g}: scale the "
            "features, or give the site the federation's limits"
        )


def _briefly(value: Any) -> str:
    """Return a value as an error shows it."""
    text = "a number beyond all floats" if isinstance(value, int) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
