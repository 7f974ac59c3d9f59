"""Every parameter that says that it can change at once does so in a deployment, and the log tells the whole truth."""

from __future__ import annotations

import pytest

import fedbandit as fb
from contract.small_worlds import algorithm_names, deployed_names, small_setting, small_turns
from fedbandit.core.changes import Change
from fedbandit.durable.coordinator.retuning import Retuned
from fedbandit.protocol.changing import changed
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.run import FaultyRun
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from samples.needed import needed

OTHERS = {  # a value for each parameter that can change, other than its default
    "explore": 0.25, "noise": 0.3, "delta": 0.05, "exploration": "thompson", "alpha": 0.5, "greed": 3.0,
    "upload_threshold": 1.5, "download_threshold": 1.25, "sync_threshold": 0.75, "ask_growth": 1.5, "test_level": 0.2,
    "bound": "paper", "horizon": 500, "alternations": 7, "noise_bound": 0.25, "alpha_scale": 0.5, "refit_every": 2,
    "beta": 1.5, "gap": 2.0, "private_penalty": 0.1, "nu_local": 0.2, "nu_pooled": 0.2, "width": 0.3,
    "smallest_upload": 2,
}  # fmt: skip


def changeable(name):
    return [each.name for each in fb.algorithms[name].describe() if each.change is Change.AT_ONCE]


class ChangedRun(FaultyRun):
    """A run in which all that can change does so once, one after the other."""

    def __post_init__(self):
        super().__post_init__()
        names = changeable(self.charter.algorithm.id)
        steps = len(self.turns) // (len(names) + 1)
        self.wanted = {(place + 1) * steps: name for place, name in enumerate(names)}
        self.made = []

    def decide(self):
        super().decide()
        name, node = self.wanted.pop(self.turn, None), self.coordinator.node
        if name is not None:
            node.revise(changed(node.charter, {name: OTHERS[name]}), Retuned(), self.now)
            self.made.append(name)
            self.commit(self.coordinator)


@pytest.mark.parametrize("name", deployed_names())
def test_all_that_can_change_at_once_does_so_at_the_coordinator_and_at_every_site(name):
    rounds = 6 if name.startswith(("fn-", "neural")) else 12
    charter = Charter.named(name, small_setting(name, rounds), **needed(name))
    run = ChangedRun(charter, small_turns(name, rounds, seed=1), seed=1, faults={}).run()
    assert run.made == changeable(name)
    agreed = run.coordinator.node.agreed
    assert agreed.count == len(run.made)
    assert all(site.node.life.agreed == agreed.with_charter(site.node.charter) for site in run.sites)
    assert all(site.node.charter == agreed.charter for site in run.sites)
    assert {each: getattr(agreed.charter.algorithm, each) for each in run.made} == {
        each: OTHERS[each] for each in run.made
    }
    assert not run.history.refused
    assert all(not site.node.life.outbox.frames for site in run.sites)
    state = encode_state(run.coordinator.node.node.state)
    assert encode_state(replay(charter, run.coordinator.disk.records()).state) == state
    for host in run.hosts:
        known = encode_state(host.node.life.node.state) if host.number >= 0 else state
        before = host.node
        host.disk.sync()
        host.boot()
        if host.number < 0 or not before.life.side.asks:
            again = host.node.life.node.state if host.number >= 0 else host.node.node.state
            assert encode_state(again) == known


@pytest.mark.parametrize("name", algorithm_names())
def test_what_cannot_change_says_so(name):
    charter = Charter.named(name, small_setting(name, 6))
    never = [each for each in fb.algorithms[name].describe() if each.change is Change.NEVER]
    for each in never:
        with pytest.raises(fb.InvalidInput, match=f"{each.name} can change only as a new federation: begin"):
            changed(charter, {each.name: each.default})
