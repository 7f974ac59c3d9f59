"""Decisions that end without their reward: after a time, or given up; a site that goes on from its journal agrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.site.events import Awaiting, Chose
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.ending import Ending
from fedbandit.wire.state import decode_state, encode_state
from samples.pair import NO_LOTS, charter, copy_of, exchange, offer, open_server, open_site


def ending(expires=60.0, default_reward=None, name="async-linucb", **parameters):
    return replace(charter(name, **parameters), ending=Ending(expires, default_reward))


def made(site, seed, now):
    return site.choose(offer(seed), NO_LOTS, now)[0]


def state(site):
    return encode_state(site.life.node.state)


def test_a_decision_without_a_reward_is_forgotten_when_its_time_is_over():
    site, other = open_site(ending()), open_site(ending())
    names = [made(site, seed, 10.0 * seed + 1) for seed in range(4)]
    twin = [made(other, seed, 10.0 * seed + 1) for seed in range(4)]
    site.settle(70.9)
    assert list(site.life.decisions.pending) == names[1:]
    site.settle(81.0)
    assert list(site.life.decisions.pending) == names[3:]
    assert [site.learn(name, 1.0, 81.0) for name in names] == [False, False, False, True]
    other.learn(twin[3], 1.0, 81.0)
    assert state(site) == state(other)


def test_the_default_is_learnt_in_place_of_a_reward_that_does_not_come():
    site, other = open_site(ending(default_reward=-0.5)), open_site(ending())
    name, twin = made(site, 1, 5.0), made(other, 1, 5.0)
    site.settle(65.0)
    assert not site.learn(name, 1.0, 65.0)
    other.learn(twin, -0.5, 65.0)
    assert state(site) == state(other)


def test_a_decision_that_is_given_up_ends_as_if_its_time_were_over():
    site, other = (open_site(ending(expires=None, default_reward=0.25)) for _ in range(2))
    assert site.give_up(made(site, 1, 5.0), 6.0)
    other.learn(made(other, 1, 5.0), 0.25)
    assert state(site) == state(other)
    name = made(site, 2, 7.0)
    assert [site.give_up(name, 8.0), site.give_up(name, 9.0), site.learn(name, 1.0)] == [True, False, False]
    with pytest.raises(InvalidInput, match="no decision 'nonsense' was made at this site"):
        site.give_up("nonsense", 9.0)


def test_a_reward_that_waits_for_the_end_of_a_round_does_not_expire():
    of = ending(name="fldb-ogd")
    sites, server = [open_site(of, number) for number in range(2)], open_server(of)
    for seed in range(3):
        sites[0].learn(made(sites[0], seed, 1.0), 1.0)
    lost = made(sites[0], 3, 30.0)
    sites[0].settle(1000.0)
    assert len(sites[0].life.waiting) == 2
    assert lost not in sites[0].life.decisions.pending
    for seed in range(3):
        sites[1].learn(made(sites[1], seed, 0.0), 0.0)
        exchange(server, sites)
    assert [site.life.node.state.turns.tolist() for site in sites] == [[3], [3]]


def test_decisions_of_unknown_time_wait_from_when_they_are_first_seen():
    site = open_site(ending())
    name = made(site, 1, 0.0)
    site.settle(1e9)
    assert name in site.life.decisions.pending
    site.settle(1e9 + 60)
    assert name not in site.life.decisions.pending


@pytest.mark.parametrize("default_reward", [None, 0.5])
@pytest.mark.parametrize("snapshot_every", [3, 10**9])
def test_a_site_that_goes_on_from_its_journal_has_ended_the_same_decisions(default_reward, snapshot_every):
    """A random story, told step by step to a site that lives on and one opened from its journal now and then."""
    of, journal = ending(default_reward=default_reward), MemoryJournal()
    site = open_site(of, journal=journal, snapshot_every=snapshot_every)
    rng, names, now = np.random.default_rng(8), [], 1000.0
    for step in range(120):
        now += float(rng.integers(0, 20))
        site.settle(now)
        what = rng.integers(4)
        if what < 2:
            names.append(made(site, step, now))
        elif names and what == 2:
            site.learn(names[rng.integers(len(names))], 0.25, now)
        elif names:
            site.give_up(names[rng.integers(len(names))], now)
        site.maintain()
        site.commit()
        if step % 7 == 0:
            again = open_site(of, journal=copy_of(journal))
            assert state(again) == state(site)
            assert list(again.life.decisions.pending) == list(site.life.decisions.pending)
            again.settle(now)
            assert list(again.life.decisions.pending) == list(site.life.decisions.pending)
    assert site.pending < len(names) / 2


def test_a_store_keeps_what_is_learnt_from_and_not_what_was_on_offer():
    journal = MemoryJournal()
    site = open_site(charter(), journal=journal)
    names = [made(site, seed, 1.0) for seed in range(5)]
    site.save()
    kept = [decode_state(entry.data, Awaiting, Chose) for entry in journal.kept()]
    assert [(type(each), each.features.shape) for each in kept] == [(Awaiting, (1, 1, 3))] * 5
    site.learn(names[2], 0.5)
    site.save()
    again = open_site(charter(), journal=journal)
    assert len(list(journal.kept())) == 4
    twin = open_site(charter())
    same = [made(twin, seed, 1.0) for seed in range(5)]
    for at in (2, 0, 4, 1, 3):
        assert again.learn(names[at], 0.5) == (at != 2)
        twin.learn(same[at], 0.5)
    assert state(again) == state(twin)


def test_records_that_an_earlier_version_kept_with_all_that_was_on_offer_become_small():
    journal = MemoryJournal()
    site = open_site(charter(), journal=journal)
    for seed in range(3):
        made(site, seed, 1.0)
    records = [decode_state(entry.data, Chose) for entry in journal.records(1)]
    old = MemoryJournal()
    old.append(next(journal.records()).data)
    positions = [old.append(encode_state(each), keep=True) for each in records]
    names = list(site.life.decisions.pending)
    pending = {name: (position, None) for name, position in zip(names, positions, strict=True)}
    old.save(encode_state(replace(site.life.memory(), pending=pending, awaiting=np.zeros(0, dtype=np.int64))))
    again = open_site(charter(), journal=old)
    assert list(again.life.decisions.pending) == list(site.life.decisions.pending)
    again.save()
    assert [type(decode_state(entry.data, Awaiting, Chose)) for entry in old.kept()] == [Awaiting] * 3
    last = open_site(charter(), journal=old)
    assert all(last.learn(name, 1.0) for name in names)


def test_a_charter_says_when_decisions_end_only_where_they_do():
    plain = charter()
    assert "expires" not in plain.text
    assert "default_reward" not in plain.text
    told = ending(default_reward=0.0)
    assert Charter.from_text(told.text).ending == Ending(60.0, 0.0)
    assert (told, told.fingerprint) == (plain, plain.fingerprint)
    told.require(plain.text, "the store")


@pytest.mark.parametrize("expires", [0, -1.0, "soon", True, float("inf"), float("nan")])
def test_a_time_that_is_none_is_refused(expires):
    with pytest.raises(InvalidInput, match=r"expires must be a number greater than 0, not .*: give seconds"):
        Ending(expires=expires)
