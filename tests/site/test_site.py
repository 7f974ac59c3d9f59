"""The site that an application embeds: it decides at once, learns late, remembers, and syncs when it can."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.wire.state import encode_state
from samples.local_coordinator import LocalCoordinator
from samples.small_site import ARMS, FEDERATION, features, play, site


def test_a_decision_names_the_arm_and_how_it_came_about():
    one = site()
    decision = one.choose(ARMS, ids=["red", "green", "blue"])
    assert decision.arm in ("red", "green", "blue")
    assert decision.propensity == 1.0
    assert decision.version == 0
    assert one.choose(ARMS).arm in (0, 1, 2)
    assert one.pending == 2


def test_a_site_chooses_as_a_client_by_hand_does():
    one, by_hand = site(), fb.Client("async-linucb", **FEDERATION)
    rng = np.random.default_rng(4)
    for _ in range(30):
        arms = rng.standard_normal((3, 2))
        decision = one.choose(arms)
        assert decision.arm == by_hand.choose(arms)
        one.learn(decision, 0.5)
        by_hand.learn(0.5)


def test_lots_are_not_drawn_again_after_a_restart(tmp_path):
    def first_choices():
        with fb.Site("async-linucb", exploration="thompson", dimension=2, noise=1.0, store=tmp_path / "s.db") as one:
            return [one.choose(ARMS).arm for _ in range(12)]

    assert first_choices() != first_choices()


@pytest.mark.parametrize(
    ("arms", "ids", "reason"),
    [
        (np.zeros(2), None, r"arms has shape \(2,\), but \(K, 2\) is needed"),
        (np.zeros((3, 4)), None, r"arms has shape \(3, 4\)"),
        ([[1.0, np.nan]], None, r"arms\[0\] is not finite"),
        ([["a", "b"]], None, "arms must hold numbers"),
        (ARMS, ["red"], "ids has 1 entries for 3 arms"),
    ],
)
def test_bad_arms_are_refused_and_no_decision_is_made(arms, ids, reason):
    one = site()
    with pytest.raises(fb.InvalidInput, match=reason):
        one.choose(arms, ids=ids)
    assert one.pending == 0


@pytest.mark.parametrize("reward", [np.nan, np.inf, "much", None])
def test_a_bad_reward_is_refused_and_the_decision_stays_pending(reward):
    one = site()
    decision = one.choose(ARMS)
    with pytest.raises(fb.InvalidInput, match="reward must be a finite number"):
        one.learn(decision.id, reward)
    assert one.learn(decision.id, 1.0)


def test_what_is_pending_and_unsent_survives_a_restart(tmp_path):
    with site(store=tmp_path / "site.db") as one:
        play(one, 5)
        waiting = one.choose(ARMS)
        unsent, state = one.unsent, encode_state(one.node.life.node.state)
    with site(store=tmp_path / "site.db") as again:
        assert again.unsent == unsent > 0
        assert again.pending == 1
        assert encode_state(again.node.life.node.state) == state
        assert again.learn(waiting.id, 1.0)
        assert not again.learn(waiting.id, 1.0)


def test_a_store_is_kept_small_by_snapshots(tmp_path):
    with site(store=tmp_path / "site.db", upload_threshold=np.inf) as one:
        play(one, 2000)
        assert len(list(one.node.journal.records())) < 600


def test_a_store_is_open_in_one_place_only(tmp_path):
    with site(store=tmp_path / "site.db"), pytest.raises(fb.InvalidInput, match="this process has it open"):
        site(store=tmp_path / "site.db")


async def until(condition):
    """Let the other tasks run until a condition holds."""
    for _ in range(100_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it does not come about")


def test_two_sites_learn_together_in_an_asyncio_program():
    async def program():
        sites = [site(number) for number in range(2)]
        coordinator = LocalCoordinator(sites[0].charter)
        talks = [asyncio.ensure_future(one.run(coordinator.connector(one.node.number))) for one in sites]
        for number, one in enumerate(sites):
            play(one, 20, seed=number)
        await until(lambda: not any(one.unsent for one in sites))
        await until(lambda: all(one.version for one in sites))
        for one in sites:
            one.close()
        await asyncio.gather(*talks)
        own = sum(one.node.life.node.state.rows.new_gram[0] for one in sites)
        return coordinator.server.node.state.gram + own

    together = np.concatenate([features(20, seed=number) for number in range(2)])
    assert (asyncio.run(program()) == together.T @ together).all()


def test_a_site_works_without_a_coordinator_and_syncs_when_there_is_one():
    async def program():
        one = site()
        coordinator = LocalCoordinator(one.charter)
        coordinator.is_up = False
        talk = asyncio.ensure_future(one.run(coordinator.connector(0), patience=0.0))
        await until(lambda: coordinator.attempts > 3)
        play(one, 10)
        assert one.unsent > 0
        coordinator.is_up = True
        await until(lambda: one.unsent == 0)
        coordinator.cut(0)
        play(one, 5, seed=1)
        await until(lambda: 0 in coordinator.links and one.unsent == 0)
        one.close()
        await talk
        return coordinator.server.node.state.uploads

    assert asyncio.run(program()) == 15


def test_a_site_talks_in_a_thread_of_its_own():
    one = site()
    coordinator = LocalCoordinator(one.charter)
    one.connect(coordinator.connector(0))
    done = threading.Event()
    hear = one.hear

    def noticing(frame):
        hear(frame)
        if coordinator.server.node.state.uploads == 10 and not one.unsent:
            done.set()

    one.hear = noticing
    play(one, 10)
    assert done.wait(timeout=30)
    one.close()


def test_a_site_that_is_closed_sends_what_it_still_can():
    async def program():
        one = site()
        coordinator = LocalCoordinator(one.charter)
        talk = asyncio.ensure_future(one.run(coordinator.connector(0)))
        await until(lambda: 0 in coordinator.links)
        play(one, 10)
        one.close()
        await talk
        return coordinator.server.node.state.uploads

    assert asyncio.run(program()) == 10


def test_choose_and_learn_do_not_wait_for_a_network_that_hangs():
    class Hanging:
        async def send(self, frame):
            await asyncio.Event().wait()

        async def receive(self):
            await asyncio.Event().wait()

        async def close(self):
            pass

    async def program():
        async def connect():
            return Hanging()

        one = site()
        talk = asyncio.ensure_future(one.run(connect))
        await asyncio.sleep(0)
        play(one, 50)  # nothing else runs in between: it would hang here for ever if it waited
        assert one.unsent == 50
        talk.cancel()
        await asyncio.gather(talk, return_exceptions=True)

    asyncio.run(program())


def test_many_threads_may_use_one_site():
    one = site(upload_threshold=np.inf)
    new = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            decision = one.choose(rng.standard_normal((3, 2)))
            new.append(one.learn(decision.id, 0.5))
            new.append(one.learn(decision.id, 0.5))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(new) == 800
    assert one.node.life.node.state.rows.fresh[0] == 800


def test_a_decision_belongs_to_the_epoch_that_the_clock_shows(tmp_path):
    now = [120.0]
    how = {"dimension": 2, "upload_threshold": 1.0, "smallest_upload": 1, "discount": 0.5, "epoch_seconds": 60}
    how |= {"clock": lambda: now[0], "store": tmp_path / "site.db"}
    with fb.Site("async-linucb", **how) as site:
        early = site.choose([[1.0, 0.0]])
    now[0] = 250.0
    with fb.Site("async-linucb", **how) as site:
        late = site.choose([[0.0, 1.0]])
        now[0] = 60.0  # a clock that is set back changes nothing
        site.choose([[1.0, 1.0]])
        site.learn(early, 1.0)
        site.learn(late, 1.0)
        assert site.node.life.node.clock == 4
        assert site.node.life.node.state.rows.moment[0].tolist() == [0.25, 1.0]


def test_a_store_belongs_to_one_length_of_epochs(tmp_path):
    how = {"dimension": 2, "discount": 0.5, "store": tmp_path / "site.db"}
    fb.Site("async-linucb", epoch_seconds=60, **how).close()
    fb.Site("async-linucb", epoch_seconds=60.0, **how).close()
    with pytest.raises(fb.InvalidInput, match="the store belongs to another federation"):
        fb.Site("async-linucb", epoch_seconds=61, **how)
