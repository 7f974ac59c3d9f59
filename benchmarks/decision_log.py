"""What a site's log of decisions adds to a decision and its reward, and what pending decisions take in a store."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import fedbandit as fb
from benchmarks.row import Row

ARMS, TURNS, ROUNDS = 10, 40, 600
DECLARED = {
    "context": {
        "age": {"kind": "number", "range": [18, 90], "missing": "indicator"},
        "spend": {"kind": "number", "range": [1, 10000], "scale": "log"},
        "segment": {"kind": "category", "levels": ["new", "gold"]},
        "query": {"kind": "text", "size": 8},
    },
    "arm": {"price": {"kind": "number", "range": [0, 500]}, "sku": {"kind": "hashed", "size": 8}},
    "cross": {"taste": {"of": ["segment", "price"]}, "match": {"of": ["query", "sku"], "size": 8}},
    "features": {"main": ["age", "spend"]},
}
PENDING, MANY, WIDE = 20_000, 20, 74


def _offers() -> list[tuple[dict[str, Any], list[dict[str, Any]], list[str]]]:
    rng = np.random.default_rng(0)
    offers = []
    for _ in range(TURNS):
        arms = [{"price": float(rng.integers(500)), "sku": f"A-{rng.integers(500)}"} for _ in range(ARMS)]
        context = {"age": int(rng.integers(18, 90)), "spend": 120.5, "segment": "gold", "query": "red shoes"}
        offers.append((context, arms, [f"offer {number}" for number in range(ARMS)]))
    return offers


def _added() -> float:
    """Return the microseconds that a log adds: rounds of sites with and without one by turns, the best of each."""
    offers = _offers()
    with tempfile.TemporaryDirectory() as folder:
        how: dict[str, Any] = {"features": fb.Features(DECLARED), "explore": 0.1, "upload_threshold": np.inf}
        plain = fb.Site("async-linucb", **how)
        logging = fb.Site("async-linucb", **how, log=Path(folder) / "decisions")
        best = {plain: np.inf, logging: np.inf}
        for _ in range(ROUNDS):
            for site in (plain, logging):
                began = time.perf_counter()
                for context, arms, ids in offers:
                    site.learn(site.choose(arms, ids, context=context), 0.5)
                best[site] = min(best[site], (time.perf_counter() - began) / TURNS * 1e6)
        logging.close()
    return best[logging] - best[plain]


def _store() -> float:
    """Return the megabytes of a store with many decisions that await their reward."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        with fb.Site("async-linucb", dimension=WIDE, store=Path(folder) / "site.db") as site:
            for _ in range(PENDING):
                site.choose(rng.standard_normal((MANY, WIDE)))
        return sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6


ROWS = (
    Row("a site's log: added to a decision with features, K=10, and its reward", 40, "µs", _added, "together"),
    Row("a store with 20,000 pending decisions, K=20, d=74", 30, "MB", _store, "248 MB with all that was on offer"),
)  # fmt: skip
