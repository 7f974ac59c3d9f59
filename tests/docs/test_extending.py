"""The example of the page on extending, as a package of its own: it chooses as the paper does, and can be deployed."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.algorithm import algorithms
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.environments.recorded import Recorded
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.server import ServerNode
from fedbandit.simulation.in_process import simulate
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from reference.fedlinucb import fedlinucb
from reference.recorded import linear_turns
from samples.deployed import Coordinator, all_is_sent, open_sites
from samples.waiting import until

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
NAME = "ring-linucb"
SIZES = {"clients": 3, "arms": 4, "dimension": 3, "horizon": 100}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The page's file, installed beside fedbandit for this process and those that it starts."""
    (code,) = re.findall(r'```python title="ring_linucb.py"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "ring_linucb.py").write_text(code, encoding="utf-8")
    about = tmp_path / "ring_linucb-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ring_linucb\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[fedbandit.algorithms]\nring = ring_linucb\n")
    monkeypatch.setattr(algorithms, "_things", {name: algorithms[name] for name in algorithms})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    import_module("ring_linucb")
    yield tmp_path
    del sys.modules["ring_linucb"]


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("upload_threshold", [1.0, 1.2, 2.0, 5.0, np.inf])
def test_its_choices_and_messages_are_those_of_the_literal_transcription(tmp_path, upload_threshold):
    world = linear_turns(seed=1, turns=400, clients=70, arms=4, dimension=3, skew=1.0)  # more clients than first rows
    np.savez(tmp_path / "turns.npz", **world)
    algorithm = fb.algorithm(NAME, upload_threshold=upload_threshold)
    trace, wire = simulate(algorithm, Recorded(path=str(tmp_path / "turns.npz")), 400)
    literal = fedlinucb(world, upload_threshold=upload_threshold, in_a_ring=True)
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    np.testing.assert_allclose(wire.server.state.gram, literal["V_g"], atol=1e-12)


@pytest.mark.usefixtures("package")
def test_a_download_that_crosses_its_upload_makes_a_client_forget_nothing():
    sides = fb.algorithm(NAME, upload_threshold=1.0).build(fb.Setting(**SIZES))
    server = ServerNode(sides.server, 3)
    sites = [ClientNode(sides.clients, 1, first=number) for number in range(3)]

    def turn(site, arm):
        seen = fb.core.turns.Observations(np.eye(3)[np.newaxis], np.array([arm]), np.array([0.5]))
        return sites[site].learn(np.array([0]), seen)

    def deliver(download):
        for one in download.split():
            sites[one.clients[0]].receive(one)

    (first,), (second,) = turn(0, 0), turn(1, 1)
    (to_both,) = server.receive(first)
    assert to_both.clients.tolist() == [0, 1]
    deliver(to_both)  # site 1 has an upload on the way, which this does not hold
    assert sites[1].state.rows.gram[0].tolist() == np.diag([1.0, 1.0, 0.0]).tolist()
    assert turn(1, 2) == [], "and it still waits for the answer to its own"
    (answer,) = server.receive(second)
    deliver(answer)
    (third,) = turn(1, 0)
    assert third.message.observations.tolist() == [2]
    server.receive(third)
    assert server.state.gram.tolist() == np.diag([2.0, 1.0, 1.0]).tolist()


def test_it_runs_through_sites_and_a_coordinator_in_a_process_of_its_own(package):
    table = {"algorithm": NAME, **SIZES, "set": {"upload_threshold": 1.2}}
    rng = np.random.default_rng(4)
    with Broker(BrokerSettings(package / "broker", port=free_port())) as broker:
        coordinator = Coordinator(package, broker.url, {NAME: table}).start().wait()
        sites = open_sites(table)
        try:
            for site in sites:
                site.connect(f"{broker.url}/{NAME}", every=0.3, patience=0.1)
            total = np.zeros((3, 3))
            for _ in range(10):
                for site in sites:
                    arms = rng.integers(-8, 9, (4, 3)) / 16  # dyadic: sums in any order are exact
                    decision = site.choose(arms)
                    site.learn(decision.id, 0.5)
                    total += np.outer(arms[decision.arm], arms[decision.arm])
            until(lambda: all_is_sent(sites), "the sites")
            fresh = sum(site.node.life.node.state.rows.new_gram[:1].sum(axis=0) for site in sites)
        finally:
            for site in sites:
                site.close()
            coordinator.stop()
            coordinator.end()
    charter = Charter.named(NAME, fb.Setting(**SIZES), upload_threshold=1.2)
    journal = open_journal(str(package / "journals"), NAME)
    server = DurableServer(charter, journal, epoch=2, now=0.0).node.state
    journal.close()
    assert server.version > 0
    assert (server.gram + fresh).tolist() == total.tolist()
