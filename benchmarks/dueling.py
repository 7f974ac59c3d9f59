"""The dueling family: whole runs of the paper's size, beside what its authors report."""

from __future__ import annotations

import fedbandit as fb
from benchmarks.row import Row, best_seconds
from fedbandit.environments.dueling import Dueling


def _whole_run(name: str) -> float:
    world = Dueling(clients=100, arms=10, dimension=5)
    return best_seconds(lambda: fb.run(name, world, turns=100 * 500))


ROWS = (
    Row("fldb-ogd, 100 clients, 500 rounds", 0.5, "s", lambda: _whole_run("fldb-ogd"), "authors: 70 s on an A800"),
    Row("fldb-gd, 100 clients, 500 rounds", 10, "s", lambda: _whole_run("fldb-gd"), "authors: 9 to 10 h on an A800"),
    Row("ldb, 100 clients, 500 rounds", 10, "s", lambda: _whole_run("ldb"), "authors: 265 s on an A800"),
)
