"""Small logs: as lists of rows, and written as CSV or Parquet."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta

import numpy as np

NAMES = ["time", "site", "segment", "choice", "reward", "propensity", "arms"]


def rows(count=30, seed=0):
    """Decisions of three shops between two to four articles, in the order of time."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        arms = [
            {"id": f"A-{each}", "price": round(float(rng.uniform(0, 500)), 2)}
            for each in rng.permutation(6)[: rng.integers(2, 5)]
        ]
        chosen = int(rng.integers(len(arms)))
        segment = ["new", "gold"][rng.integers(2)]
        found.append(
            {
                "time": (datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=number)).isoformat(),
                "site": f"shop-{rng.integers(3)}",
                "segment": segment,
                "choice": arms[chosen]["id"],
                "reward": float(rng.random() < (0.8 if segment == "gold" and arms[chosen]["price"] > 250 else 0.2)),
                "propensity": 1 / len(arms),
                "arms": arms,
            }
        )
    return found


def changed(place, **values):
    """Return good rows of which one has other values."""
    found = rows()
    found[place].update(values)
    return found


def as_csv(found, path, names=None):
    names = list(found[0]) if names is None else names
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in found:
            writer.writerow(["" if row[name] is None else _cell(row[name]) for name in names])
    return path


def _cell(value):
    return json.dumps(value) if isinstance(value, list | dict) else value


def as_parquet(found, path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(found), path)
    return path


def by_candidates(found):
    """Return the same log with a row for each candidate."""
    return [
        {
            **{name: row[name] for name in NAMES if name not in ("arms", "choice")},
            "decision": number,
            "chosen": arm["id"] == row["choice"],
            "sku": arm["id"],
            "price": arm["price"],
        }
        for number, row in enumerate(found)
        for arm in row["arms"]
    ]
