"""Connections of sites that the coordinator ends: those that have lasted long, and those of sites that were sent away.

A broker looks at a certificate when a connection is made, and never again: a site whose credential has expired could
stay connected for ever, so after an hour it has to come back. One with a valid credential has lost nothing.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from fedbandit.transport.nats.address import client_library
from fedbandit.transport.nats.broker_accounts import CONNECTIONS, COORDINATOR, END_CONNECTION

AT_ONCE = 256  # connections, so that not all sites come back at the same moment
ANSWER_SECONDS = 5.0


async def end_connections(broker: Any, older_than: float, account: str | None = None) -> int:
    """End connections of sites, or of one site's account, that have lasted for more seconds; return how many.

    Where the broker lets nobody, none.
    """
    which = {"auth": True, "sort": "start", "limit": AT_ONCE} | ({} if account is None else {"acc": account})
    try:
        said = await broker.request(CONNECTIONS, json.dumps(which).encode(), timeout=ANSWER_SECONDS)
        answer = json.loads(said.data)
    except client_library().errors.NoRespondersError:  # no TLS, or a configuration of one's own
        return 0
    server, told = answer["server"]["id"], answer["data"]
    now = _time(told["now"])
    ended = 0
    for each in told["connections"]:
        is_let_in = each.get("account") not in (None, COORDINATOR)  # one that is still at the door has no account yet
        if is_let_in and (now - _time(each["start"])).total_seconds() > older_than:
            one = json.dumps({"cid": each["cid"]}).encode()
            await broker.request(END_CONNECTION.replace("*", server), one, timeout=ANSWER_SECONDS)
            ended += 1
    return ended


def _time(text: str) -> datetime:
    """Read a time that may have more digits than Python's have."""
    return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
