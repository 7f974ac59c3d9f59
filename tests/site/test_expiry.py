"""Sites whose decisions end by themselves, and what programs are told of it."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.service.coordinator.settings import read_plan
from samples.pair import charter, open_server
from samples.revising import revise
from samples.wall_clock import WallClock

ARMS = [[1.0, 0.0], [0.0, 1.0]]


def open_site(clock, **more):
    return fb.Site("async-linucb", dimension=2, **{"expires": 60, "clock": clock, **more})


def learnt(site):
    return int(site.node.life.node.state.rows.turns[0])


@pytest.mark.parametrize("touch", ["choose", "learn", "give_up", "news", "everything"])
def test_what_has_waited_long_enough_ends_whatever_the_site_does_next(touch):
    clock = WallClock()
    site = open_site(clock, default_reward=0.0)
    first = site.choose(ARMS)
    clock.now += 30
    other = site.choose(ARMS)
    clock.now += 30
    {"choose": lambda: site.choose(ARMS), "learn": lambda: site.learn(other, 1.0),
     "give_up": lambda: site.give_up(other), "news": site.news, "everything": site.everything}[touch]()  # fmt: skip
    assert first.id not in site.node.life.decisions.pending
    assert learnt(site) == (2 if touch in ("learn", "give_up") else 1)
    assert not site.learn(first, 1.0)


def test_a_reward_that_comes_at_the_last_moment_counts_and_one_that_comes_later_does_not():
    clock = WallClock()
    site = open_site(clock)
    one, other = site.choose(ARMS), site.choose(ARMS)
    clock.now += 59.99
    assert site.learn(one, 1.0)
    clock.now += 0.01
    assert not site.learn(other, 1.0)
    assert (learnt(site), site.pending) == (1, 0)


def test_a_site_that_is_opened_again_ends_what_has_waited_meanwhile(tmp_path):
    clock = WallClock()
    with open_site(clock, store=tmp_path / "site.db") as site:
        decision = site.choose(ARMS)
    clock.now += 3600
    with open_site(clock, store=tmp_path / "site.db") as site:
        assert site.pending == 1
        assert not site.learn(decision, 1.0)
        assert site.pending == 0
    with open_site(WallClock(), store=tmp_path / "site.db") as site:  # whatever the clock shows then
        assert site.pending == 0


def test_a_store_takes_snapshots_though_no_reward_ever_comes(tmp_path):
    rng = np.random.default_rng(0)
    with fb.Site("async-linucb", dimension=40, store=tmp_path / "site.db") as site:
        for _ in range(1500):
            site.choose(rng.standard_normal((20, 40)))
    assert (tmp_path / "site.db").stat().st_size < 6_000_000  # all that was on offer would be 9.6 MB


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"expires": 0}, "expires must be a number greater than 0, not 0: give seconds, or leave it out"),
        ({"default_reward": "none"}, "default_reward must be a finite number, not 'none'"),
        ({"default_reward": 2.0, "limits": {"reward": 1.0}}, "default_reward is 2, farther from 0 than the limit of 1"),
    ],
)
def test_what_is_no_time_or_no_reward_is_refused(how, words):
    with pytest.raises(fb.InvalidInput, match=words):
        fb.Site("async-linucb", dimension=2, **how)


def test_the_default_of_a_duel_is_a_win_or_none():
    with pytest.raises(fb.InvalidInput, match=r"default_reward is 0\.5, but of a duel it is 1 or 0"):
        fb.Site("fldb-ogd", dimension=2, default_reward=0.5)


def test_what_a_program_says_holds_though_the_charter_is_revised():
    clock, of = WallClock(), charter()
    site = fb.Site(of.algorithm, dimension=3, arms=2, clients=2, horizon=100, expires=60, clock=clock)
    server = open_server(of)
    revise(server, {"upload_threshold": 5.0})
    for frame in site.everything():
        server.receive(frame, 0.0, 0)
    for frame in [frame for number, frame in server.commit() if number == 0]:
        site.hear(frame)
    assert site.node.revisions == 1
    site.choose(np.eye(3))
    clock.now += 60
    site.news()
    assert site.pending == 0


def write(tmp_path, lines):
    path = tmp_path / "coordinator.toml"
    path.write_text(f'[federations.demo]\nalgorithm = "async-linucb"\nclients = 2\ndimension = 3\n{lines}\n')
    return path


def test_a_coordinator_declares_it_for_its_federation(tmp_path):
    plan = read_plan(write(tmp_path, "expires = 3600\ndefault_reward = 0.0"))
    assert plan.federations[0].charter.ending.told() == {"expires": 3600.0, "default_reward": 0.0}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('expires = "1h"', "federations.demo: expires must be a number greater than 0, not '1h': give seconds"),
        ("default_reward = true", "federations.demo: default_reward must be a finite number, not True"),
        ("default_reward = -2\nlimits = { reward = 1 }", "federations.demo: default_reward is -2, farther from 0"),
    ],
)
def test_a_wrong_declaration_is_refused_in_one_sentence(tmp_path, lines, words):
    with pytest.raises(fb.InvalidInput, match=words):
        read_plan(write(tmp_path, lines))
