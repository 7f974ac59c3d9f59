"""The first decision and the first run of a process, on one core: on a machine that has compiled nothing, and later."""

from __future__ import annotations

import os
import tempfile

from benchmarks.row import Row, in_a_process

DECISION = """
import time
import numpy as np
import fedbandit as fb
arms = np.random.default_rng(0).standard_normal((25, 25))
arms /= np.linalg.norm(arms, axis=1, keepdims=True)
began = time.perf_counter()
site = fb.Site("async-linucb", dimension=25, arms=25)
site.learn(site.choose(arms).id, 0.5)
print(time.perf_counter() - began)
"""

RUN = """
import time
import fedbandit as fb
began = time.perf_counter()
fb.run("async-linucb", fb.environment("linear"), turns=2000)
print(time.perf_counter() - began)
"""

NEURAL = """
import time
import fedbandit as fb
began = time.perf_counter()
fb.run("fn-ucb-less", fb.environment("cosine"), turns=100, device="cpu")
print(time.perf_counter() - began)
"""


def _seconds(code: str, folder: str) -> float:
    """Return what the code prints, in a process that keeps its machine code in a folder."""
    kept = {"NUMBA_CACHE_DIR": folder, "FEDBANDIT_CACHE": folder}
    return float(in_a_process(code, environment={**os.environ, **kept}).stdout)


def _cold(code: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return _seconds(code, folder)


def _warm(code: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return min([_seconds(code, folder) for _ in range(4)][1:])


ROWS = (
    Row("first choice and reward of a site, nothing compiled", 2, "s", lambda: _cold(DECISION), "after import"),
    Row("first run of async-linucb, nothing compiled", 5, "s", lambda: _cold(RUN), "after import; 2,000 turns"),
    Row("first choice and reward of a site, compiled before", 0.1, "s", lambda: _warm(DECISION), "after import"),
    Row("first run of async-linucb, compiled before", 0.5, "s", lambda: _warm(RUN), "after import; 2,000 turns"),
    Row("first run of fn-ucb-less, nothing compiled", 5, "s", lambda: _cold(NEURAL), "imports JAX; 100 turns"),
    Row("first run of fn-ucb-less, compiled before", 2, "s", lambda: _warm(NEURAL), "imports JAX; 100 turns"),
)
