"""A charter is known by what it means, and a federation whose messages nothing can carry is refused."""

from __future__ import annotations

import json

import pytest

import fedbandit as fb
from fedbandit.algorithms.linear.async_linucb import AsyncLinUCB
from fedbandit.core.errors import InvalidInput
from fedbandit.core.former_names import formerly
from fedbandit.protocol.charter import NEEDLESS_SIZES, Charter

SMALL = fb.Setting(clients=3, arms=2, dimension=4, horizon=100)
SHUTTLE = fb.Setting(clients=5, arms=7, dimension=63, horizon=100)
MOST = 8 * 1024 * 1024


def test_messages_that_can_be_carried_are():
    Charter.named("async-linucb", fb.Setting(3, 2, 1000, 1)).require_messages_within(MOST)


def test_messages_of_many_dimensions_are_refused_in_words():
    with pytest.raises(InvalidInput, match=r"async-linucb has messages of .* and 8388608 .*: lower the dimension"):
        Charter.named("async-linucb", fb.Setting(3, 2, 1500, 1)).require_messages_within(MOST)


@pytest.mark.parametrize("name", ["fn-ucb", "fn-ucb-less"])
def test_matrices_of_a_wide_network_are_refused_and_the_remedies_help(name):
    pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")
    with pytest.raises(InvalidInput, match=f"{name} has messages of .*: set diagonal=true or lower the width"):
        Charter.named(name, SHUTTLE, width=20).require_messages_within(MOST)
    Charter.named(name, SHUTTLE, width=20, diagonal=True).require_messages_within(MOST)
    Charter.named(name, SHUTTLE, width=6).require_messages_within(MOST)


def charter_text(**changes):
    values = json.loads(Charter.named("async-linucb", SMALL).text)
    parameters = {**values["parameters"], **changes}
    return json.dumps({**values, "parameters": {key: each for key, each in parameters.items() if each != "left out"}})


def test_a_parameter_that_a_file_does_not_know_yet_has_its_default():
    charter = Charter.named("async-linucb", SMALL)
    charter.require(charter_text(noise="left out"), "the journal")
    with pytest.raises(InvalidInput, match="the journal belongs to another federation"):
        Charter.named("async-linucb", SMALL, noise=0.2).require(charter_text(noise="left out"), "the journal")


def test_a_parameter_that_is_not_known_here_is_another_federation():
    with pytest.raises(InvalidInput, match="the journal belongs to another federation"):
        Charter.named("async-linucb", SMALL).require(charter_text(temper=1.0), "the journal")


def test_no_charter_has_the_fingerprint_that_means_that_none_is_told(monkeypatch):
    class Zeros:
        def __init__(self, data, digest_size):
            self.digest = lambda: bytes(digest_size)

    monkeypatch.setattr("fedbandit.protocol.charter.blake2b", Zeros)
    assert Charter.named("async-linucb", SMALL).fingerprint == 1


def test_each_bit_of_a_fingerprint_tells_of_one_part_of_the_charter():
    charter = Charter.named("async-linucb", SMALL)
    told = [charter.differences(charter.fingerprint ^ 1 << bit) for bit in range(64)]
    parts = ("another algorithm", "other parameters", "another number of clients or another dimension", NEEDLESS_SIZES)
    assert told == [[part] for part in parts for _ in range(16)]


def test_a_parameter_is_read_under_its_former_name(monkeypatch):
    monkeypatch.setattr(AsyncLinUCB, "__formerly__", None, raising=False)
    formerly(upload_threshold="threshold")(AsyncLinUCB)
    text = charter_text(upload_threshold="left out", threshold=3.0)
    assert Charter.from_text(text) == Charter.named("async-linucb", SMALL, upload_threshold=3.0)


def test_a_parameter_that_was_added_later_is_written_only_where_it_is_set():
    setting = fb.Setting(clients=3, arms=2, dimension=4, horizon=100)
    usual, other = (Charter.named("sync-linucb", setting, **given) for given in ({}, {"roster": "met"}))
    assert "roster" not in usual.text
    assert Charter.from_text(usual.text) == usual
    assert '"roster": "met"' in other.text
    assert Charter.from_text(other.text) == other
    assert usual.fingerprint != other.fingerprint
