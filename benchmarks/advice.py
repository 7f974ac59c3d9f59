"""Advice: how long it takes on a large log, and how good it is in a hundred worlds that it was not tuned on."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.advice_worlds import bytes_are_right, called_sure, everything, is_close
from benchmarks.row import Row
from fedbandit.advice.advise import advise
from fedbandit.features.layout import message_bytes
from fedbandit.logs.log import Log

TURNS, ARMS, DIMENSION, SITES, DAYS = 50_000, 10, 16, 12, 10
MESSAGES = 60  # of full precision a site, that the budget is worth


def _seconds() -> float:
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((TURNS, ARMS, DIMENSION))
    arms /= np.linalg.norm(arms, axis=2, keepdims=True)
    theta = rng.standard_normal(DIMENSION)
    site, choice = rng.integers(SITES, size=TURNS), rng.integers(ARMS, size=TURNS)
    reward = arms[np.arange(TURNS), choice] @ (theta / np.linalg.norm(theta)) + 0.3 * rng.standard_normal(TURNS)
    seconds = np.linspace(0, DAYS * 86_400, TURNS)
    budget = MESSAGES * SITES * message_bytes(DIMENSION) / DAYS
    small = Log.from_arrays(
        site=site[:200], arms=arms[:200], choice=choice[:200], reward=reward[:200], time=seconds[:200]
    )
    advise(small, budget=1e6)  # compiles
    log = Log.from_arrays(site=site, arms=arms, choice=choice, reward=reward, time=seconds)
    began = time.process_time()
    advise(log, budget=budget)
    return time.process_time() - began


@cache
def _judged() -> list[dict[str, Any]]:
    return list(everything())


def _misses(is_right: Callable[[dict[str, Any]], bool]) -> float:
    return float(sum(not is_right(each) for each in _judged()))


ROWS = (
    Row("advice from a log of 50,000 rows, d=16, K=10, 12 sites", 60, "s", _seconds, "of CPU, on one core"),
    Row("advice in 100 worlds: regret more than 10 % above the best", 10, "worlds", lambda: _misses(is_close),
        "twenty minutes; what is in results/advice-worlds is kept"),
    Row("advice in 100 worlds: bytes more than 10 % from those predicted", 10, "worlds",
        lambda: _misses(bytes_are_right), "python -m benchmarks.advice_worlds prints more"),
    Row("advice in 100 worlds: either of these, and it was called sure", 0, "worlds",
        lambda: _misses(lambda each: not called_sure(each)), "docs/advice.md has the runs before"),
)  # fmt: skip
