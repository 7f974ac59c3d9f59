"""Which connections are ended: those of sites that have lasted longer than they may, and no others."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

from fedbandit.transport.nats.broker_accounts import CONNECTIONS, COORDINATOR
from fedbandit.transport.nats.site_connections import end_older_than

STARTS = {1: "12:00:00.987654321Z", 2: "11:59:59.123456789Z", 3: "11:59:58Z", 4: "10:00:00Z"}


class Listed:
    """A broker that lists connections and notes which it is to end."""

    def __init__(self, accounts):
        connections = [
            {"cid": cid, "account": accounts.get(cid, "demo.1"), "start": f"2026-05-01T{start}"}
            for cid, start in STARTS.items()
        ]
        self.told = {"server": {"id": "BROKER"}, "data": {"now": "2026-05-01T13:00:00Z", "connections": connections}}
        self.ended = []

    async def request(self, subject, data, timeout):
        if subject != CONNECTIONS:
            self.ended.append((subject, json.loads(data)["cid"]))
        return SimpleNamespace(data=json.dumps(self.told).encode())


def test_a_connection_that_is_still_at_the_door_has_no_account_and_is_let_be():
    broker = Listed({})
    del broker.told["data"]["connections"][1]["account"]
    assert asyncio.run(end_older_than(broker, 3600.0)) == 2
    assert [cid for _, cid in broker.ended] == [3, 4]


def test_a_connection_is_ended_when_it_has_lasted_longer_and_the_coordinators_own_never():
    broker = Listed({4: COORDINATOR})
    assert asyncio.run(end_older_than(broker, 3600.0)) == 2
    assert [cid for _, cid in broker.ended] == [2, 3]
    assert all("BROKER" in subject for subject, _ in broker.ended)
