"""`fedbandit change` at a coordinator that goes on: what it shows, what it tells, and what it refuses."""

from __future__ import annotations

import asyncio
import json

import pytest

from fedbandit.transport.nats.address import client_library
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.subjects import Subjects
from samples.deployed import Coordinator
from samples.refusals import refused

TABLE = {"algorithm": "async-linucb", "clients": 2, "dimension": 2, "limits": {"reward": 1.0}}


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with Broker(BrokerSettings(tmp_path_factory.mktemp("broker"), port=free_port())) as running:
        yield running


@pytest.fixture(scope="module")
def office(tmp_path_factory, broker):
    """A coordinator that tests share: each has a federation of its own."""
    tables = dict.fromkeys(("shown", "dropping", "kept", "asked"), TABLE)
    made = Coordinator(tmp_path_factory.mktemp("office"), broker.url, tables).start().wait()
    yield made
    made.end()


def test_what_is_agreed_on_now_is_shown(fedbandit, office):
    file = ("--file", office.file)
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


def test_a_dimension_that_comes_back_with_another_meaning_is_told(fedbandit, office):
    file = ("--file", office.file)
    assert fedbandit("change", "dropping", "dimension=3", *file).err == ""
    assert fedbandit("change", "dropping", "drop=2", *file).err == ""  # as it was at first
    said = fedbandit("change", "dropping", "drop=0", "dimension=2", *file)
    assert said.out == "dropping: features: without 0 -> with 1 new (with migration)\ndropping: revision 3\n"
    assert said.err == (
        "dropping: vectors had 2 numbers before, with another meaning: programs that still hand in such vectors are "
        "now misunderstood, so edit them\n"
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


def test_what_cannot_be_is_refused_in_one_sentence_and_nothing_is_changed(fedbandit, office):
    for arguments, sentence in REFUSED.values():
        refused(fedbandit("change", *arguments, "--file", office.file), sentence)
    assert "kept: revision 1" in fedbandit("change", "kept", "delta=0.2", "--file", office.file).out


def test_nobody_there_is_said(fedbandit, broker, tmp_path):
    office = Coordinator(tmp_path, broker.url, {"demo": TABLE})  # which is not started
    said = fedbandit("change", "demo", "delta=0.2", "--file", office.file)
    refused(said, "no coordinator that can do this for demo answers at nats://")


async def _asked(url, subject, question):
    connection = await client_library().connect(url)
    try:
        return json.loads((await connection.request(subject, question, timeout=20)).data)
    finally:
        await connection.close()


def test_whatever_is_asked_the_coordinator_answers_and_lives(fedbandit, office, broker):
    for question in (b"", b"[]", b"{}", b'{"do": "dance"}', b'{"do": "change"}', b'{"do": "reload", "file": {}}'):
        assert "error" in asyncio.run(_asked(broker.url, Subjects("asked").charter, question)), question
    assert "asked: revision 1" in fedbandit("change", "asked", "delta=0.2", "--file", office.file).out
