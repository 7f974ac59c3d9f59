"""A world in which every decision leaves a mark that can be counted: what was lost, and what was counted twice, shows.

The features of turn t are three multiples of 1/16 and then a 1 in place t: whichever arm is chosen, the entry (t, t) of
a sum of x x^T is the number of times that the turn is in it. All sums are exact, so they are compared with ==; but
where sums travel rounded, what is at the coordinator lacks a little, which its site still has: see `differ`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedbandit.algorithms.linear.shared.encoding import ROUNDING
from fedbandit.core.algorithm import Setting
from fedbandit.core.messages import Upload
from fedbandit.core.turns import Rewards, Turns
from fedbandit.protocol.charter import Charter

DENSE = 3
ARMS = 3
CONSERVED = 1e-9  # relative: as far as rounded uploads and what is left of them may differ from what was observed


def tagged_turns(seed: int, turns: int, clients: int) -> Turns:
    rng = np.random.default_rng([seed, 77])
    features = np.zeros((turns, ARMS, DENSE + turns))
    features[:, :, :DENSE] = rng.integers(-16, 17, (turns, ARMS, DENSE)) / 16
    features[np.arange(turns), :, DENSE + np.arange(turns)] = 1.0
    payoff = rng.integers(-16, 17, (turns, ARMS)) / 16
    return Turns(rng.integers(clients, size=turns), features, Rewards(payoff))


def tagged_setting(turns: int, clients: int) -> Setting:
    return Setting(clients, ARMS, DENSE + turns, turns)


def times_counted(gram: np.ndarray, weight: np.ndarray | float = 1.0) -> np.ndarray:
    """Return how often each turn is in a sum, which may be rounded, if a turn counts so much in it."""
    return np.rint(np.diagonal(gram)[DENSE:] / weight)


def sums_told(message: Upload) -> tuple[np.ndarray, np.ndarray] | None:
    """Return what an upload of one site tells, as the coordinator takes it in; None: it is a signal."""
    if not hasattr(message, "sums"):
        return None
    gram, moment = message.sums()
    return gram[0], moment[0]


def rounding_of(charter: Charter) -> float:
    """Return which share of what it sends a site may keep, or send beyond it; 0: sums travel as they are."""
    return ROUNDING[getattr(charter.algorithm, "precision", "float64")]


def differ(charter: Charter, found: np.ndarray, expected: np.ndarray, *, is_all_there: bool) -> bool:
    """Tell whether sums are not what they must be.

    Rounded ones may lack what rounding left, if that was lost with a disk; if it is all there, they may lack nothing.
    """
    if rounding_of(charter) == 0.0:
        return bool((found != expected).any())
    share = CONSERVED if is_all_there else rounding_of(charter)
    size = np.trace(expected) if expected.ndim > 1 else np.abs(expected).sum()
    return bool(np.abs(found - expected).max() > share * size)


def sums_of(state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what a server has taken in, all clients' together: sums of x x^T and of x y."""
    if hasattr(state, "told"):  # of each client
        return state.told.gram.sum(axis=0), state.told.moment.sum(axis=0)
    return state.gram, state.moment
