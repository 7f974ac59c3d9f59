"""The examples of the page on extending, as a package: one chooses as its paper does, and both can be deployed."""

from __future__ import annotations

import os
import re
import sys
import tomllib
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
    """The page's package, installed beside fedbandit for this process and those that it starts."""
    entries = tomllib.loads(shown("toml", "pyproject.toml"))["project"]["entry-points"]
    entries["fedbandit.algorithms"]["ring-linucb"] = "my_package.ring_linucb"  # as the page says it of the other one
    named = [module for group in entries.values() for module in group.values()]
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package/__init__.py").touch()
    for module in named:
        file = f"{module.removeprefix('my_package.')}.py"
        (tmp_path / "my_package" / file).write_text(shown("python", file), encoding="utf-8")
    about = tmp_path / "my_package-1.0.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0.0\n")
    lines = []
    for name, group in entries.items():
        lines += [f"[{name}]", *(f"{mine} = {module}" for mine, module in group.items())]
    (about / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.setattr(algorithms, "_things", {name: algorithms[name] for name in algorithms})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    for module in entries["fedbandit.algorithms"].values():
        import_module(module)
    yield tmp_path
    for module in [each for each in sys.modules if each.partition(".")[0] == "my_package"]:
        del sys.modules[module]


def shown(language, file):
    """Return a file that the page shows."""
    (text,) = re.findall(rf'```{language} title="{file}"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return text


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


def play_deployed(folder, name, **parameters):
    """Play through sites and a coordinator's process; return all chosen arms, the sites' states and the server's."""
    table = {"algorithm": name, **SIZES, "set": parameters}
    rng = np.random.default_rng(4)
    chosen = []
    with Broker(BrokerSettings(folder / "broker", port=free_port())) as broker:
        coordinator = Coordinator(folder, broker.url, {name: table}).start().wait()
        sites = open_sites(table)
        try:
            for site in sites:
                site.connect(f"{broker.url}/{name}", every=0.3, patience=0.1)
            for _ in range(10):
                for site in sites:
                    arms = rng.integers(-8, 9, (4, 3)) / 16  # dyadic: sums in any order are exact
                    decision = site.choose(arms)
                    site.learn(decision.id, 0.5)
                    chosen.append(arms[decision.arm])
            until(lambda: all_is_sent(sites), "the sites")
            states = [site.node.life.node.state for site in sites]
        finally:
            for site in sites:
                site.close()
            coordinator.stop()
            coordinator.end()
    charter = Charter.named(name, fb.Setting(**SIZES), **parameters)
    journal = open_journal(str(folder / "journals"), name)
    server = DurableServer(charter, journal, epoch=2, now=0.0).node.state
    journal.close()
    return np.array(chosen), states, server


def test_the_ring_runs_through_sites_and_a_coordinator_in_a_process_of_its_own(package):
    chosen, sites, server = play_deployed(package, NAME, upload_threshold=1.2)
    fresh = sum(site.rows.new_gram[:1].sum(axis=0) for site in sites)
    assert server.version > 0
    assert (server.gram + fresh).tolist() == (chosen.T @ chosen).tolist()


def test_the_shared_average_runs_through_sites_and_a_coordinator_in_a_process_of_its_own(package):
    chosen, sites, server = play_deployed(package, "shared-average", period=4)
    fresh = sum(site.fresh[0] for site in sites)
    assert server.total.any()
    assert fresh.any(), "10 turns of a site are two uploads and two observations that wait"
    assert (server.total + fresh).tolist() == (0.5 * chosen.sum(axis=0)).tolist()
