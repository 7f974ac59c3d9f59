"""Sums of different epochs are added right in a deployment: however late, in whatever order, through restarts.

Discount 1/2, data in sixteenths and few epochs: all sums are exact, so they are compared with ==.
"""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.simulation.replay import replay
from fedbandit.wire.frame import Frame
from fedbandit.wire.state import encode_state
from samples.pair import (
    DIMENSION,
    NO_LOTS,
    asking,
    charter,
    copy_of,
    exchange,
    introduce,
    offer,
    open_server,
    open_site,
    to_server,
    turn,
)

HALF = charter(discount=0.5)
LAST = 12
FAMILY = {
    "async-linucb": {},
    "sync-linucb": {"sync_threshold": 0.0},
    "lean-linucb": {"upload_threshold": 1.0, "delivery": "upload", "precision": "float64"},
    "fedlinucb": {"upload_threshold": 1.0},
}


def seen(decisions, epoch):
    """The discounted sums over decisions, given as (seed of the offer, reward, epoch in which it was made)."""
    gram, moment = np.zeros((DIMENSION, DIMENSION)), np.zeros(DIMENSION)
    for seed, reward, made in decisions:
        arm = offer(seed)[0, 0]
        gram += 0.5 ** (epoch - made) * np.outer(arm, arm)
        moment += 0.5 ** (epoch - made) * reward * arm
    return gram, moment


def sums_at(server, epoch):
    node = server.node
    weight = 0.5 ** (epoch - node.clock)
    return weight * node.state.gram, weight * node.state.moment


def assert_sums(server, decisions, epoch):
    for found, expected in zip(sums_at(server, epoch), seen(decisions, epoch), strict=True):
        np.testing.assert_array_equal(found, expected)


def uploads_of_many_epochs(of, sites=3, turns=30):
    """What sites upload that never hear anything: rewards come late, some of them epochs later."""
    rng = np.random.default_rng(7)
    nodes = [open_site(of, number) for number in range(sites)]
    decisions, pending = [], []
    for seed in range(turns):
        site, epoch, reward = nodes[rng.integers(sites)], LAST * seed // (turns - 1), rng.integers(-16, 17) / 16
        site.tick(epoch)
        pending.append((site, site.choose(offer(seed), NO_LOTS)[0], reward))
        decisions.append((seed, reward, epoch))
        while len(pending) > 5:
            told, name, reward = pending.pop(rng.integers(len(pending)))
            told.learn(name, reward)
    for told, name, reward in pending:
        told.learn(name, reward)
    return [frame for node in nodes for frame in node.commit()], decisions


