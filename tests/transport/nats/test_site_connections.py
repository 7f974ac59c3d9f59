"""Which connections are ended: those of sites that have lasted long, or all in one account; never the coordinator's."""

from __future__ import annotations

import asyncio
import json
from operator import itemgetter
from types import SimpleNamespace

import nats
import pytest

from fedbandit.transport.nats import site_connections
from fedbandit.transport.nats.site_connections import end_connections

NOW = "2026-01-01T12:00:00.123456789Z"
CONNECTIONS = [
    {"cid": 1, "account": "coordinator", "start": "2026-01-01T10:00:00Z"},
    {"cid": 2, "account": "demo.0", "start": "2026-01-01T10:30:00Z"},
    {"cid": 3, "start": "2026-01-01T11:00:00Z"},  # still at the door: the broker waits to hear whether to let it in
    {"cid": 6, "account": "demo.0", "start": "2026-01-01T10:59:59.123456789Z"},
    {"cid": 7, "account": "demo.0", "start": "2026-01-01T11:00:00.987654321Z"},
    {"cid": 4, "account": "demo.1", "start": "2026-01-01T11:59:59.9Z"},
    {"cid": 5, "account": "demo.1", "start": NOW},
]


class AskedBroker:
    """Answers as a broker does, and notes which connections it is told to end."""

    def __init__(self, servers=("server",), connections=CONNECTIONS):
        self.servers, self.connections = servers, connections
        self.ended, self.questions = [], 0

    def new_inbox(self):
        return "inbox"

    async def subscribe(self, subject, max_msgs):
        assert subject == "inbox"
        self.answers = []
        return self

    async def publish(self, subject, data, reply):
        asked = json.loads(data)
        self.questions += 1
        assert self.questions < 20, "it asks for ever"
        found = [each for each in self.connections if asked.get("acc") in (None, each.get("account"))]
        found = found[asked["offset"] : asked["offset"] + asked["limit"]]
        for server in self.servers:
            told = {"server": {"id": server}, "data": {"now": NOW, "connections": found}}
            self.answers.append(SimpleNamespace(data=json.dumps(told), headers=None))

    async def next_msg(self, timeout):
        if not self.answers:
            raise nats.errors.TimeoutError
        return self.answers.pop(0)

    async def unsubscribe(self):
        pass

    async def request(self, subject, data, timeout):
        (server,) = [each for each in self.servers if each in subject]
        self.ended.append(json.loads(data)["cid"] if server == "server" else server)
        return SimpleNamespace(data=b"{}")


@pytest.mark.parametrize(
    ("older_than", "account", "ended"),
    [
        (3600.0, None, [2, 6]),
        (7200.0, None, []),
        (-1.0, None, [2, 6, 7, 4, 5]),
        (-1.0, "demo.1", [4, 5]),
        (-1.0, "demo.7", []),
    ],
)
def test_connections_are_ended_by_age_and_by_account(older_than, account, ended):
    broker = AskedBroker()
    assert asyncio.run(end_connections(broker, older_than, account)) == len(ended)
    assert broker.ended == ended


OF_TWO = [{**each, "account": "shops.0"} if each["cid"] > 5 else each for each in CONNECTIONS]


@pytest.mark.parametrize(
    ("spared", "ended"), [({"demo"}, [6]), ({"shops"}, [2]), ({"demo", "shops"}, []), ((), [2, 6])]
)
def test_those_of_federations_that_are_served_elsewhere_are_left_to_their_coordinator(spared, ended):
    broker = AskedBroker(connections=OF_TWO)
    assert asyncio.run(end_connections(broker, 3600.0, spared=spared)) == len(ended)
    assert (broker.ended, broker.questions) == (ended, 1)


@pytest.mark.parametrize(
    ("older_than", "spared", "ended", "questions"),
    [
        (3600.0, {"demo"}, [6], 3),  # it is the third
        (3600.0, {"demo", "shops"}, [], 4),  # the fourth is too young, and so are all after it
        (3600.0, {"shops"}, [2], 2),
        (-1.0, {"demo", "shops"}, [], 8),
        (-1.0, {"demo"}, [6], 3),
    ],
)
def test_however_many_of_the_oldest_are_spared_those_after_them_are_ended(
    monkeypatch, older_than, spared, ended, questions
):
    monkeypatch.setattr(site_connections, "AT_ONCE", 1)
    broker = AskedBroker(connections=sorted(OF_TWO, key=itemgetter("start")))
    assert asyncio.run(end_connections(broker, older_than, spared=spared)) == len(ended)
    assert (broker.ended, broker.questions) == (ended, questions)


def test_whoever_was_invited_is_not_spared_though_a_federation_is_called_as_their_account():
    first, second = CONNECTIONS[:2]
    broker = AskedBroker(connections=[{**first, "account": "joining"}, {**second, "account": "joining.0"}])
    assert asyncio.run(end_connections(broker, 60.0, spared={"joining"})) == 1
    assert broker.ended == [1]


def test_every_broker_of_a_cluster_ends_its_own_and_one_that_is_away_is_not_waited_for():
    broker = AskedBroker(["server", "two"])
    assert asyncio.run(end_connections(broker, -1.0, "demo.1", brokers=3)) == 4
    assert broker.ended == [4, 5, "two", "two"]


def test_where_nobody_answers_nobody_is_ended():
    class Nobody(AskedBroker):
        async def publish(self, subject, data, reply):
            self.answers.append(SimpleNamespace(data=b"", headers={"Status": "503"}))

    assert asyncio.run(end_connections(Nobody(), -1.0)) == 0
