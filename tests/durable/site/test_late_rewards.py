"""Decisions wait for their rewards: late, in any order, repeated, and across restarts; names are never given twice."""

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.wire.state import encode_state
from samples.pair import NO_LOTS, charter, exchange, offer, open_server, open_site, turn

ASYNC = charter()


def test_rewards_may_come_late_in_any_order_and_repeatedly():
    one, other = open_site(ASYNC), open_site(ASYNC)
    names = [[site.choose(offer(seed), NO_LOTS)[0] for seed in range(3)] for site in (one, other)]
    assert [one.learn(names[0][each], 0.25 * each) for each in (0, 1, 2)] == [True] * 3
    assert [other.learn(names[1][each], 0.25 * each) for each in (0, 0, 1, 0, 2, 1)] == [
        True, False, True, False, True, False,
    ]  # fmt: skip
    assert encode_state(one.life.node.state) == encode_state(other.life.node.state)


@pytest.mark.parametrize("name", ["", "nonsense", "64-", "-1", "ffff-1", 7, None])
def test_a_decision_that_was_never_made_is_refused(name):
    with pytest.raises(InvalidInput, match="was made at this site: give the id that choose returned"):
        open_site(ASYNC).learn(name, 1.0)


def test_the_next_name_is_refused_too():
    site = open_site(ASYNC)
    name, _ = site.choose(offer(), NO_LOTS)
    life, _, number = name.partition("-")
    with pytest.raises(InvalidInput):
        site.learn(f"{life}-{int(number, 16) + 1:x}", 1.0)


def test_names_are_never_given_twice_even_if_decisions_were_lost():
    journal = MemoryJournal()
    site = open_site(ASYNC, journal=journal)
    lost, _ = site.choose(offer(), NO_LOTS)
    journal.crash(survivors=0)
    again = open_site(ASYNC, journal=journal)
    name, _ = again.choose(offer(), NO_LOTS)
    assert name != lost
    with pytest.raises(InvalidInput):
        again.learn(lost, 1.0)


def test_pending_decisions_outlive_snapshots_and_learnt_ones_do_not_stay():
    journal = MemoryJournal()
    site = open_site(ASYNC, journal=journal)
    pending = [site.choose(offer(seed), NO_LOTS)[0] for seed in range(4)]
    site.save()
    site.learn(pending[0], 1.0)
    site.save()
    assert len(list(journal.kept())) == 3
    again = open_site(ASYNC, journal=journal)
    assert [again.learn(name, 1.0) for name in pending] == [False, True, True, True]


def test_in_rounds_a_reward_waits_until_the_round_is_over():
    of = charter("fldb-ogd", sites=2)
    sites, server = [open_site(of, number) for number in range(2)], open_server(of)
    for seed in range(3):
        turn(sites[0], seed, reward=1.0)
    assert sites[0].life.node.state.turns.tolist() == [1]
    assert len(sites[0].life.waiting) == 2
    for seed in range(3):
        turn(sites[1], seed, reward=0.0)
        exchange(server, sites)
    assert [site.life.node.state.turns.tolist() for site in sites] == [[3], [3]]
    assert server.node.state.rounds == 3
