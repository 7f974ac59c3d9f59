"""`fedbandit change` and `fedbandit reload` with a real broker and a real coordinator, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.replay import replay
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.wire.state import encode_state
from samples.deployed import Coordinator, all_is_sent, open_sites
from samples.refusals import refused
from samples.waiting import until

TABLE = {"algorithm": "async-linucb", "clients": 2, "dimension": 2, "keep_log": True, "limits": {"reward": 1.0}}
ROUNDS = {"algorithm": "sync-linucb", "clients": 2, "dimension": 2, "deadline": 30}


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with Broker(BrokerSettings(tmp_path_factory.mktemp("broker"), port=free_port())) as running:
        yield running


@pytest.fixture
def office(tmp_path, broker):
    """A coordinator of two federations, as a process."""
    made = Coordinator(tmp_path, broker.url, {"demo": TABLE, "rounds": ROUNDS}).start().wait()
    yield made
    made.end()


def play(sites, turns, reward=1.0):
    for site in sites:
        for turn in range(turns):
            site.learn(site.choose(np.eye(2) * (1 + turn % 2) / 2).id, reward)


def charter():
    return Charter.named("async-linucb", fb.Setting(2, 1, 2, 1))


def test_a_threshold_and_a_limit_change_while_rewards_flow_and_each_counts_once(fedbandit, office, broker, tmp_path):
    sites = open_sites(TABLE, store=None)
    sites[1].close()
    sites[1] = fb.Site("async-linucb", dimension=2, clients=2, number=1, store=tmp_path / "one.db", smallest_upload=1)
    for site in sites:
        site.connect(f"{broker.url}/demo", every=0.3, patience=0.1)
    play(sites, 5)
    until(lambda: all(site.connected for site in sites), "the sites")
    file = ("--file", office.file)
    said = fedbandit("change", "demo", "upload_threshold=1", "limits.reward=3", *file)
    assert said.out.splitlines() == [
        "demo: upload_threshold: 2.0 -> 1.0 (at once)",
        "demo: limits.reward: 1 -> 3 (at once)",
        "demo: revision 1",
    ]
    until(lambda: all(site.revision == 1 for site in sites), "the sites to hear of it")
    assert "demo: expires: none -> 3600 (at once)" in fedbandit("change", "demo", "expires=3600", *file).out
    until(lambda: all(site.charter.ending.expires == 3600.0 for site in sites), "the sites to hear of that")
    play(sites, 5, reward=2.0)
    with pytest.raises(fb.InvalidInput, match="farther from 0 than the limit of 3"):
        sites[0].learn(sites[0].choose(np.eye(2)).id, 4.0)
    until(lambda: all_is_sent(sites), "the uploads")
    assert [site.refused for site in sites] == [[], []]
    sites[1].close()
    office.kill()
    office.start().wait(2)  # with a file that still says what was agreed on at first
    play(sites[:1], 2)
    until(lambda: all_is_sent(sites[:1]), "the uploads after a restart")
    again = fb.Site("async-linucb", dimension=2, clients=2, number=1, store=tmp_path / "one.db", smallest_upload=1)
    assert (again.revision, again.charter.algorithm.upload_threshold) == (2, 1.0)
    again.close()
    sites[0].close()
    assert office.stop() == 0
    journal = open_journal(str(tmp_path / "journals"), "demo", keep_log=True)
    server = DurableServer(charter(), journal, epoch=1, now=0.0)
    assert server.accounts.observations == {0: 12, 1: 10}
    assert encode_state(replay(charter(), journal.records()).state) == encode_state(server.node.state)
    journal.close()


def test_features_are_added_and_removed_while_rewards_flow_and_each_counts_once(fedbandit, office, broker, tmp_path):
    """To 60 features, with uploads that are larger than any before, and to 59: as the program knows, or as ever."""
    file, rng, observed = ("--file", office.file), np.random.default_rng(3), []
    sites = open_sites(TABLE)

    def act(size, turns=4):
        for site in sites:
            for _ in range(turns):
                arm = rng.integers(-16, 17, size) / 16
                site.learn(site.choose(np.tile(arm / 8, (2, 1))).id, 0.5)
                observed.append(arm / 8)

    for site in sites:
        site.connect(f"{broker.url}/demo", every=0.3, patience=0.1)
    act(2)
    assert "demo: dimension: 2 -> 60 (with migration)" in fedbandit("change", "demo", "dimension=60", *file).out
    act(2)  # whether the sites have heard of it or not
    until(lambda: all(site.revision == 1 for site in sites), "the sites to hear of it")
    act(60)
    until(lambda: all_is_sent(sites), "larger uploads")
    assert "demo: revision 2" in fedbandit("change", "demo", "drop=0", "ridge=0.5", *file).out
    act(60)
    until(lambda: all(site.revision == 2 for site in sites), "the sites to hear of that")
    act(59)
    assert "demo: revision 3" in fedbandit("change", "demo", "upload_threshold=1", *file).out
    until(lambda: all(site.revision == 3 for site in sites), "the sites to hear of that, too")
    act(59)
    until(lambda: all_is_sent(sites), "all uploads")
    assert [(site.refused, site.trouble) for site in sites] == [([], "")] * 2
    for site in sites:
        site.close()
    assert office.stop() == 0
    lengths = {2: [1], 60: range(1, 60), 59: range(59)}  # the places of what is left
    full = [np.pad(arm[lengths[len(arm)]], (0, 59 - len(lengths[len(arm)]))) for arm in observed]
    journal = open_journal(str(tmp_path / "journals"), "demo", keep_log=True)
    server = DurableServer(charter(), journal, epoch=1, now=0.0)
    assert server.accounts.observations == {0: 24, 1: 24}
    np.testing.assert_array_equal(server.node.state.gram, sum(np.outer(arm, arm) for arm in full))
    np.testing.assert_array_equal(server.node.state.moment, 0.5 * sum(full))
    assert encode_state(replay(charter(), journal.records()).state) == encode_state(server.node.state)
    journal.close()


def test_an_edited_file_is_read_again(fedbandit, office, tmp_path):
    file = ("--file", office.file)
    assert fedbandit("reload", *file).out == "demo: nothing has changed\nrounds: nothing has changed\n"
    fedbandit("change", "demo", "noise=0.5", *file)
    text = office.file.read_text()
    office.file.write_text(text.replace("reward = 1.0", "reward = 2.0").replace("deadline = 30", "deadline = 20"))
    assert fedbandit("reload", *file).out.splitlines() == [
        "demo: limits.reward: 1 -> 2 (at once)",
        "demo: revision 2",
        "rounds: deadline: 30 -> 20 (at once)",
        "rounds: revision 1",
    ]
    office.file.write_text("set = { delta = 0.2, ".join(office.file.read_text().rsplit("set = { ", 1)))
    assert "rounds: delta: 0.1 -> 0.2 (at once)" in fedbandit("reload", *file).out
    assert office.stop() == 0
    office.start().wait(2)
    assert fedbandit("reload", *file).out == "demo: nothing has changed\nrounds: nothing has changed\n"
    assert "noise: 0.5 -> 0.1" in fedbandit("change", "demo", "noise=0.1", *file).out


EDITED = {  # what is written in the place of what in the table of the second federation, and what is said
    "deadline = ": ("deadline = 30", "{file} is not valid TOML ("),
    '"async-linucb"': ('"sync-linucb"', "{file}: federations.rounds.deadline has no meaning for async-linucb"),
    "set = { dleta = 1, ": (
        "set = { ",
        "{file}: federations.rounds: sync-linucb has no parameter 'dleta': did",
    ),
    "epoch_seconds = 60\nset = { discount = 0.5, ": ("set = { ", "discount can change only as a new federation"),
    "clients = 5": ("clients = 2", "clients can change only as a new federation"),
}


@pytest.mark.slow
def test_an_edited_file_that_cannot_be_is_refused_and_no_federation_is_changed(fedbandit, office):
    text = office.file.read_text().replace("reward = 1.0", "reward = 2.0")  # of the first one, which could be
    for new, (old, sentence) in EDITED.items():
        office.file.write_text(new.join(text.rsplit(old, 1)))
        refused(fedbandit("reload", "--file", office.file), sentence.format(file=office.file))
    office.file.write_text(text)
    assert "demo: revision 0" in fedbandit("change", "demo", "--file", office.file).out
    assert "demo: revision 1" in fedbandit("reload", "--file", office.file).out
