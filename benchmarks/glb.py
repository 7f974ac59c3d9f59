"""The generalised linear family: whole runs of T=2000 rounds, N=200, d=10, K=25 (400,000 turns) on one core."""

from __future__ import annotations

import time
from typing import Any

import fedbandit as fb
from benchmarks.row import Row, peak_gibibytes
from fedbandit.environments.logistic import Logistic

CLIENTS, ROUNDS = 200, 2000


def _whole_run(name: str, repeats: int = 3, **parameters: Any) -> float:
    """Return the shortest of several runs, after a short one that compiles and warms up."""
    world, algorithm = Logistic(clients=CLIENTS), fb.algorithm(name, **parameters)
    fb.run(algorithm, world, turns=2 * CLIENTS)
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        fb.run(algorithm, world, turns=ROUNDS * CLIENTS)
        times.append(time.perf_counter() - began)
    return min(times)


POOLED = """
import fedbandit as fb
fb.run("one-ucb-glm", fb.environment("logistic"), turns=400_000, refit_every=200)
"""

ROWS = (
    Row("fedglb-ucb, D=5", 20, "s", lambda: _whole_run("fedglb-ucb", sync_threshold=5), "authors: 500 s"),
    Row("fedglb-ucb, D=500", 12, "s", lambda: _whole_run("fedglb-ucb", sync_threshold=500), "authors: 460 s"),
    Row("fedglb-ucb-1, B=633", 25, "s", lambda: _whole_run("fedglb-ucb-1", 1, rounds_of_update=633),
        "authors: 1,200 s"),
    Row("fedglb-ucb-1, B=633, Newton", 20, "s",
        lambda: _whole_run("fedglb-ucb-1", 1, rounds_of_update=633, solver="newton")),
    Row("n-ons-glm", 10, "s", lambda: _whole_run("n-ons-glm"), "authors: 455 s"),
    Row("n-ucb-glm", 150, "s", lambda: _whole_run("n-ucb-glm", 1), "authors: about 6 hours"),
    Row("one-ucb-glm, refitted every 200 turns: memory", 1, "GiB", lambda: peak_gibibytes(POOLED),
        "authors: 1.28 TB"),
)  # fmt: skip
