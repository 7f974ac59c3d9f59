"""A site whose federation changes what it has agreed on: the program goes on as it is, or with what is new."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.durable.coordinator.retuning import Tuning
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.protocol.changing import changed
from fedbandit.site.joining import kept_in

FEDERATION = {"dimension": 2, "clients": 1, "upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0}
ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])


class Office:
    """A coordinator, and one site that talks to it when it is told to."""

    def __init__(self, store=None, **more):
        self.site = fb.Site("async-linucb", store=store, **FEDERATION, **more)
        self.server = DurableServer(self.site.charter, MemoryJournal(), epoch=1, now=0.0)
        self.talk()

    def talk(self):
        for _ in range(3):
            for data in self.site.everything():
                self.server.receive(data, 0.0)
            for _, data in self.server.commit():
                self.site.hear(data)

    def change(self, values=None, **beside):
        retuned = self.server.retuned.with_values(beside, Tuning())
        self.server.revise(changed(self.server.charter, values or {}), retuned, 0.0)
        self.talk()


def test_a_program_goes_on_with_the_vectors_that_it_always_gave():
    office = Office()
    site, server = office.site, office.server
    site.learn(site.choose(ARMS), 1.0)
    office.change({"dimension": 3})
    site.learn(site.choose(ARMS), 1.0)  # as before: what is new is 0
    site.learn(site.choose(np.hstack([ARMS, [[1.0], [0.0], [0.5]]])), 1.0)
    office.talk()
    office.change({"drop": "0"})
    for arms in (ARMS, np.eye(3), np.eye(2)):
        site.learn(site.choose(arms), 1.0)
    office.talk()
    assert (site.revision, site.charter.setting.dimension, site.unsent) == (2, 2, 0)
    assert server.accounts.observations == {0: 6}
    with pytest.raises(fb.InvalidInput, match=r"arms has shape \(4, 4\), but \(K, 2\) is needed"):
        site.choose(np.eye(4))


def test_what_a_program_gave_before_is_read_by_its_last_meaning():
    """Of two forms of one length the later one counts: the first two features are gone, two others have come."""
    office = Office()
    office.change({"drop": "0", "dimension": "2"})
    office.site.learn(office.site.choose(np.eye(2)[:1]), 1.0)
    office.talk()
    assert np.diagonal(office.server.node.state.gram).tolist() == [1.0, 0.0]


def test_a_sample_of_more_features_and_another_way_to_explore():
    office = Office(exploration="thompson")
    office.change({"dimension": 3})
    office.site.choose(np.eye(3))
    for way, propensity in (("ucb", 1.0), ("igw", None), ("perturbed", None)):
        office.change({"exploration": way})
        decision = office.site.choose(np.eye(3))
        assert propensity is None or decision.propensity == propensity
        office.site.learn(decision, 1.0)


def test_a_decision_that_awaits_its_reward_is_learnt_from_with_the_features_that_there_are(tmp_path):
    store = tmp_path / "site.db"
    office = Office(store)
    waiting = [office.site.choose(ARMS).id for _ in range(2)]
    office.site.node.save()
    office.change({"dimension": 4})
    office.change({"drop": "1"})
    office.site.learn(waiting[0], 1.0)
    office.site.close()
    office.site = fb.Site("async-linucb", store=store, **FEDERATION)
    assert (office.site.revision, office.site.pending) == (2, 1)
    office.site.learn(waiting[1], 1.0)
    office.talk()
    assert office.server.accounts.observations == {0: 2}
    assert np.diagonal(office.server.node.state.gram).tolist() == [2.0, 0.0, 0.0]
    office.site.close()
    assert kept_in(store).setting.dimension == 3


def test_limits_and_the_end_of_decisions_reach_the_program():
    office = Office()
    office.change(**{"limits.reward": 2.0, "expires": 60.0})
    with pytest.raises(fb.InvalidInput, match="farther from 0 than the limit of 2"):
        office.site.learn(office.site.choose(ARMS), 3.0)
    assert office.site.charter.ending.expires == 60.0


def test_a_policy_is_one_of_the_present_features():
    office = Office()
    office.change({"dimension": 3})
    policy = fb.Policy.from_bytes(office.site.policy().to_bytes())
    assert policy.choose(np.eye(3)) in (0, 1, 2)


def test_a_frozen_site_decides_by_what_it_knew_of_the_features_that_are_left():
    office = Office()
    for _ in range(3):
        office.site.learn(office.site.choose(np.eye(2)[1:]), 1.0)
    office.site.freeze()
    office.change({"dimension": 3})
    office.change({"drop": "0"})
    assert office.site.node.life.deciding.rows.gram.shape[1:] == (2, 2)
    assert np.diagonal(office.site.node.life.deciding.rows.gram[0]).tolist() == [3.0, 0.0]
    office.site.learn(office.site.choose(np.eye(2)), 1.0)
    office.site.thaw()
    office.site.choose(np.eye(2))


def test_a_policy_of_before_is_loaded_with_the_features_that_are_left():
    office = Office()
    for _ in range(3):
        office.site.learn(office.site.choose(np.eye(2)[1:]), 1.0)
    policy = fb.Policy.from_bytes(office.site.policy().to_bytes())
    office.change({"drop": "0", "dimension": "2"})
    office.site.load(policy)
    assert np.diagonal(office.site.node.life.deciding.rows.gram[0]).tolist() == [3.0, 0.0]
    assert policy.choose(np.eye(2)) in (0, 1)
    later = office.site.policy()
    with pytest.raises(fb.InvalidInput, match="taken with features of which this site has not heard"):
        Office().site.load(later)


def test_a_control_goes_on_with_the_features_that_it_knows():
    office = Office()
    for _ in range(3):
        office.site.learn(office.site.choose(np.eye(2)[1:]), 1.0)
    office.site.control(office.site.policy(), share=0.5)
    office.change({"drop": "0", "dimension": "2"})
    seen = office.site.node.life.node.as_they_were(np.array([[5.0, 7.0]]), 0)
    assert seen.tolist() == [[0.0, 5.0]]  # the first is gone, the last has come
    for _ in range(20):
        office.site.learn(office.site.choose(np.eye(2)), 1.0)
    assert office.site.comparison.rewards[True] > 0
    office.change({"dimension": "3"})
    assert office.site.comparison is None
