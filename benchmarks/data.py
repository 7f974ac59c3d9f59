"""Clients that differ and real data: alternating minimisation, LastFM from end to end, preparing MovieLens."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import numpy as np

import fedbandit as fb
from benchmarks.row import Row, best_seconds, in_a_process, peak_gibibytes
from fedbandit.datasets import MissingData, describe
from fedbandit.datasets.files.folders import find
from fedbandit.environments.personal import Personal
from fedbandit.environments.recommendation import Recommendation

TURNS = 30_000
LASTFM = Recommendation(dataset="lastfm")
FIXED = {"ridge": 0.2, "alpha": 0.3}


def _alternating() -> float:
    world = Personal(clients=1000, arms=25, dimension=25, global_dimension=12)
    algorithm = fb.algorithm("async-linucb-am", global_dimension=12, upload_threshold=5, download_threshold=5)
    return best_seconds(lambda: fb.run(algorithm, world, turns=TURNS))


def _lastfm(name: str, **parameters: Any) -> float:
    algorithm = fb.algorithm(name, **FIXED, **parameters)
    return best_seconds(lambda: fb.run(algorithm, LASTFM), repeats=2)


def _equal(gamma: float, **more: Any) -> dict[str, Any]:
    return {"upload_threshold": gamma, "download_threshold": gamma, **more}


PREPARE = """
import time
began = time.perf_counter()
import fedbandit as fb
world = fb.environment("recommendation", dataset="movielens-1m", users=54, scale="standardised")
world.setting()
print(time.perf_counter() - began)
"""
RUN = PREPARE + 'fb.run("async-linucb-am", world, shared_features=True, ridge=0.2, alpha=0.3)'


def _with_cache(folder: str, code: str) -> str:
    return f"import os; os.environ['FEDBANDIT_CACHE'] = {folder!r}\n{code}"


def _prepare(runs: int) -> float:
    """Return the seconds of the last of so many starts with one cache that was empty before."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [in_a_process(_with_cache(folder, PREPARE)).stdout for _ in range(runs)]
    return float(outputs[-1].split()[-1])


def _peak() -> float:
    with tempfile.TemporaryDirectory() as folder:
        return peak_gibibytes(_with_cache(folder, RUN))


def _has(name: str) -> bool:
    try:
        find(describe(name))
    except MissingData as error:
        if os.environ.get("FEDBANDIT_DATA"):
            print(f"rows are left out: {error}", file=sys.stderr)
        return False
    return True


ON_LASTFM = (
    Row("LastFM, local-linucb", 10, "s", lambda: _lastfm("local-linucb")),
    Row("LastFM, async-linucb, threshold 1.01", 10, "s", lambda: _lastfm("async-linucb", **_equal(1.01))),
    Row("LastFM, async-linucb, threshold 5", 10, "s", lambda: _lastfm("async-linucb", **_equal(5.0))),
    Row("LastFM, async-linucb-am, threshold 1.01", 10, "s",
        lambda: _lastfm("async-linucb-am", **_equal(1.01, shared_features=True))),
    Row("LastFM, async-linucb-am, threshold 5", 10, "s",
        lambda: _lastfm("async-linucb-am", **_equal(5.0, shared_features=True))),
    Row("LastFM, async-linucb-am, threshold infinite", 10, "s",
        lambda: _lastfm("async-linucb-am", **_equal(np.inf, shared_features=True))),
    Row("LastFM, sync-linucb, D=1", 10, "s", lambda: _lastfm("sync-linucb", sync_threshold=1.0)),
)  # fmt: skip
ON_MOVIELENS = (
    Row("MovieLens 1M, first start (prepared)", 60, "s", lambda: _prepare(runs=1)),
    Row("MovieLens 1M, second start (kept)", 2, "s", lambda: _prepare(runs=2)),
    Row("MovieLens 1M, prepared and run", 4, "GiB", _peak),
)

ROWS = (
    Row("async-linucb-am, d_g=12, threshold 5", 6, "s", _alternating, "authors: 820 to 970 s"),
    *(ON_LASTFM if _has("lastfm") else ()),
    *(ON_MOVIELENS if _has("movielens-1m") else ()),
)
