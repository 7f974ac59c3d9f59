"""Uploads on the way of those that come together: whatever goes wrong, nothing is lost and nothing counts twice."""

from __future__ import annotations

import pytest

from fedbandit.durable.coordinator.many_uploads import Arrived
from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.protocol.server import ServerNode
from simulation.checkers import amiss
from simulation.federations import faulty_run

PUSHING = (0, 1)  # async-linucb
GROUP = 25


@pytest.fixture
def taken(monkeypatch):
    """Every upload that can goes that way, by itself; return a list that grows with each of them."""
    found, receive = [], DurableServer.receive

    def together_first(server, data, now, sender=None):
        if sender is not None and server.take_in_together([Arrived(data, sender)], now)[0]:
            found.append(sender)
            return Verdict(Outcome.ACCEPTED)
        return receive(server, data, now, sender)

    monkeypatch.setattr(DurableServer, "receive", together_first)
    return found


def check(first, count, federation):
    found = {seed: each for seed in range(first, first + count) if (each := amiss(faulty_run(seed, federation)))}
    assert not found


@pytest.mark.parametrize("federation", PUSHING)
def test_nothing_is_lost_and_nothing_counts_twice(taken, federation):
    check(0, 8, federation)
    assert len(taken) > 10


@pytest.mark.slow
@pytest.mark.parametrize("federation", PUSHING)
@pytest.mark.parametrize("first", range(8, 508, GROUP))
def test_nothing_is_lost_in_many_more_schedules(taken, first, federation):
    check(first, GROUP, federation)
    assert taken


def test_one_whose_number_is_forgotten_counts_twice_and_is_found(taken, monkeypatch):
    def planted(node, numbers, senders, message, first):
        count, outgoing = node.side.receive_some(node.state, senders, message, first)
        return count, node._seal(outgoing)

    monkeypatch.setattr(ServerNode, "merge_some", planted)
    assert any(amiss(faulty_run(seed, PUSHING[0])) for seed in range(8))
    assert taken
