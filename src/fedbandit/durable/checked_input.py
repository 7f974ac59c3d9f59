"""What an application hands in, checked: the arms on offer, and the reward."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput


def checked_offer(arms: Any, algorithm: Algorithm, dimension: int) -> Floats:
    """Return the arms (K, d) of one turn, or its context (d,) where arms share one, as a block of one turn.

    It is a copy: the caller may use the array again before the reward comes.

    >>> from fedbandit.algorithms.linear.async_linucb import AsyncLinUCB
    >>> checked_offer([[1, 0], [0, 1]], AsyncLinUCB(), dimension=2).shape
    (1, 2, 2)
    """
    try:
        offer = np.array(arms, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("arms must hold numbers in rows of one length: give an array of floats") from None
    if offer.ndim != 2 - algorithm.shares_context or offer.shape[-1] != dimension or not offer.size:
        what = f"({dimension},)" if algorithm.shares_context else f"(K, {dimension})"
        raise InvalidInput(f"arms has shape {offer.shape}, but {what} is needed: reshape it")
    if not math.isfinite(np.vdot(offer, offer)) and not np.isfinite(offer).all():  # one pass, as a rule
        raise InvalidInput(f"arms[{int(np.argmin(np.isfinite(offer).all(axis=-1)))}] is not finite: mend it")
    return offer[np.newaxis]


def checked_reward(reward: Any, algorithm: Algorithm) -> float:
    """Return a reward as a finite number; of a duel it is 1 if the first arm won, else 0.

    >>> from fedbandit.algorithms.linear.async_linucb import AsyncLinUCB
    >>> checked_reward(1, AsyncLinUCB())
    1.0
    """
    try:
        number = float(reward)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(f"reward must be a finite number, not {reward!r}: mend it")
    if algorithm.duels and number not in (0.0, 1.0):
        raise InvalidInput(f"reward must be 1 if the first arm won and 0 if not, not {reward!r}: mend it")
    return number
