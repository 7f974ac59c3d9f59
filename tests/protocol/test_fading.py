"""Nodes keep apart what was observed before a restart and after it, in whatever order envelopes arrive."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.linear.shared.exchange import note_signal
from fedbandit.algorithms.linear.shared.restarting import Alarm, Restart
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.interfaces import Outgoing
from fedbandit.protocol.changing import changed
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.fading import SPAN
from fedbandit.protocol.revisions import Agreed
from fedbandit.protocol.server import ServerNode


def federation(clients=1, quorum=1, **parameters):
    """A server and its clients, by hand: every observation is uploaded."""
    how = {"dimension": 2, "clients": clients, "restart_quorum": quorum, **parameters}
    name = how.pop("name", "async-linucb")
    return [fb.Client(name, number=each, upload_threshold=1.0, **how) for each in range(clients)], fb.Server(
        name, **how, **({} if name != "fedlinucb" else {"upload_threshold": 1.0})
    )


def turn(client, reward, arm=(0.5, 0.25)):
    client.choose([list(arm)])
    return client.learn(reward)


def alarm(client, changes=1):
    """An alarm as a client would send it now."""
    (envelope,) = client.node._seal([Outgoing(np.array([0]), Alarm(np.array([changes])))])
    return envelope


def deliver(server, clients, envelopes):
    for envelope in envelopes:
        for answer in server.receive(envelope):
            for client in clients:
                client.receive(answer)


@pytest.mark.parametrize("order", range(200))
def test_what_was_sent_before_a_restart_counts_nothing_whenever_it_arrives(order):
    """Sums of dyadic numbers are exact: 200 orders of arrival, one result, compared with ==."""
    rng = np.random.default_rng(order)
    clients, server = federation(clients=3, quorum=1, discount=0.5)
    before = [envelope for client in clients for reward in (1.0, -0.5) for envelope in turn(client, reward)]
    late = rng.random(len(before)) < 0.5
    deliver(server, [], [each for each, is_late in zip(before, late, strict=True) if not is_late])
    deliver(server, clients, [alarm(clients[0])])
    after = [envelope for client in clients for envelope in turn(client, 0.25)]
    mixed = [each for each, is_late in zip(before, late, strict=True) if is_late] + after
    deliver(server, [], [mixed[place] for place in rng.permutation(len(mixed))])
    x = np.array([0.5, 0.25])
    np.testing.assert_array_equal(server.node.state.within.gram, 3 * np.outer(x, x))
    np.testing.assert_array_equal(server.node.state.within.moment, 3 * 0.25 * x)
    assert server.node.clock == SPAN


def test_epochs_go_on_across_a_restart():
    clients, server = federation(clients=2, quorum=1, discount=0.5)
    deliver(server, clients, [alarm(clients[0])])
    uploads = turn(clients[0], 1.0)
    clients[1].tick(2)
    server.tick(3)
    deliver(server, clients, uploads)
    np.testing.assert_array_equal(server.node.state.within.moment, 0.5**3 * np.array([0.5, 0.25]))
    assert clients[1].node.clock == SPAN + 2
    with pytest.raises(fb.InvalidInput, match=f"epoch must be below {SPAN}, not {SPAN}: count from"):
        server.tick(SPAN)


@pytest.mark.parametrize("quorum", [0, 1])
@pytest.mark.parametrize("epoch", [-1, 0, 4, 5])
def test_an_epoch_that_is_not_later_changes_nothing(quorum, epoch):
    (client,), server = federation(quorum=quorum, discount=0.5)
    deliver(server, [client], [alarm(client)] if quorum else [])
    for node in (client, server):
        node.tick(5)
    deliver(server, [client], turn(client, 1.0))
    before = server.node.clock, server.node.side.sums(server.node.state)[0].copy()
    server.tick(epoch)
    assert server.node.clock == before[0] == quorum * SPAN + 5
    np.testing.assert_array_equal(server.node.side.sums(server.node.state)[0], before[1])
    assert before[1].any()


def test_an_upload_of_a_restart_that_has_not_begun_is_refused_and_changes_nothing():
    clients, server = federation()
    deliver(server, clients, [alarm(clients[0])])
    another = federation()[1]
    (upload, *_) = turn(clients[0], 1.0)
    with pytest.raises(fb.ProtocolError, match="client 0 tells of restart 1, and this server has begun 0"):
        another.receive(upload)
    assert not another.node.state.within.gram.any()
    assert another.node.clock == 0


def test_of_two_alarms_that_overtook_each_other_the_later_counts_and_those_of_before_a_restart_do_not():
    clients, server = federation(clients=2, quorum=2)
    first, second = alarm(clients[0], 1), alarm(clients[0], 2)
    deliver(server, clients, [second, first, alarm(clients[1], 1)])
    assert server.node.state.restarts == 0, "client 0 has changed its mind"
    late = alarm(clients[1], 3)
    deliver(server, clients, [alarm(clients[0], 3)])
    assert server.node.state.restarts == 1
    deliver(server, clients, [late, alarm(clients[0], 1)])
    assert server.node.state.restarts == 1, "client 1 found that of the world before"


def test_a_reward_of_a_choice_before_a_restart_is_not_learnt_from():
    (client,), server = federation()
    client.choose([[0.5, 0.25]])
    deliver(server, [client], [alarm(client)])
    client.learn(100.0)
    assert not client.node.state.rows.gram.any()
    assert client.node.state.watch.turns[0] == 0


def test_a_client_whose_answer_an_alarm_crosses_may_upload_again():
    (client,), server = federation(name="fedlinucb", quorum=1)
    (upload,) = turn(client, 1.0)
    crossing = alarm(client, 2)
    note_signal(client.node.state.exchange, 0)
    (answer,) = server.receive(upload)
    client.receive(answer)
    server.receive(crossing)
    assert len(turn(client, 1.0)) == 1


def test_a_restart_tells_all_and_is_a_signal():
    clients, server = federation(clients=3)
    (told,) = server.receive(alarm(clients[1]))
    assert isinstance(told.message, Restart)
    assert told.clients.tolist() == [0, 1, 2]
    assert told.message.is_signal()


@pytest.mark.parametrize(("here", "there"), [(0.5, 1.0), (1.0, 0.5)])
def test_a_server_refuses_what_comes_from_a_federation_that_forgets_otherwise_and_keeps_its_sums(here, there):
    strangers, _ = federation(quorum=0, discount=there)
    _, server = federation(quorum=0, discount=here)
    for envelope in turn(strangers[0], 1.0):
        with pytest.raises(ProtocolError, match="give all the same discount"):
            server.receive(envelope)
    assert not server.node.state.gram.any()


def test_a_revision_that_knows_nothing_of_the_form_of_the_sums_is_refused_and_changes_nothing():
    charter = Charter.named("async-linucb", fb.Setting(clients=1, arms=2, dimension=2, horizon=1))
    node = ServerNode(charter.build().server, 1)
    grown = changed(charter, {"dimension": 3})
    node.know(Agreed(charter).next(grown.charter, places=grown.places))
    state = node.state
    with pytest.raises(InvalidInput, match="knows nothing of the form in which sums are here"):
        node.take_up(charter.build().server, Agreed(charter))
    assert node.state is state
