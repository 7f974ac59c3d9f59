"""A site of `fedbandit up`: which turns it plays, how arms are called, and that it learns late but learns all."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.service.demo import site as demo_site
from fedbandit.service.demo.site import ArmNames, Player, own_turns, rehearse
from fedbandit.service.demo.worlds import Demo


def world(**more):
    return fb.environment("linear", **{"clients": 2, "arms": 3, "pool": 5, "dimension": 4, **more})


def test_the_sites_share_out_the_turns_of_the_world():
    block = next(world().turns(200, 7, 200))
    for number in range(2):
        own = block.features[block.client == number]
        mine = [turn.features[0] for turn in itertools.islice(own_turns(world(), number, 7), len(own))]
        assert np.array_equal(mine, own)


def test_recorded_turns_come_to_an_end(tmp_path):
    path = tmp_path / "turns.npz"
    np.savez(path, client=[0, 1, 0], arms=np.eye(3)[:, np.newaxis].repeat(2, 1), reward=np.zeros((3, 2)))
    recorded = fb.environment("recorded", path=str(path))
    assert len(list(own_turns(recorded, 0, 0))) == 2


def test_arms_of_a_small_pool_have_the_same_name_at_every_site():
    names = ArmNames(next(world().turns(200, 0, 200)))
    seen = {}
    for number in range(2):
        for turn in itertools.islice(own_turns(world(), number, 0), 50):
            for row, name in zip(turn.features[0], names.of(turn.features[0]), strict=True):
                assert seen.setdefault(row.tobytes(), name) == name
    assert sorted(seen.values()) == [f"arm {number}" for number in range(5)]


def test_arms_that_never_come_again_are_called_by_their_place():
    fresh = next(world(source="sphere").turns(200, 0, 200))
    assert ArmNames(fresh).of(fresh.features[0]) == ["arm 0", "arm 1", "arm 2"]


def test_arms_that_share_a_context_are_called_by_their_place():
    block = next(fb.environment("sparse", clients=2, arms=4).turns(10, 0, 10))
    assert ArmNames(block).of(block.features[0], arms=4) == ["arm 0", "arm 1", "arm 2", "arm 3"]


class After:
    """An event that is set after so many looks at it, without waiting."""

    def __init__(self, looks):
        self.looks = looks

    def wait(self, seconds=None):
        self.looks -= 1
        return self.looks < 0


def demo(delay=0.0):
    return Demo.of(fb.algorithm("async-linucb"), world(), rate=1000.0, delay=delay)


def open_site(report=True):
    size = demo().charter.setting
    return fb.Site("async-linucb", dimension=4, arms=3, clients=2, horizon=size.horizon, report=report)


def test_every_decision_is_learnt_from_when_its_reward_is_known():
    site = open_site()
    Player(demo(), site, 0).play(After(50))
    assert site.pending <= 1  # the last one's reward may not be known yet
    assert sum(site.node.life.decisions.issued.values()) == 50


def test_a_reward_that_is_not_known_yet_stays_pending():
    site = open_site()
    Player(demo(delay=1e6), site, 0).play(After(50))
    assert site.pending == 50


def test_a_site_that_is_opened_again_goes_on_with_the_next_turn():
    site = open_site()
    Player(demo(), site, 0).play(After(20))
    again = Player(demo(), site, 0)
    expected = next(itertools.islice(own_turns(world(), 0, 0), 20, None))
    assert np.array_equal(next(again._turns).features, expected.features)


def test_a_site_whose_turns_are_over_stays_until_it_is_stopped():
    stop = threading.Event()
    site = open_site()
    player = Player(demo(), site, 0)
    player._turns = iter(())
    playing = threading.Thread(target=player.play, args=(stop,))
    playing.start()
    stop.set()
    playing.join(timeout=30)
    assert not playing.is_alive()


@pytest.mark.parametrize(
    ("algorithm", "environment"), [("async-linucb", "linear"), ("fldb-gd", "dueling"), ("fedego-lasso", "sparse")]
)
def test_a_rehearsal_exchanges_messages_both_ways(monkeypatch, algorithm, environment):
    taken = []

    class Watched(demo_site.DurableServer):
        def commit(self):
            frames = super().commit()
            taken.extend(frames)
            return frames

    monkeypatch.setattr(demo_site, "DurableServer", Watched)
    rehearse(Demo.of(fb.algorithm(algorithm), fb.environment(environment, clients=2)))
    assert taken
