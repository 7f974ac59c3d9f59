"""A world in which every decision leaves a mark that can be counted: what was lost, and what was counted twice, shows.

The features of turn t are three multiples of 1/16 and then a 1 in place t: whichever arm is chosen, the entry (t, t) of
a sum of x x^T is the number of times that the turn is in it. All sums are exact, so they are compared with ==.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.turns import Rewards, Turns

DENSE = 3
ARMS = 3


def tagged_turns(seed: int, turns: int, clients: int) -> Turns:
    rng = np.random.default_rng([seed, 77])
    features = np.zeros((turns, ARMS, DENSE + turns))
    features[:, :, :DENSE] = rng.integers(-16, 17, (turns, ARMS, DENSE)) / 16
    features[np.arange(turns), :, DENSE + np.arange(turns)] = 1.0
    payoff = rng.integers(-16, 17, (turns, ARMS)) / 16
    return Turns(rng.integers(clients, size=turns), features, Rewards(payoff))


def tagged_setting(turns: int, clients: int) -> Setting:
    return Setting(clients, ARMS, DENSE + turns, turns)


def times_counted(gram: np.ndarray) -> np.ndarray:
    """Return how often each turn is in a sum."""
    return np.diagonal(gram)[DENSE:]


def sums_of(state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what a server has taken in, all clients' together: sums of x x^T and of x y."""
    if hasattr(state, "told"):  # of each client
        return state.told.gram.sum(axis=0), state.told.moment.sum(axis=0)
    return state.gram, state.moment
