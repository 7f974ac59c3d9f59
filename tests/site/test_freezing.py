"""Sites that decide by a policy in place of what they learn, and go on learning."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.wire.state import encode_state
from samples.pair import charter, open_server
from samples.revising import revise
from samples.wall_clock import WallClock

EYE = np.eye(3)


def open_site(algorithm="async-linucb", **more):
    return fb.Site(algorithm, **{"dimension": 3, "fresh": 1, **more})


def state(site):
    return encode_state(site.node.life.node.state)


def teach(site, means, turns=60):
    """Let a site find out which arm is best."""
    for turn in range(turns):
        arm = site.choose(EYE)
        site.learn(arm, means[arm.arm] + 0.01 * (turn % 3))


def favourite(site):
    return [site.choose(EYE).arm for _ in range(3)]


def test_a_frozen_site_decides_as_before_and_learns_all_the_same():
    site, other = open_site(), open_site()
    for each in (site, other):
        teach(each, [0.1, 0.9, 0.1])
    assert favourite(site) == [1, 1, 1]
    site.freeze()
    for each in (site, other):
        for _ in range(200):
            each.learn(each.choose(EYE[1:2]), -1.0)
    assert site.choose(EYE).arm == 1
    assert other.choose(EYE).arm != 1
    assert state(site) == state(other)
    site.thaw()
    assert site.choose(EYE).arm == other.choose(EYE).arm


def test_a_site_is_rolled_back_to_a_policy_in_a_file(tmp_path):
    clock = WallClock()
    site = open_site(clock=clock)
    teach(site, [0.1, 0.9, 0.1])
    site.policy().save(tmp_path / "policy.bin")
    clock.now += 60
    teach(site, [0.9, -1.0, 0.1], turns=400)
    assert favourite(site) == [0, 0, 0]
    assert site.frozen is None
    site.load(fb.Policy.load(tmp_path / "policy.bin"))
    assert favourite(site) == [1, 1, 1]
    assert site.frozen == clock.now - 60
    site.thaw()
    assert (favourite(site), site.frozen) == ([0, 0, 0], None)


@pytest.mark.parametrize("snapshot_every", [5, 10**6])
def test_a_frozen_site_that_is_opened_again_is_frozen(tmp_path, snapshot_every):
    how = {"store": tmp_path / "site.db", "explore": 0.2}
    with open_site(**how) as site:
        site.node.snapshot_every = snapshot_every
        teach(site, [0.1, 0.9, 0.1])
        site.freeze()
        teach(site, [0.9, -1.0, 0.1], turns=300)
        before, known, frozen = favourite(site), state(site), site.frozen
    for fresh in (2, 3):
        with open_site(**{**how, "fresh": fresh, "explore": 0.2}) as site:
            assert state(site) == known
            assert site.frozen == frozen
            assert encode_state(site.node.life.deciding) != known
            if fresh == 3:
                site.thaw()
    assert before.count(1) >= 2
    with open_site(**{**how, "fresh": 4}) as site:
        assert site.frozen is None


def test_propensities_and_predictions_are_those_of_the_policy_that_decides(tmp_path):
    site = open_site(explore=0.3, log=tmp_path, exploration="igw")
    teach(site, [0.1, 0.9, 0.1], turns=300)
    policy = site.policy()
    chances = policy.chances(EYE)
    site.freeze()
    teach(site, [0.9, -1.0, 0.1], turns=300)
    for _ in range(20):
        decision = site.choose(EYE)
        assert decision.propensity == pytest.approx(chances[decision.arm], rel=1e-12)


def test_a_policy_of_an_earlier_revision_is_loaded_and_one_of_another_federation_is_not():
    of = charter()
    server = open_server(of)
    site = fb.Site(of.algorithm, dimension=3, arms=2, clients=2, horizon=100)
    policy = site.policy()
    revise(server, {"upload_threshold": 5.0})
    for frame in site.everything():
        server.receive(frame, 0.0, 0)
    for number, frame in server.commit():
        if number == 0:
            site.hear(frame)
    assert site.node.revisions == 1
    site.load(policy)
    assert site.frozen == policy.taken
    with pytest.raises(fb.InvalidInput, match=r"the policy belongs to another federation, whose ridge is 9\.0, not"):
        site.load(fb.Site("async-linucb", dimension=3, arms=2, clients=2, horizon=100, ridge=9.0).policy())
    assert site.frozen == policy.taken


@pytest.mark.parametrize("algorithm", ["lean-linucb", "n-ucb-glm", "sync-linucb", "random", "async-linucb-am"])
def test_any_algorithm_can_be_frozen(algorithm):
    site = open_site(algorithm)
    teach(site, [0.1, 0.9, 0.1])
    site.freeze()
    teach(site, [0.9, 0.1, 0.1])
    site.thaw()
    teach(site, [0.9, 0.1, 0.1])
