"""A site as a service: what a decision takes over HTTP, from another process, beside the call in Python."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

import fedbandit as fb
from benchmarks.row import Row

ARMS, DIMENSION, DECISIONS = 20, 25, 2000
_FILE = 'store = "site.db"\nlisten = "127.0.0.1:0"\noffline = {{ algorithm = "lean-linucb", dimension = {d} }}\n'


@cache
def _over_http() -> tuple[float, float]:
    """Return the median and the 99th percentile of a decision and its reward, in milliseconds, on one connection."""
    body = json.dumps({"arms": np.random.default_rng(0).standard_normal((ARMS, DIMENSION)).tolist()})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "site.toml"
        file.write_text(_FILE.format(d=DIMENSION), encoding="utf-8")
        command = [sys.executable, "-m", "fedbandit", "site", str(file)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            address = process.stderr.readline().rpartition("http://")[2].strip()
            try:
                connection = http.client.HTTPConnection(address)
                times = [_turn(connection, body) for _ in range(DECISIONS)]
            finally:
                process.terminate()
    median, most = np.percentile(times[DECISIONS // 10 :], [50, 99])
    return float(median), float(most)


def _turn(connection: http.client.HTTPConnection, body: str) -> float:
    began = time.perf_counter()
    decision = _ask(connection, "/v1/choose", body)
    _ask(connection, "/v1/learn", json.dumps({"id": decision["id"], "reward": 0.5}))
    return (time.perf_counter() - began) * 1000


def _ask(connection: http.client.HTTPConnection, path: str, body: str) -> dict[str, str]:
    connection.request("POST", path, body)
    return dict(json.loads(connection.getresponse().read()))


def _in_python() -> float:
    """Return the median of the same in one process, with a store, in milliseconds."""
    arms = np.random.default_rng(0).standard_normal((ARMS, DIMENSION))
    with (
        tempfile.TemporaryDirectory() as folder,
        fb.Site("lean-linucb", dimension=DIMENSION, store=Path(folder) / "site.db") as site,
    ):
        times = []
        for _ in range(DECISIONS):
            began = time.perf_counter()
            site.learn(site.choose(arms).id, 0.5)
            times.append(time.perf_counter() - began)
    return float(np.median(times[DECISIONS // 10 :])) * 1000


ROWS = (
    Row("a decision and its reward, in Python, with a store, median", 1, "ms", _in_python),
    Row("a decision and its reward, over HTTP, median", 5, "ms", lambda: _over_http()[0], "two requests"),
    Row("a decision and its reward, over HTTP, 99th percentile", 20, "ms", lambda: _over_http()[1]),
)
