"""Connections of sites that have lasted long are ended by the coordinator, once an hour.

A broker looks at a certificate when a connection is made, and never again: a site whose credential has expired could
stay connected for ever. One that comes back with a valid credential has lost nothing.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from fedbandit.transport.nats.address import client_library
from fedbandit.transport.nats.broker_accounts import CONNECTIONS, COORDINATOR, END_CONNECTION

AT_ONCE = 256  # connections, so that not all sites come back at the same moment
ANSWER_SECONDS = 5.0


async def end_older_than(broker: Any, seconds: float) -> int:
    """End connections of sites that have lasted longer; return how many. Where the broker lets nobody, none."""
    try:
        oldest = json.dumps({"auth": True, "sort": "start", "limit": AT_ONCE}).encode()
        answer = json.loads((await broker.request(CONNECTIONS, oldest, timeout=ANSWER_SECONDS)).data)
    except client_library().errors.NoRespondersError:  # no TLS, or a configuration of one's own
        return 0
    server, told = answer["server"]["id"], answer["data"]
    now = _time(told["now"])
    ended = 0
    for each in told["connections"]:
        is_of_a_site = each.get("account") not in (None, COORDINATOR)  # at the door it has none yet
        if is_of_a_site and (now - _time(each["start"])).total_seconds() > seconds:
            one = json.dumps({"cid": each["cid"]}).encode()
            await broker.request(END_CONNECTION.replace("*", server), one, timeout=ANSWER_SECONDS)
            ended += 1
    return ended


def _time(text: str) -> datetime:
    """Read a time that may have more digits than Python's have."""
    return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
