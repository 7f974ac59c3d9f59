"""Federations that notice changes equal the literal transcription, and what was before a restart counts no more."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.linear.shared import restarting
from fedbandit.algorithms.linear.shared.restarting import Alarm
from fedbandit.core.interfaces import Outgoing
from fedbandit.protocol.fading import SPAN
from fedbandit.simulation.in_process import simulate
from reference import restarts as reference
from reference.recorded import linear_turns
from samples.worlds import recorded

SIZES = {"clients": 6, "arms": 5, "dimension": 4}
CASES = [
    ("fedlinucb", reference.FedLinUCB, {"upload_threshold": 1.2, "use_own": True}),
    ("fedlinucb", reference.FedLinUCB, {"upload_threshold": 1.5, "use_own": False}),
    ("async-linucb", reference.AsyncLinUCB, {"upload_threshold": 1.2, "download_threshold": 5.0}),
    ("async-linucb", reference.AsyncLinUCB, {"upload_threshold": 2.0, "download_threshold": 1.1}),
]


def changing(*seeds, turns=150, **more):
    """Worlds one after the other, each with a theta of its own."""
    parts = [linear_turns(seed=seed, turns=turns, **{**SIZES, "noise": 0.1, **more}) for seed in seeds]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@pytest.fixture
def noticed(monkeypatch):
    """The turns of alarms, with who gave them, and of restarts, of all that is simulated."""
    found = SimpleNamespace(alarms=[], restarts=[])
    learn, age = restarting.WatchingClients.learn, restarting.WatchingClients.age

    def watched_learn(side, state, who, seen):
        outgoing = learn(side, state, who, seen)
        for each in outgoing:
            if isinstance(each.message, Alarm):
                found.alarms += [(int(state.watch.turns.sum()) - 1, client) for client in each.clients.tolist()]
        return outgoing

    def watched_age(side, state, weight):
        age(side, state, weight)
        if weight == 0.0:
            found.restarts.append(int(state.watch.turns.sum()) - 1)

    monkeypatch.setattr(restarting.WatchingClients, "learn", watched_learn)
    monkeypatch.setattr(restarting.WatchingClients, "age", watched_age)
    return found


@pytest.mark.parametrize("quorum", [1, 3])
@pytest.mark.parametrize(("name", "literally", "parameters"), CASES)
def test_it_equals_the_transcription(tmp_path, noticed, name, literally, parameters, quorum):
    arrays = changing(0, 1, 0, noise=0.15)
    literal = literally(arrays, restart_quorum=quorum, **parameters).play()
    algorithm = fb.algorithm(name, restart_quorum=quorum, **parameters)
    trace, wire = simulate(algorithm, recorded(tmp_path, arrays), len(arrays["client"]))
    assert len(literal["restarts"]) >= 2, "the case shows something"
    assert trace.choice.tolist() == literal["arm"]
    assert noticed.alarms == literal["alarms"]
    assert noticed.restarts == literal["restarts"]
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    assert np.cumsum(trace.scalars).tolist() == literal["scalars"].tolist()
    clients_told = SIZES["clients"] * len(literal["restarts"])
    hellos = SIZES["clients"] if name == "async-linucb" else 0
    assert (
        len(literal["alarms"]) + clients_told <= trace.ledger.signals <= len(literal["alarms"]) + clients_told + hellos
    )
    np.testing.assert_allclose(wire.server.state.within.gram, literal["server"][0], atol=1e-9)
    np.testing.assert_allclose(wire.server.state.within.moment, literal["server"][1], atol=1e-9)


@pytest.mark.parametrize("more", [{}, {"delivery": "upload"}, {"delivery": "push"}, {"precision": "float64"}])
def test_lean_clients_begin_anew_and_ask_soon(tmp_path, noticed, more):
    arrays = changing(0, 1, turns=300)
    environment, turns = recorded(tmp_path, arrays), len(arrays["client"])
    kept, _ = simulate(fb.algorithm("lean-linucb", **more), environment, turns)
    trace, wire = simulate(fb.algorithm("lean-linucb", restart_quorum=3, **more), environment, turns)
    (turn,) = noticed.restarts
    assert 300 <= turn < 340
    assert trace.choice[: turn + 1].tolist() == kept.choice[: turn + 1].tolist()
    assert trace.regret[turn:].sum() < 0.2 * kept.regret[turn:].sum()
    if more.get("delivery", "turn") == "turn":
        assert (wire.clients.state.rows.turns[:6] < 60).all(), "turns count from the restart"


def turns_of_questions(client, server, turns):
    """Play turns by hand, all carried at once; return those before which the client asks."""
    found = []
    for turn in range(turns):
        questions = client.ask()
        found += [turn] if questions else []
        client_hears(client, server, questions)
        client.choose([[0.5, 0.25]])
        client_hears(client, server, client.learn(0.0))
    return found


def client_hears(client, server, envelopes):
    for answer in [answer for envelope in envelopes for answer in server.receive(envelope)]:
        client.receive(answer)


def test_after_a_restart_a_client_asks_as_often_as_when_it_was_new():
    how = {"dimension": 2, "clients": 1, "restart_quorum": 1}
    client, server = fb.Client("lean-linucb", **how), fb.Server("lean-linucb", **how)
    welcome, *others = turns_of_questions(client, server, turns=60)
    assert welcome == 0
    assert others[-1] - others[-2] > others[1] - others[0], "ever more rarely"
    client_hears(client, server, client.node._seal([Outgoing(np.array([0]), Alarm(np.array([1])))]))
    assert client.node.clock == SPAN
    assert turns_of_questions(client, server, turns=60) == others


@pytest.mark.parametrize("threshold", [1.0, 1.3])
@pytest.mark.parametrize("name", ["fedlinucb", "async-linucb", "lean-linucb"])
def test_alarms_without_a_quorum_change_nothing(tmp_path, noticed, name, threshold):
    """Also in turns that have an alarm and an upload: the answer holds both."""
    arrays = changing(3, turns=600)
    arrays["reward"][np.flatnonzero(arrays["client"] == 0)[[20, 21, 60, 61]]] += 3.0  # one client has wild errors
    environment, parameters = recorded(tmp_path, arrays), {"upload_threshold": threshold}
    plain, _ = simulate(fb.algorithm(name, **parameters), environment, 600)
    watching, _ = simulate(fb.algorithm(name, restart_quorum=2, **parameters), environment, 600)
    assert [client for _, client in noticed.alarms] == [0, 0, 0, 0], "twice, and each time it changes its mind"
    assert not noticed.restarts
    for column in ("choice", "messages", "scalars"):
        np.testing.assert_array_equal(getattr(watching, column), getattr(plain, column))
    extra = watching.ledger.signals - plain.ledger.signals
    assert extra == len(noticed.alarms)
    assert watching.ledger.bytes > plain.ledger.bytes


def test_it_goes_with_lots_and_a_discount(tmp_path, noticed):
    arrays = changing(0, 1, turns=300)
    arrays["epoch"] = np.arange(600) // 50
    environment = recorded(tmp_path, arrays)
    algorithm = fb.algorithm("async-linucb", restart_quorum=2, discount=0.9, exploration="igw", explore=0.01)
    _, wire = simulate(algorithm, environment, 600)
    assert noticed.restarts
    assert wire.clients.clock == wire.server.clock == len(noticed.restarts) * SPAN + 11


@pytest.mark.parametrize(
    "name", ["local-linucb", "sync-linucb", "pooled-linucb", "async-linucb-am", "clustered-linucb"]
)
def test_what_cannot_restart_has_no_quorum(name):
    with pytest.raises(fb.InvalidInput, match="has no parameter 'restart_quorum'"):
        fb.algorithm(name, restart_quorum=3)


def test_a_quorum_that_cannot_be_is_refused():
    world = fb.environment("linear", clients=2, arms=2, dimension=2)
    with pytest.raises(fb.InvalidInput, match="restart_quorum=3 is more than the 2 clients: give at most 2"):
        fb.run("fedlinucb", world, turns=4, restart_quorum=3)
    with pytest.raises(fb.InvalidInput, match="restart_quorum=1 needs clients that hear of one another"):
        fb.run("async-linucb", world, turns=4, restart_quorum=1, upload_threshold="inf", download_threshold="inf")
    with pytest.raises(fb.InvalidInput, match="restart_quorum must be"):
        fb.algorithm("fedlinucb", restart_quorum=-1)


def test_a_site_does_not_take_part_in_restarts():
    with pytest.raises(fb.InvalidInput, match="restart_quorum=1 is for simulations and nodes that you carry messages"):
        fb.Site("lean-linucb", dimension=2, clients=2, restart_quorum=1)
