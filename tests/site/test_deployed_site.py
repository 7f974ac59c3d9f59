"""What a program with a site shows of real brokers and coordinators: a state, a sentence, and one line in the log."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

from fedbandit.service.keys.files import Keys
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings, Security
from samples.deployed import Coordinator

TABLE = {
    "algorithm": "async-linucb",
    "clients": 2,
    "dimension": 2,
    "set": {"upload_threshold": 1.0, "smallest_upload": 1},
}

# Each case: the address, the credential, other parameters than the federation's, and the state to wait for.
PROGRAM = """
import gc, json, sys, time
import numpy as np
import fedbandit as fb

def until(condition, end=time.monotonic() + 100):
    while not condition():
        assert time.monotonic() < end, (site.state, site.trouble)
        time.sleep(0.01)

for address, credentials, parameters, state in json.loads(sys.argv[1]):
    chosen = {"upload_threshold": 1.0, "smallest_upload": 1} | parameters
    site = fb.Site("async-linucb", dimension=2, clients=2, **chosen)
    site.learn(site.choose(np.eye(2)), 1.0)
    site.connect(address, credentials=credentials, every=20.0, patience=0.05)
    until(lambda: site.state.value == state)
    if state == "refused" and not parameters:
        until(lambda: site._line._conversation._reconnect._turn >= 0.2)  # some more attempts
    print(json.dumps([site.state.value, site.trouble]), flush=True)
    site.close()
    assert site.state.value == "offline"
gc.collect()
"""


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    """A broker with TLS and its coordinator, and what all kinds of sites show of them."""
    folder = tmp_path_factory.mktemp("deployed")
    keys, strangers, old = Keys(folder / "keys"), Keys(folder / "strangers"), Keys(folder / "old")
    for name in ("broker", "coordinator", "demo.0"):
        keys.new(name)
    strangers.new("demo.0")
    old.folder.mkdir()
    for name in ("ca.pem", "ca.key"):
        (old.folder / name).write_bytes((keys.folder / name).read_bytes())
    old.new("demo.0", days=1e-6)
    secured = Security(keys.path("broker"), keys.authority, {"demo": 2})
    settings = BrokerSettings(folder / "broker", port=free_port(), security=secured)
    with Broker(settings) as broker, socket.create_server(("127.0.0.1", 0)) as silent:
        coordinator = Coordinator(folder, broker.url, {"demo": TABLE}, credentials=keys.path("coordinator"))
        coordinator.start().wait()
        here, own = f"{broker.url}/demo", str(keys.path("demo.0"))
        cases = [
            (here, own, {}, "connected"),
            (here, str(strangers.path("demo.0")), {}, "refused"),
            (here, str(old.path("demo.0")), {}, "refused"),
            (here, own, {"ridge": 7.0}, "refused"),
            (f"tls://127.0.0.1:{silent.getsockname()[1]}/demo", own, {}, "connecting"),
        ]
        command = [sys.executable, "-W", "default", "-c", PROGRAM, json.dumps(cases)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=150)
        assert coordinator.stop() == 0
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.splitlines()


def test_a_site_that_is_let_in_is_connected_and_its_end_prints_nothing(deployed):
    shown, _ = deployed
    assert shown[0] == ["connected", ""]


@pytest.mark.parametrize(
    ("case", "state", "words"),
    [
        (1, "refused", "authority"),
        (2, "refused", "the credential of this site has expired"),
        (3, "refused", "ridge is 7.0 here and 0.1 in the federation"),
    ],
    ids=["another authority", "expired", "other parameters"],
)
def test_what_is_wrong_is_shown_and_logged_in_one_line(deployed, case, state, words):
    shown, log = deployed
    assert shown[case][0] == state
    assert words in shown[case][1]
    assert log.count(f"{state}: {shown[case][1]}") == 1


def test_nothing_else_is_printed_not_even_by_a_site_that_is_closed_while_it_connects(deployed):
    shown, log = deployed
    assert shown[4] == ["connecting", ""]
    assert len(log) == 3, "\n".join(log)
