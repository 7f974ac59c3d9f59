"""The coordinator as a process, with sites beside it: what it promises, whatever the algorithm and the journal."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import fedbandit as fb
from contract.small_worlds import CLIENTS, NEEDS_JAX, small_setting, small_turns
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.replay import replay
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import encode_state
from samples.deployed import Coordinator, all_is_sent, open_sites
from samples.waiting import until

ROUNDS = 8
FAMILIES = {  # one algorithm of each family, by what the names of its messages begin with
    "linear": "async-linucb",
    "dueling": "fldb-gd",
    "glm": "fedglb-ucb",
    "lasso": "fedego-lasso",
}


def table_of(name, **more):
    setting = small_setting(name, ROUNDS)
    sizes = {"clients": CLIENTS, "arms": setting.arms, "dimension": setting.dimension, "horizon": setting.horizon}
    return {"algorithm": name, **sizes, "keep_log": True, **more}


def charter_of(table):
    setting = fb.Setting(table["clients"], table["arms"], table["dimension"], table["horizon"])
    return Charter.named(table["algorithm"], setting, **table.get("set", {}))


def connect(sites, broker, name):
    for site in sites:
        site.connect(f"{broker.url}/{name}", every=0.3, patience=0.1)


def play(sites, name, seed=1):
    """Let every site have its turns, as fast as they come."""
    turns = small_turns(name, ROUNDS, seed)
    for turn in range(len(turns)):
        now, site = slice(turn, turn + 1), sites[turns.client[turn]]
        decision = site.choose(turns.features[turn])
        choice = np.array([decision.arm])
        site.learn(decision.id, float(turns.outcomes.feedback(now, choice)[0]))


def is_at_rest(sites):
    """Nothing is unsent, and no reward waits for a round to end."""
    return all_is_sent(sites) and all(not site.node.life.waiting for site in sites)


def finish(sites, coordinator):
    until(lambda: is_at_rest(sites), "the sites")
    for site in sites:
        site.close()
    assert coordinator.stop() == 0, coordinator.log.read_text()


def state_in(journal_url, name, charter):
    """What the journal gives after a restart, and the replay of its whole log in process."""
    journal = open_journal(journal_url, name, keep_log=True)
    state = encode_state(DurableServer(charter, journal, epoch=1, now=0.0).node.state)
    again = encode_state(replay(charter, journal.records()).state)
    journal.close()
    return state, again


def deploy(coordinator, broker, tables):
    """Let the sites of all federations have their turns side by side, and end."""
    sites = {name: open_sites(table) for name, table in tables.items()}
    for name in tables:
        connect(sites[name], broker, name)
    for name, table in tables.items():
        play(sites[name], table["algorithm"])
    finish([site for each in sites.values() for site in each], coordinator)


def require_truth(journals, name, table):
    """Require of a federation's log that it gives the state when it is replayed in process."""
    charter = charter_of(table)
    state, again = state_in(journals, name, charter)
    assert state == again
    assert state != encode_state(charter.build().server.start(CLIENTS)), "nothing has happened"


