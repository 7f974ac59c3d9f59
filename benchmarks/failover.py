"""How long nobody serves: from the moment at which the active coordinator is killed or paused until a reward that was
learnt after it is acknowledged by the one that stood by. Journals are SQLite files on this machine.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

import fedbandit as fb
from benchmarks.row import Row
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings

FILE = """
broker = "{broker}"
http = "127.0.0.1:{port}"
standby = true
[federations.bench]
algorithm = "async-linucb"
clients = 1
dimension = 4
set = {{ upload_threshold = 1.0, download_threshold = 1.0, smallest_upload = 1 }}
"""


def _seconds(number: signal.Signals) -> float:
    """Send a signal to the active coordinator; return the seconds until the other has acknowledged a reward."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, range(os.cpu_count() or 1))  # benchmarks run on one core; these processes need not
        stack.callback(os.sched_setaffinity, 0, before)
        folder = Path(name)
        broker = stack.enter_context(Broker(BrokerSettings(folder / "broker", port=free_port())))
        active, port = _coordinator(folder, broker.url, stack)
        _until(lambda: _role(port) == "active")
        _, other = _coordinator(folder, broker.url, stack)
        _until(lambda: _role(other) == "standby")
        site = fb.Site(
            "async-linucb",
            dimension=4,
            clients=1,
            number=0,
            upload_threshold=1.0,
            download_threshold=1.0,
            smallest_upload=1,
        )
        stack.callback(site.close)
        site.connect(f"{broker.url}/bench")
        site.learn(site.choose(np.eye(4)), 1.0)
        _until(lambda: not site.unsent)
        active.send_signal(number)
        began = time.perf_counter()
        site.learn(site.choose(np.eye(4)), 1.0)
        _until(lambda: not site.unsent)
        return time.perf_counter() - began


def _coordinator(folder: Path, broker: str, stack: ExitStack) -> tuple[subprocess.Popen[bytes], int]:
    port = free_port()
    file = folder / f"{port}.toml"
    file.write_text(FILE.format(broker=broker, port=port))
    command = [sys.executable, "-c", "from fedbandit.cli import main; main()", "serve", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process, port


def _role(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return str(json.load(answer)["role"])
    except OSError:
        return ""


def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


ROWS = (
    Row("failover after SIGKILL", 5, "s", lambda: _seconds(signal.SIGKILL), "until a reward is acknowledged again"),
    Row("failover after SIGSTOP", 5, "s", lambda: _seconds(signal.SIGSTOP), "of it 2.5 s without a sign of life"),
)
