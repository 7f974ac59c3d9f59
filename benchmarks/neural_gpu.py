"""`python -m benchmarks.neural_gpu [cpu]`: the neural family on a GPU, with what compilation takes apart.

Five clients, T = 5000, classification on Shuttle; where the data set is not at hand, rows of its shape are drawn, which
take the same time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import fedbandit as fb
from fedbandit.core.turns import Rewards, Turns
from fedbandit.kernels.neural.grams import REFRESH

CASES: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("initialisation=normal, m=20, full (p0 = 1301)", {"width": 20, "initialisation": "normal"}, 12),
    ("initialisation=normal, m=50, full (p0 = 3251)", {"width": 50, "initialisation": "normal"}, 20),
    ("the paper's network, m=50, full (p0 = 6350)", {"width": 50}, 40),
)
SHARED = {"ridge": 10, "nu_pooled": 0.1, "nu_local": 0.01}
WARM_UP = 2 * REFRESH + 16  # rounds: long enough that everything has been compiled


@dataclass(frozen=True)
class Drawn(fb.Environment):
    """Rows of Shuttle's shape, 9 numbers and one of 7 classes, as arms in blocks."""

    clients: int = 5

    def setting(self) -> fb.Setting:
        return fb.Setting(self.clients, 7, 63, 5000 * self.clients)

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        rng = np.random.default_rng(seed)
        for first in range(0, count, block):
            size = min(block, count - first)
            rows = rng.standard_normal((size, 9))
            arms = np.zeros((size, 7, 7, 9))
            arms[:, np.arange(7), np.arange(7)] = rows[:, np.newaxis]
            payoff = (rows[:, :7].argmax(axis=1)[:, np.newaxis] == np.arange(7)).astype(np.float64)
            client = np.arange(first, first + size) % self.clients
            yield Turns(client, arms.reshape(size, 7, 63), Rewards(payoff, payoff))


def shuttle(clients: int) -> fb.Environment:
    """Return Shuttle as a bandit, or rows of its shape."""
    world = fb.environment("classification", dataset="shuttle", clients=clients)
    try:
        world.setting()
    except fb.InvalidInput:
        return Drawn(clients)
    return world


def main() -> int:
    """Print a line for each case, and return 1 if any takes longer than it may."""
    device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
    missed = 0
    world = shuttle(5)
    print(f"fn-ucb-less, N=5, T=5000, {type(world).__name__}, device={device}")
    for name, parameters, at_most in CASES:
        algorithm = fb.algorithm("fn-ucb-less", device=device, **SHARED, **parameters)
        cold, warm = _seconds(algorithm, world, WARM_UP), _seconds(algorithm, world, WARM_UP)
        seconds = _seconds(algorithm, world, 5000)
        missed += seconds > at_most
        mark = "missed" if seconds > at_most else "kept"
        line = f"compiling {cold - warm:.1f} s, the run {seconds:.1f} s, at most {at_most:g} s: {mark}"
        print(f"{name}: {line}", flush=True)
    return 1 if missed else 0


def _seconds(algorithm: fb.Algorithm, world: fb.Environment, rounds: int) -> float:
    began = time.perf_counter()
    fb.run(algorithm, world, turns=rounds * 5)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
