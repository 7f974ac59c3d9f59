"""A site is forgotten by algorithms that act in rounds, or know more than sums."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.durable.coordinator.record import ServerRecord
from fedbandit.simulation.replay import replay
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import encode_state
from samples import pair
from samples.forgetful import GONE, Federation, is_of, without


def told(made):
    """Let all others hear what they are told anew, and go on without the one that is not there any more."""
    for site in made.server.postbox.latest:
        made.server.postbox.post_again(site, 0, 0)
    pair.to_sites(made.sites, made.server.commit())
    pair.exchange(made.server, made.sites)
    while made.server.awaited().tolist() == [GONE]:
        made.server.deadline(7.0)
        pair.exchange(made.server, made.sites)


def is_replayed(made):
    """Tell whether the log that is left gives the state."""
    return encode_state(replay(made.charter, made.journal.records()).state) == encode_state(made.server.node.state)


def test_estimates_of_others_are_averaged_anew():
    made = Federation("fedego-lasso, often")
    had = made.server.node.state.estimates.copy()
    assert had[GONE].any()
    without_it = replay(made.charter, without(list(made.journal.records()), GONE)).state
    assert not made.forget().erased.restarted
    assert is_replayed(made)
    state = made.server.node.state
    assert state.estimates.tobytes() == without_it.estimates.tobytes()
    assert not state.estimates[GONE].any()
    told(made)
    for site in made.left:
        made.turn(made.sites.index(site), 50)
        assert (site.life.node.state.screening[0] == had[[0, 2]].mean(axis=0)).all()


def test_of_estimates_that_were_all_of_the_one_nothing_is_left():
    made = Federation("fedego-lasso, often", play=())
    made.play(range(12), sites=(GONE,))
    made.server.deadline(4.0)
    pair.to_sites(made.sites, made.server.commit())
    made.turn(0, 50)
    assert made.sites[0].life.node.state.screening.any()
    made.forget()
    told(made)
    made.turn(0, 51)
    assert not made.sites[0].life.node.state.screening.any()


def test_sums_over_networks_have_nothing_of_it_and_all_others_are_called_for_new_ones():
    messages = pytest.importorskip("fedbandit.algorithms.neural.shared.messages", exc_type=ImportError)
    made = Federation("fn-ucb-less", play=range(4))
    version = made.server.node.state.version
    frames = [ServerRecord.from_bytes(entry.data) for entry in made.journal.records()]
    uploads = [Frame.from_bytes(each.data) for each in frames if any(is_of(each, site) for site in (0, 2))]
    uploaded = [decode(each.body) for each in uploads if each.kind is Kind.UPLOAD]
    given = [each for each in uploaded if isinstance(each, messages.Contribution)]
    moments = [made.server.side.exchange.read_share(each).moment for each in given]
    made.forget()
    state = made.server.node.state
    assert state.version >= version > 1, "sites have heard of versions before"
    np.testing.assert_allclose(state.moment, sum(moments), rtol=1e-5)
    assert is_replayed(made)
    told(made)
    for site in made.left:
        made.turn(made.sites.index(site), 50)
        assert site.life.node.state.version == state.version
        diagonal = made.server.side.sums(state)[1]
        np.testing.assert_allclose(site.life.node.state.synced_diagonal, diagonal, rtol=1e-5)


@pytest.mark.parametrize("world", ["private-linucb", "private-linucb, by own count"])
def test_noised_sums_of_a_site_are_dropped(world):
    made = Federation(world)
    had = made.server.node.state
    kept = had.client != GONE
    assert not kept.all()
    made.forget()
    state = made.server.node.state
    assert state.client.tolist() == [0, 2]
    assert state.gram.tobytes() == had.gram[kept].tobytes()
    assert is_replayed(made)
    sent = made.server.postbox.latest[0][-1].message
    assert (sent.gram == had.gram[kept].sum(axis=0)).all()


@pytest.mark.parametrize("world", ["fedglb-ucb", "fedglb-ucb-1", "fedglb-ucb-3"])
def test_a_regression_is_solved_once_more_by_those_who_are_left(world):
    made = Federation(world)
    before = made.server.node.state
    assert before.version > 1
    assert made.forget().erased.restarted
    state = made.server.node.state
    assert state.version == before.version + 1
    assert not state.gram.any()
    assert not state.model.any()
    assert is_replayed(made)
    told(made)
    rows = np.array([pair.offer(3 * seed + number)[0, 0] for seed in range(12) for number in (0, 2)])
    state = made.server.node.state
    assert state.version == before.version + 2
    assert (state.gram == rows.T @ rows).all()
    assert state.observations == len(rows)
    if world != "fedglb-ucb-3":
        ridge = made.charter.algorithm.ridge
        slope = rows.T @ (1 / (1 + np.exp(-rows @ state.model)) - 0.5) + ridge * state.model
        assert np.abs(slope).max() < 1e-2 * np.abs(rows.T @ np.full(len(rows), 0.5)).max()
    for number in (0, 2):
        made.turn(number, 50)
        assert (made.sites[number].life.node.state.shared.model == state.model).all()


def information(made):
    """W_sync without its prior, as the duels that others have had give it: the winner less the loser of each."""
    return made.server.node.state.information - made.server.side.rule.prior * np.eye(pair.DIMENSION)


def test_duels_of_others_are_searched_from_the_beginning():
    made = Federation("fldb-gd")
    number = made.server.node.state.questions.number
    assert made.server.node.state.search.trial.any()
    assert made.forget().erased.restarted
    assert is_replayed(made)
    assert not made.server.node.state.search.trial.any()
    assert made.server.node.state.questions.number > number
    told(made)
    duels = np.array([each for site in (0, 2) for each in made.duels[site]])
    assert (information(made) == duels.T @ duels).all()
    theta = made.server.node.state.search.trial
    slope = -duels.T @ (1 / (1 + np.exp(duels @ theta))) + made.server.side.rule.ridge * theta
    assert np.abs(slope).max() < 1e-6
    for site in (0, 2):
        assert (made.sites[site].life.node.state.estimate == theta).all()


def test_steps_begin_anew_and_what_duels_tell_of_arms_stays():
    made = Federation("fldb-ogd")
    assert made.server.node.state.anchor.any()
    assert made.forget().erased.restarted
    assert is_replayed(made)
    told(made)
    duels = np.array([each for site in (0, 2) for each in made.duels[site]])
    assert (information(made) == duels.T @ duels).all()
    for site in (0, 2):
        state = made.sites[site].life.node.state
        assert not state.estimate.any()
        assert not state.anchor.any()
    made.play(range(20, 22), sites=(0, 2))
    told(made)
    assert made.server.node.state.anchor.any(), "it goes on"


def carry_some(made, rng):
    """Carry frames to and fro, of which half are lost, while sites go on; then all, as sites ask until they have it."""
    for seed in range(60, 66):
        for number in (0, 2):
            made.turn(number, seed)
        frames = [frame for site in made.left for frame in site.commit() if rng.random() < 0.5]
        pair.to_server(made.server, frames)
        pair.to_sites(made.sites, [each for each in made.server.commit() if rng.random() < 0.5])
        if rng.random() < 0.3:
            made.start()
    pair.asking(made.server, made.sites)
    told(made)
    pair.asking(made.server, made.sites)
    told(made)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("world", ["sync-linucb", "fedglb-ucb", "fldb-gd", "fldb-ogd"])
def test_whatever_is_lost_on_the_way_all_that_the_others_have_learnt_is_there_once(world, seed):
    made = Federation(world)
    made.forget()
    carry_some(made, np.random.default_rng(seed))
    known = made.server.node.state.gram if world in ("sync-linucb", "fedglb-ucb") else information(made)
    rows = [pair.offer(3 * each + number)[0, 0] for each in range(12) for number in (0, 2)]
    rows += [pair.offer(each)[0, 0] for each in range(60, 66) for _ in (0, 2)]
    for state in (made.sites[site].life.node.state for site in (0, 2)):  # what it has not sent
        if world == "sync-linucb":
            known = known + state.rows.new_gram[0]
        elif world == "fldb-ogd":
            known = known + state.information[0]
    learnt = np.concatenate([made.duels[0], made.duels[2]]) if made.charter.algorithm.duels else np.array(rows)
    assert (known == learnt.T @ learnt).all()
    assert is_replayed(made)
