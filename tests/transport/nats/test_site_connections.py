"""Which connections are ended: those of sites that have lasted long, or all in one account; never the coordinator's."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest

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

    def __init__(self):
        self.ended = []

    async def request(self, subject, data, timeout):
        asked = json.loads(data)
        if subject.endswith("KICK"):
            assert "server" in subject
            self.ended.append(asked["cid"])
            return SimpleNamespace(data=b"{}")
        found = [each for each in CONNECTIONS if asked.get("acc") in (None, each.get("account"))]
        return SimpleNamespace(
            data=json.dumps({"server": {"id": "server"}, "data": {"now": NOW, "connections": found}})
        )


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
