"""The Lasso family: whole runs on synthetic contexts, on Warfarin where the data are at hand, and memory."""

from __future__ import annotations

import os

import fedbandit as fb
from benchmarks.row import Row, best_seconds, peak_gibibytes

ROUNDS = 2_000


def _sparse(dimension: int, repeats: int) -> float:
    world = fb.environment("sparse", clients=5, arms=5, dimension=dimension)
    fb.run("fedego-lasso", fb.environment("sparse", dimension=20), turns=100)  # compiles
    return best_seconds(lambda: fb.run("fedego-lasso", world, turns=5 * ROUNDS), repeats)


def _warfarin() -> float:
    world = fb.environment("warfarin", clients=5)  # its natural length: every patient once, but for three
    return best_seconds(lambda: fb.run("fedego-lasso", world), 1)


WIDE = """
import fedbandit as fb
fb.run("fedego-lasso", fb.environment("sparse", clients=5, arms=5, dimension=1000), turns=10_000)
"""
WITH_DATA = (Row("fedego-lasso on Warfarin: 5,525 turns, 745 features, M=5", 60, "s", _warfarin),)

ROWS = (
    Row("fedego-lasso, d=100, K=5, M=5, T=2000", 15, "s", lambda: _sparse(100, 2)),
    Row("fedego-lasso, d=1000, K=5, M=5, T=2000", 90, "s", lambda: _sparse(1000, 1)),
    Row("fedego-lasso, d=1000: memory", 4, "GiB", lambda: peak_gibibytes(WIDE)),
    *(WITH_DATA if os.environ.get("FEDBANDIT_DATA") else ()),
)
