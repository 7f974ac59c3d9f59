"""The linear family and the house: whole runs, one client by hand, a million clients, imports."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import fedbandit as fb
from benchmarks.row import Row, best_seconds, in_a_process, peak_gibibytes, seconds_of_process
from fedbandit.environments.linear import Linear

TURNS = 30_000


def _whole_run(threshold: float) -> float:
    world = Linear(clients=1000, arms=25, dimension=25)
    algorithm = fb.algorithm("async-linucb", upload_threshold=threshold, download_threshold=threshold)
    return best_seconds(lambda: fb.run(algorithm, world, turns=TURNS))


def _of(name: str, **parameters: Any) -> float:
    world = Linear(clients=1000, arms=25, dimension=25)
    return best_seconds(lambda: fb.run(name, world, turns=TURNS, **parameters))


def _in_groups(name: str, turns: int, source: str) -> float:
    world = fb.environment("grouped", clients=200, groups=4, arms=10, dimension=10, source=source)
    return best_seconds(lambda: fb.run(name, world, turns=turns))


def _times_async(turns: int, source: str = "pool") -> float:
    return _in_groups("clustered-linucb", turns, source) / _in_groups("async-linucb", turns, source)


def _by_hand() -> tuple[float, float]:
    client = fb.Client("async-linucb", dimension=25, upload_threshold=np.inf)
    arms = np.random.default_rng(0).standard_normal((25, 25))
    best = [np.inf, np.inf]
    for _ in range(5):
        spent = [0.0, 0.0]
        for _ in range(4000):
            began = time.perf_counter()
            client.choose(arms)
            chosen = time.perf_counter()
            client.learn(0.5)
            spent[0] += chosen - began
            spent[1] += time.perf_counter() - chosen
        best = [min(before, now / 4000 * 1e6) for before, now in zip(best, spent, strict=True)]
    return best[0], best[1]


MILLION = """
import fedbandit as fb
world = fb.environment("linear", clients=1_000_000, arms=10, dimension=10)
fb.run("async-linucb", world, turns=3_000_000, upload_threshold=5, download_threshold=5)
"""

FULL_GRID = """
import os, pathlib, tempfile, time
import fedbandit as fb
with tempfile.TemporaryDirectory() as folder:
    began = time.perf_counter()
    fb.reproduce(fb.experiments["async-linucb/homogeneous-uniform"], pathlib.Path(folder), jobs=2)
    print(time.perf_counter() - began)
"""


def _full_grid() -> float:
    return float(in_a_process(FULL_GRID, cores=2).stdout.split()[-1])


ROWS = (
    Row("async-linucb, threshold 1 (29 million downloads)", 2.5, "s", lambda: _whole_run(1), "authors: about 1,400 s"),
    Row("async-linucb, threshold 2", 1.2, "s", lambda: _whole_run(2), "authors: 31 s"),
    Row("async-linucb, threshold 5", 1.2, "s", lambda: _whole_run(5), "authors: 32 s"),
    Row("async-linucb, threshold infinite", 1.2, "s", lambda: _whole_run(np.inf), "authors: 8 s"),
    Row("clustered-linucb, 200 clients, 600,000 turns", 3, "times async", lambda: _times_async(600_000),
        "groups are long found"),
    Row("clustered-linucb, 200 clients, 20,000 turns", 0.6, "s", lambda: _in_groups("clustered-linucb", 20_000, "pool"),
        "most of it is finding the groups: async 0.07 s"),
    Row("clustered-linucb, 200 clients, 30,000 turns", 3, "times async", lambda: _times_async(30_000, "sphere"),
        "arms from the sphere; finding the groups is half of it"),
    Row("clustered-linucb, 200 clients, 30,000 turns, pool", 4, "times async", lambda: _times_async(30_000),
        "arms from a pool: async's turns cost less"),
    Row("fedlinucb, threshold 2", 1.2, "s", lambda: _of("fedlinucb", upload_threshold=2), "the floor of async-linucb"),
    *(
        Row(f"lean-linucb, delivery={delivery}, {precision}", most, "s",
            partial(_of, "lean-linucb", delivery=delivery, precision=precision))
        for delivery in ("turn", "upload")
        for precision, most in (("float64", 1.5), ("float16", 2.5))
    ),
    Row("one client by hand: choose", 25, "µs", lambda: _by_hand()[0], "bare NumPy 12; python -m benchmarks peers"),
    Row("one client by hand: learn", 25, "µs", lambda: _by_hand()[1], "bare NumPy 11; python -m benchmarks peers"),
    Row("import fedbandit", 0.5, "s", lambda: seconds_of_process("import fedbandit")),
    Row("fedbandit list", 1.0, "s", lambda: seconds_of_process(
        "import sys; sys.argv = ['fedbandit', 'list']; from fedbandit.cli import main; main()")),
    Row("full grid of homogeneous-uniform on 2 cores", 360, "s", _full_grid, "320 runs"),
    Row("a million clients, 3 million turns, d=10", 12, "GiB", lambda: peak_gibibytes(MILLION)),
)  # fmt: skip