@pytest.mark.parametrize("orders", [range(50), pytest.param(range(50, 200), marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("name", ["async-linucb", "sync-linucb"])
def test_all_orders_of_arrival_give_one_result(name, orders):
    of = charter(name, sites=3, discount=0.5, **FAMILY[name])
    frames, decisions = uploads_of_many_epochs(of)
    assert len({Frame.from_bytes(frame).clock for frame in frames}) > 8
    for order in orders:
        rng = np.random.default_rng(order)
        server, waiting = open_server(of), list(rng.permutation(np.array(frames, dtype=object)))
        introduce(server, frames)
        while waiting:
            server.tick(min(LAST, server.clock + int(rng.integers(3))), 0.0)
            waiting = [frame for frame in waiting if server.receive(frame, 0.0).outcome.value == "not yet"]
        assert_sums(server, decisions, LAST)


@pytest.mark.parametrize("name", ["async-linucb", "lean-linucb"])
def test_what_all_have_is_the_discounted_sum_at_any_epoch(name):
    of = charter(name, sites=3, discount=0.5, **FAMILY[name])
    server, sites, decisions = open_server(of), [open_site(of, number) for number in range(3)], []
    rng = np.random.default_rng(1)
    for seed in range(40):
        epoch, site = seed // 3, sites[rng.integers(3)]
        server.tick(epoch - int(rng.integers(2)), 0.0)
        site.tick(epoch)
        turn(site, seed, reward=0.25)
        decisions.append((seed, 0.25, epoch))
        if rng.integers(2):
            exchange(server, sites)
    exchange(server, sites)
    assert_sums(server, decisions, 13)
    for site in sites if name == "async-linucb" else ():  # where everybody is told everything
        site.tick(13)
        site.choose(offer(), NO_LOTS)  # so that the last download is taken in
        known = site.life.node.state.rows.gram[0]
        np.testing.assert_array_equal(known, sums_at(server, 13)[0])


def test_a_late_reward_belongs_to_the_epoch_in_which_its_arm_was_chosen_through_restarts_too():
    journal = MemoryJournal()
    site = open_site(HALF, journal=journal)
    site.tick(3)
    early, _ = site.choose(offer(1), NO_LOTS)
    site.tick(5)
    late, _ = site.choose(offer(2), NO_LOTS)
    site.save()
    again = open_site(HALF, journal=copy_of(journal))
    assert again.life.node.clock == 5
    for node in (site, again):
        node.tick(6)
        node.learn(early, 1.0)
        node.learn(late, 1.0)
        exchanged = open_server(HALF)
        exchanged.tick(6, 0.0)
        asking(exchanged, [node])
        assert_sums(exchanged, [(1, 1.0, 3), (2, 1.0, 5)], 6)


def test_a_site_that_is_opened_again_is_the_same_with_and_without_a_snapshot():
    journal = MemoryJournal()
    site = open_site(HALF, journal=journal)
    for seed in range(6):
        site.tick(seed)
        turn(site, seed)
    site.commit()
    without = open_site(HALF, journal=copy_of(journal))
    site.save()
    with_one = open_site(HALF, journal=copy_of(journal))
    for again in (without, with_one):
        assert again.encoded_state() == site.encoded_state()
        assert again.life.node.clock == 5


def test_the_log_and_the_journal_give_the_same_state_bit_for_bit():
    of = charter(sites=3, discount=0.7)
    journal = MemoryJournal(keep_log=True)
    server, sites = open_server(of, journal), [open_site(of, number) for number in range(3)]
    for seed in range(30):
        server.tick(seed // 4, 0.0)
        sites[seed % 3].tick((seed + 1) // 4)
        turn(sites[seed % 3], seed)
        if seed % 2:
            exchange(server, sites)
        if seed == 14:
            server.save()
    again = open_server(of, copy_of(journal))
    assert encode_state(again.node.state) == encode_state(server.node.state)
    assert (again.clock, again.node.clock) == (server.clock, server.node.clock)
    assert encode_state(replay(of, journal.records()).state) == encode_state(server.node.state)


@pytest.mark.parametrize("name", ["async-linucb", "fedlinucb"])
def test_old_downloads_are_aged_by_whoever_gets_them(name):
    of = charter(name, sites=2, discount=0.5, **FAMILY[name])
    server, sites = open_server(of), [open_site(of, number) for number in range(2)]
    turn(sites[0], 1)
    turn(sites[1], 2)
    to_server(server, [frame for site in sites for frame in site.commit()])
    answers = server.commit()  # of epoch 0
    for site in sites:
        site.tick(4)
    for number, answer in answers:
        sites[number].receive(answer)
    for site in sites:
        site.choose(offer(), NO_LOTS)
    gram = seen([(1, 0.5, 0), (2, 0.5, 0)], 4)[0]
    assert any((site.life.node.state.rows.gram[0] == gram).all() for site in sites)


def test_raw_observations_of_the_pooled_baseline_fade_too():
    of = charter("pooled-linucb", discount=0.5)
    server, site = open_server(of), open_site(of)
    name, _ = site.choose(offer(1), NO_LOTS)
    site.tick(1)
    site.learn(name, 1.0)
    server.tick(3, 0.0)
    to_server(server, site.commit())
    gram, moment = seen([(1, 1.0, 0)], 3)
    np.testing.assert_allclose(server.node.state.gram, gram, atol=1e-15)
    np.testing.assert_allclose(server.node.state.moment, moment, atol=1e-15)