@pytest.mark.slow
def test_sums_fade_as_epochs_pass_at_a_real_broker(tmp_path, serve, broker):
    """Both ends read a clock: what they hold together is what the epochs of the decisions have left."""
    how = {"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0, "discount": 0.5}
    table = table_of("async-linucb", set=how, epoch_seconds=0.25)
    coordinator = serve({"fading": table})
    sites = open_sites(table, epoch_seconds=0.25)
    connect(sites, broker, "fading")
    decisions = []

    def play_on():
        turn = len(decisions)
        site, arm = sites[turn % CLIENTS], np.eye(table["dimension"])[turn % table["dimension"]]
        decision = site.choose(arm[np.newaxis])
        decisions.append((site.node.life.node.clock, arm))
        site.learn(decision, 1.0)
        return decisions[-1][0] > decisions[0][0] + 2

    until(play_on, "three epochs")
    finish(sites, coordinator)
    charter = Charter.named(
        "async-linucb",
        fb.Setting(CLIENTS, table["arms"], table["dimension"], table["horizon"]),
        epoch_seconds=0.25,
        **how,
    )
    state, again = state_in(str(tmp_path / "journals"), "fading", charter)
    assert state == again
    journal = open_journal(str(tmp_path / "journals"), "fading", keep_log=True)
    server = DurableServer(charter, journal, epoch=1, now=0.0)
    journal.close()
    expected = sum(0.5 ** (server.node.clock - epoch) * arm for epoch, arm in decisions)
    np.testing.assert_allclose(server.node.state.moment, expected, rtol=1e-9)


@pytest.fixture(scope="module")
def families(tmp_path_factory, broker):
    """The journals of one coordinator that has served a federation of each family, and their tables."""
    folder = tmp_path_factory.mktemp("families")
    tables = {family: table_of(name) for family, name in FAMILIES.items()}
    coordinator = Coordinator(folder, broker.url, tables).start()
    try:
        deploy(coordinator.wait(), broker, tables)
    finally:
        coordinator.end()
    return str(folder / "journals"), tables


@pytest.mark.parametrize("family", FAMILIES)
def test_the_log_of_a_deployed_run_replayed_in_process_gives_the_same_state(families, family):
    journals, tables = families
    require_truth(journals, family, tables[family])


@NEEDS_JAX
@pytest.mark.slow  # what is compiled first takes seconds, in every process
def test_so_does_the_log_of_a_deployed_run_with_networks(tmp_path, serve, broker):
    tables = {"neural": table_of("fn-ucb-less", set={"width": 4, "train_steps": 2})}
    deploy(serve(tables), broker, tables)
    require_truth(str(tmp_path / "journals"), "neural", tables["neural"])


@pytest.mark.parametrize("family", FAMILIES)
def test_federations_on_one_coordinator_do_not_touch_each_other(families, family):
    """Each journal holds nothing of another federation."""
    journals, tables = families
    journal = open_journal(journals, family, keep_log=True)
    server = DurableServer(charter_of(tables[family]), journal, epoch=1, now=0.0)
    assert sorted(server.accounts.joined) == list(range(CLIENTS))
    records = [ServerRecord.from_bytes(entry.data) for entry in journal.records()]
    frames = [Frame.from_bytes(record.data) for record in records if record.what is RecordKind.FRAME]
    kinds = {decode(frame.body).kind.split(".")[0] for frame in frames if frame.kind is Kind.UPLOAD}
    assert kinds == {family}
    journal.close()


@pytest.mark.slow
def test_a_journal_in_postgresql_survives_a_kill(tmp_path, serve, broker, postgres_url):
    table = table_of("async-linucb", set={"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0})
    coordinator = serve({"elephant": table}, journal=postgres_url)
    sites = open_sites(table)
    connect(sites, broker, "elephant")
    play(sites, "async-linucb", seed=1)
    coordinator.kill()
    play(sites, "async-linucb", seed=2)
    coordinator.start().wait(times=2)
    finish(sites, coordinator)
    state, again = state_in(postgres_url, "elephant", charter_of(table))
    assert state == again


def test_a_round_goes_on_without_a_silent_site_and_says_so(tmp_path, serve, broker):
    table = table_of("sync-linucb", set={"sync_threshold": 0.01}, deadline=0.5)
    coordinator = serve({"silent": table})
    sites = open_sites(table)
    connect(sites[:-1], broker, "silent")
    sites[0].learn(sites[0].choose(np.eye(table["arms"], table["dimension"])).id, 1.0)
    until(lambda: coordinator.said("a round goes on without the sites ["), "the deadline")
    until(lambda: all(site.version > 1 for site in sites[:-1]), "what there is, after the call")
    (told,) = json.loads(coordinator.asked("status.json"))["federations"]
    assert told["sites"][2]["left_out"] >= 1
    connect(sites[-1:], broker, "silent")  # it comes late, with data of its own
    sites[-1].learn(sites[-1].choose(np.eye(table["arms"], table["dimension"])).id, 1.0)
    until(lambda: sites[-1].version, "a download for the late one")
    finish(sites, coordinator)
    journal = open_journal(str(tmp_path / "journals"), "silent", keep_log=True)
    state = DurableServer(charter_of(table), journal, epoch=1, now=0.0).node.state
    assert np.trace(state.gram) == 2.0
    journal.close()


def test_what_sites_sent_while_the_coordinator_was_away_waits_for_it(tmp_path, serve, broker):
    table = table_of("async-linucb", set={"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0})
    coordinator = serve({"away": table})
    assert coordinator.stop() == 0
    sites = open_sites(table)
    for site in sites:
        site.connect(f"{broker.url}/away", every=1000.0)  # it says everything once, and nothing again
    play(sites, "async-linucb")
    coordinator.start().wait(times=2)
    until(lambda: all_is_sent(sites), "acknowledgements")
    until(lambda: all(site.version for site in sites), "downloads")
    finish(sites, coordinator)


@pytest.mark.slow
def test_a_broker_that_loses_its_disk_loses_nothing(tmp_path):
    settings = BrokerSettings(tmp_path / "broker", port=free_port())
    table = table_of("async-linucb", set={"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0})
    running = Broker(settings)
    coordinator = Coordinator(tmp_path, running.url, {"lost": table})
    try:
        coordinator.start().wait()
        sites = open_sites(table)
        connect(sites, running, "lost")
        play(sites, "async-linucb", seed=1)
        running.kill()
        play(sites, "async-linucb", seed=2)
        shutil.rmtree(settings.store)
        running = Broker(settings)
        play(sites, "async-linucb", seed=3)
        finish(sites, coordinator)
    finally:
        coordinator.end()
        running.stop()
    journal = open_journal(str(tmp_path / "journals"), "lost", keep_log=True)
    counted = DurableServer(charter_of(table), journal, epoch=1, now=0.0).accounts.observations
    assert counted == dict.fromkeys(range(CLIENTS), 3 * ROUNDS)
    journal.close()
