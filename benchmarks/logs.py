"""Logs: reading and checking a million decisions in Parquet, in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.row import Row, in_a_process, peak_gibibytes

ROWS_OF_LOG, ARMS, ARTICLES, SITES = 1_000_000, 10, 500, 12
READ = "import fedbandit as fb; log = fb.Log.read({!r}); assert len(log) > 900_000, len(log)"


@contextmanager
def _log() -> Iterator[str]:
    """Write a log with 10 candidates a row and four columns of context; yield its path."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    ids = np.array([f"A-{number}" for number in range(ARTICLES)])
    first = rng.integers(ARTICLES - ARMS, size=ROWS_OF_LOG)
    offered = first[:, np.newaxis] + np.arange(ARMS)
    chosen = offered[np.arange(ROWS_OF_LOG), rng.integers(ARMS, size=ROWS_OF_LOG)]
    flat = pa.DictionaryArray.from_arrays(pa.array(offered.ravel(), pa.int32()), pa.array(ids)).cast("string")
    rewards = rng.random(ROWS_OF_LOG)
    table = pa.table(
        {
            "time": np.arange(ROWS_OF_LOG) * 3.0,
            "site": np.array([f"shop {number}" for number in range(SITES)])[rng.integers(SITES, size=ROWS_OF_LOG)],
            "segment": np.array(["new", "gold", "silver"])[rng.integers(3, size=ROWS_OF_LOG)],
            "age": rng.integers(18, 90, size=ROWS_OF_LOG),
            "spend": rng.uniform(1, 1000, size=ROWS_OF_LOG),
            "choice": ids[chosen],
            "reward": pa.array(rewards, mask=rewards > 0.95),
            "propensity": np.full(ROWS_OF_LOG, 1 / ARMS),
            "arms": pa.ListArray.from_arrays(np.arange(ROWS_OF_LOG + 1, dtype=np.int32) * ARMS, flat),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        pq.write_table(table, path)
        del table, flat
        yield str(path)


def _seconds() -> float:
    timed = "import time; began = time.process_time()\n{}\nprint(time.process_time() - began)"
    with _log() as path:
        code = timed.format(READ.format(path))
        return min(float(in_a_process(code).stdout.split()[-1]) for _ in range(2))


def _gibibytes() -> float:
    with _log() as path:
        return peak_gibibytes(READ.format(path))


ROWS = (
    Row("a log of 1,000,000 rows and 10 candidates each, in Parquet: read and checked", 10, "s", _seconds, "of CPU"),
    Row("a log of 1,000,000 rows and 10 candidates each, in Parquet: memory", 2, "GiB", _gibibytes, "whole process"),
)  # fmt: skip
