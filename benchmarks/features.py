"""Features: from values to vectors, by itself and as a part of a site's decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

import fedbandit as fb
from benchmarks.row import Row, best_seconds
from fedbandit.features.columns import Column
from fedbandit.features.features import Features

ARMS, TURNS = 20, 500
NUMBERS = {f"number{i}": {"kind": "number", "range": [0, 100]} for i in range(8)}
LEVELS = [f"level {i}" for i in range(4)]
DECLARED = {  # 20 columns and 64 coordinates
    "context": {
        "age": {"kind": "number", "range": [18, 90], "missing": "indicator"},
        "spend": {"kind": "number", "range": [1, 10000], "scale": "log"},
        "hour": {"kind": "bins", "edges": [6, 12, 18]},
        "segment": {"kind": "category", "levels": ["new", "gold"]},
        "query": {"kind": "text", "size": 8},
        "device": {"kind": "category", "levels": LEVELS},
    },
    "arm": {
        **NUMBERS,
        "colour": {"kind": "category", "levels": LEVELS},
        "size": {"kind": "category", "levels": LEVELS},
        "season": {"kind": "bins", "edges": [3, 6, 9]},
        "brand": {"kind": "hashed", "size": 6},
        "sku": {"kind": "hashed", "size": 8},
        "tags": {"kind": "hashed", "size": 4},
    },
    "cross": {
        "taste": {"of": ["segment", "number0"]},
        "match": {"of": ["query", "sku"], "size": 8},
        "place": {"of": ["device", "number1"]},
        "daily": {"of": ["hour", "number2"]},
    },
    "features": {"main": ["age", "spend"]},
}


def _context(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "age": int(rng.integers(18, 90)), "spend": float(rng.uniform(1, 1000)), "hour": int(rng.integers(24)),
        "segment": "gold", "query": f"red shoes {rng.integers(100)}", "device": LEVELS[rng.integers(4)],
    }  # fmt: skip


def _arm(rng: np.random.Generator) -> dict[str, Any]:
    return {
        **{name: float(rng.uniform(0, 100)) for name in NUMBERS}, "season": int(rng.integers(12)),
        "colour": LEVELS[rng.integers(4)], "size": LEVELS[rng.integers(4)], "brand": f"brand {rng.integers(50)}",
        "sku": f"A-{rng.integers(500)}", "tags": f"tag {rng.integers(10)}",
    }  # fmt: skip


class _Log:
    """A log of so many turns, by columns."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        contexts = [_context(rng) for _ in range(TURNS)]
        arms = [_arm(rng) for _ in range(TURNS * ARMS)]
        self.context = {name: Column.of([each[name] for each in contexts]) for name in contexts[0]}
        self.arms = {name: Column.of([each[name] for each in arms]) for name in arms[0]}
        self.offered = np.arange(TURNS * ARMS).reshape(TURNS, ARMS)
        self.row = np.arange(1, TURNS + 1)


def _by_columns() -> float:
    log = _Log()
    return best_seconds(lambda: Features(DECLARED).encode_log(log), repeats=50) / (TURNS * ARMS) * 1e6


def _offers() -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    rng = np.random.default_rng(1)
    return [(_context(rng), [_arm(rng) for _ in range(ARMS)]) for _ in range(50)]


def _by_dicts() -> float:
    features, offers = Features(DECLARED), _offers()
    seconds = best_seconds(lambda: [features.encode(context, arms) for context, arms in offers], repeats=200)
    return seconds / (len(offers) * ARMS) * 1e6


def _choice() -> float:
    offers = _offers()
    hashed = Features({**DECLARED, "features": {"main": ["age", "spend"], "hash_to": 32}})
    with fb.Site("async-linucb", features=hashed) as site:
        for context, arms in offers:
            site.learn(site.choose(arms, context=context), 0.5)
        seconds = best_seconds(lambda: [site.choose(arms, context=context) for context, arms in offers], repeats=200)
    return seconds / len(offers) * 1e6


ROWS = (
    Row("features of a log, 20 columns, d=64: an arm", 5, "µs", _by_columns, "200,000 arms a second"),
    Row("features of 20 arms as dicts, 20 columns, d=64: an arm", 5, "µs", _by_dicts, "200,000 arms a second"),
    Row("a site in memory: choose with features, K=20, 20 columns, d=32", 60, "µs", _choice, "encoding included"),
)  # fmt: skip
