"""Every algorithm runs on the nodes of a deployment: what they journal gives its state back, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from contract.small_worlds import algorithm_names, deployed_names, small_setting, small_turns
from fedbandit.core.deadlines import MeetsDeadlines
from fedbandit.core.messages import Download, Upload
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.schema import Schema
from fedbandit.simulation.faults.run import FAULTS, FaultyRun
from fedbandit.simulation.replay import replay
from fedbandit.wire.frame import Kind, with_numbers
from fedbandit.wire.state import encode_state
from samples.needed import algorithm, needed

NO_LOST_DISKS = {name: weight for name, weight in FAULTS.items() if name not in ("restore", "lose_disk")}


def rounds_of(name):
    return 6 if name.startswith("fn-") else 12  # a turn of a network takes far longer


def deployed(name, seed, faults, kind=FaultyRun):
    rounds = rounds_of(name)
    charter = Charter.named(name, small_setting(name, rounds), **needed(name))
    return kind(charter, small_turns(name, rounds, seed), seed, faults=faults).run()


def server_state(run):
    return encode_state(run.coordinator.node.node.state)


@pytest.fixture(scope="module", params=deployed_names())
def quiet(request):
    """A run of each algorithm in which nothing goes wrong, to be looked at and left as it is."""
    return deployed(request.param, seed=1, faults={})


def test_the_log_of_a_deployed_run_replayed_in_process_gives_the_same_state(quiet):
    assert encode_state(replay(quiet.charter, quiet.coordinator.disk.records()).state) == server_state(quiet)


@pytest.mark.parametrize("name", deployed_names())
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_whatever_goes_wrong_the_nodes_come_to_rest_and_the_log_tells_the_whole_truth(name, seed):
    run = deployed(name, seed, NO_LOST_DISKS)
    assert encode_state(replay(run.charter, run.coordinator.disk.records()).state) == server_state(run)
    assert not run.history.refused
    assert all(not site.node.life.outbox.frames for site in run.sites)


class LiedTo(FaultyRun):
    """A run in which a site says, now and then, that it has a download that was never sent."""

    def _lie(self):
        node = self.coordinator.node
        if node is not None:
            ask = with_numbers(Kind.ASK, 0, node.node.epoch, node.node.sent + 1, 1, 0, 1).to_bytes()
            self.attempt(self.coordinator, lambda: node.receive(ask, float(self.clock), 0))


@pytest.mark.parametrize("name", deployed_names())
def test_a_new_epoch_of_downloads_at_any_time_leaves_nobody_waiting(name):
    run = deployed(name, seed=4, faults={**NO_LOST_DISKS, "lie": 3.0}, kind=LiedTo)
    assert run.coordinator.node.node.epoch > 1
    assert encode_state(replay(run.charter, run.coordinator.disk.records()).state) == server_state(run)
    assert not run.history.refused
    assert all(not site.node.life.outbox.frames for site in run.sites)
    assert not run.coordinator.node.awaited().size or any(site.node.life.in_exchange for site in run.sites)


def known_at(site):
    """What a site knows; one that asks questions asks when it is opened, and remembers that."""
    node = site.node.life.node
    return encode_state(node.state.rows if node.side.asks else node.state)


@pytest.mark.parametrize("name", deployed_names())
def test_nodes_that_are_opened_again_are_the_same(name):
    run = deployed(name, seed=2, faults={})
    before = server_state(run)
    sites = [known_at(site) for site in run.sites]
    for host in run.hosts:
        host.crash(np.random.default_rng(0))
        host.boot()
    assert server_state(run) == before
    assert [known_at(site) for site in run.sites] == sites


def test_a_snapshot_and_the_rest_of_the_log_are_the_whole_log(quiet):
    records = [entry.data for entry in quiet.coordinator.disk.records()]
    journal = MemoryJournal()
    for number, record in enumerate(records):
        journal.append(record)
        if number == len(records) // 2:
            DurableServer(quiet.charter, journal, epoch=1, now=0.0).save()
    assert encode_state(DurableServer(quiet.charter, journal, epoch=1, now=0.0).node.state) == server_state(quiet)


@pytest.mark.parametrize("name", algorithm_names())
def test_uploads_and_downloads_are_declared_with_their_shapes(name):
    setting = small_setting(name, rounds_of(name))
    sides = algorithm(name).build(setting)
    for side, direction in ((sides.server, Upload), (sides.clients, Download)):
        schema = Schema.of(side, direction, setting).require_shapes()
        assert all(kind.split(".")[0] != "test" for kind in schema.known)


@pytest.mark.parametrize("name", algorithm_names())
def test_deadlines_are_met_by_servers_that_wait_for_all(name):
    side = algorithm(name).build(small_setting(name, rounds_of(name))).server
    if isinstance(side, MeetsDeadlines):
        state = side.start(3)
        assert side.awaited(state).size == 0
        assert not side.deadline(state)
