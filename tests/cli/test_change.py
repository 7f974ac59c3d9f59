"""`fedbandit change` and `fedbandit reload` with a real broker and a real coordinator, and what they refuse."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.server import DurableServer
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.replay import replay
from fedbandit.transport.nats.address import client_library
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.subjects import Subjects
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


@pytest.fixture(scope="module")
def long_lived(tmp_path_factory, broker):
    """A coordinator that tests share: each has a federation of its own."""
    tables = dict.fromkeys(("shown", "dropping", "kept", "asked"), TABLE)
    made = Coordinator(tmp_path_factory.mktemp("office"), broker.url, tables).start().wait()
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


def test_what_is_agreed_on_now_is_shown(fedbandit, long_lived):
    file = ("--file", long_lived.file)
    first = ["shown: algorithm: async-linucb", "shown: dimension: 2", "shown: limits.reward: 1.0", "shown: revision 0"]
    assert fedbandit("change", "shown", *file).out.splitlines() == first
    fedbandit("change", "shown", "noise=0.5", "expires=60", "limits.reward=none", "dimension=3", *file)
    assert fedbandit("change", "shown", *file).out.splitlines() == [
        "shown: algorithm: async-linucb",
        "shown: dimension: 3",
        "shown: noise: 0.5",
        "shown: expires: 60.0",
        "shown: revision 1",
    ]


def test_a_dimension_that_comes_back_with_another_meaning_is_told(fedbandit, long_lived):
    file = ("--file", long_lived.file)
    assert fedbandit("change", "dropping", "dimension=3", *file).err == ""
    assert fedbandit("change", "dropping", "drop=2", *file).err == ""  # as it was at first
    said = fedbandit("change", "dropping", "drop=0", "dimension=2", *file)
    assert said.out == "dropping: features: without 0 -> with 1 new (with migration)\ndropping: revision 3\n"
    assert said.err == (
        "dropping: vectors had 2 numbers before, with another meaning: programs that hand in those of then are now "
        "misunderstood, so edit them\n"
    )


REFUSED = {
    "a federation that there is not": (("clinics", "delta=0.2"), "unknown federation 'clinics'"),
    "no value": (("kept", "delta"), "'delta' is no change: write NAME=VALUE, as in upload_threshold=3"),
    "a name twice": (("kept", "delta=0.2", "delta=0.3"), "delta is given twice: give it once"),
    "a name that there is not": (("kept", "dleta=0.2"), "unknown name 'dleta': did you mean 'delta'?"),
    "a value that is none": (("kept", "delta=much"), "delta must be a number, not 'much'"),
    "a value out of range": (("kept", "delta=2"), "delta must be greater than 0 and less than 1, not 2.0"),
    "a limit that is none": (("kept", "limits.reward=-1"), "limits.reward must be a number greater than 0, not '-1'"),
    "a limit that a site cannot have": (("kept", "limits.reward=1e40"), "limits['reward'] must be a number greater"),
    "a limit that there is not": (("kept", "limits.weight=1"), "unknown name 'limits.weight'"),
    "a default that is no reward": (("kept", "default_reward=5"), "default_reward is 5, farther from 0 than the limit"),
    "an end that is none": (("kept", "expires=0"), "expires must be a number greater than 0, not '0'"),
    "a deadline where there are no rounds": (("kept", "deadline=5"), "federations.kept.deadline has no meaning for"),
    "no feature left": (("kept", "drop=0,1"), "no feature would be left: keep one at least"),
    "no number of features": (("kept", "dimension=many"), "dimension must be a whole number, not 'many'"),
    "too many features": (("kept", "dimension=5000"), "async-linucb has messages of 100060047 bytes, and"),
    "another algorithm": (("kept", "algorithm=sync-linucb"), "algorithm can change only as a new federation: begin"),
    "a parameter that means another federation": (
        ("kept", "discount=0.5"),
        "discount can change only as a new federation: begin a federation of another name with it",
    ),
    "what it is already": (("kept", "delta=0.1"), "nothing would change: give a name with another value"),
}


def test_what_cannot_be_is_refused_in_one_sentence_and_nothing_is_changed(fedbandit, long_lived):
    for arguments, sentence in REFUSED.values():
        refused(fedbandit("change", *arguments, "--file", long_lived.file), sentence)
    assert "kept: revision 1" in fedbandit("change", "kept", "delta=0.2", "--file", long_lived.file).out


EDITED = {  # what is written in the place of what in the table of the second federation, and what is said
    "deadline = ": ("deadline = 30", "{file} is not valid TOML ("),
    '"async-linucb"': ('"sync-linucb"', "{file}: federations.rounds.deadline has no meaning for async-linucb"),
    "set = { dleta = 1, ": ("set = { ", "{file}: federations.rounds: unknown"),
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


def test_nobody_there_is_said(fedbandit, broker, tmp_path):
    office = Coordinator(tmp_path, broker.url, {"demo": TABLE})  # which is not started
    said = fedbandit("change", "demo", "delta=0.2", "--file", office.file)
    refused(said, "no coordinator that can do this answers at nats://")


async def _asked(url, subject, question):
    connection = await client_library().connect(url)
    try:
        return json.loads((await connection.request(subject, question, timeout=20)).data)
    finally:
        await connection.close()


def test_whatever_is_asked_the_coordinator_answers_and_lives(fedbandit, long_lived, broker):
    for question in (b"", b"[]", b"{}", b'{"do": "dance"}', b'{"do": "change"}', b'{"do": "reload", "file": {}}'):
        assert "error" in asyncio.run(_asked(broker.url, Subjects("asked").charter, question)), question
    assert "asked: revision 1" in fedbandit("change", "asked", "delta=0.2", "--file", long_lived.file).out
