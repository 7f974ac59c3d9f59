"""Connections of sites that the coordinator ends: those that have lasted long, and those of sites that were sent away.

A broker looks at a certificate when a connection is made, and never again: a site whose credential has expired could
stay connected for ever, so after an hour it has to come back. One with a valid credential has lost nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from fedbandit.transport.nats.address import client_library
from fedbandit.transport.nats.broker_accounts import CONNECTIONS, COORDINATOR, END_CONNECTION

AT_ONCE = 256  # connections, so that not all sites come back at the same moment
ANSWER_SECONDS = 5.0
NEXT_SECONDS = 0.5  # for the answers of the other brokers of a cluster
NOBODY = "503"


async def end_connections(
    broker: Any, older_than: float, account: str | None = None, *, brokers: int = 1, spared: Collection[str] = ()
) -> int:
    """End connections of sites, or of one site's account, that have lasted for more seconds; return how many.

    Each of the `brokers` of a cluster is asked for its own. Where the broker lets nobody, none. Sites of federations
    that are `spared` are left to the coordinator that serves them: while it is away, nobody would let them in again.
    """
    which = {"auth": True, "sort": "start", "limit": AT_ONCE} | ({} if account is None else {"acc": account})
    ended, first, are_more = 0, 0, True
    while are_more and not ended:  # all of the oldest may be spared
        question = json.dumps(which | {"offset": first}).encode()
        answers = [json.loads(each) for each in await _ask_all(broker, question, brokers)]
        ended = sum([await _end_some(broker, answer, older_than, spared) for answer in answers])
        are_more = any(_are_more(answer, older_than) for answer in answers)
        first += AT_ONCE
    return ended


async def _ask_all(broker: Any, question: bytes, brokers: int) -> list[bytes]:
    """Return what the brokers of a cluster answer; one that is away is not waited for long after another has."""
    errors = client_library().errors
    inbox = broker.new_inbox()
    answers = await broker.subscribe(inbox, max_msgs=brokers)
    await broker.publish(CONNECTIONS, question, reply=inbox)
    found: list[bytes] = []
    try:
        while len(found) < brokers:
            said = await answers.next_msg(timeout=NEXT_SECONDS if found else ANSWER_SECONDS)
            if said.headers and said.headers.get("Status") == NOBODY:  # no TLS, or a configuration of one's own
                break
            found.append(said.data)
    except errors.TimeoutError:
        if not found:
            raise
    finally:
        with suppress(errors.Error):  # it has ended by itself with the last answer
            await answers.unsubscribe()
    return found


async def _end_some(broker: Any, answer: dict[str, Any], older_than: float, spared: Collection[str]) -> int:
    server, told = answer["server"]["id"], answer["data"]
    ended = 0
    for each in told["connections"]:
        account = each.get("account")
        is_let_in = account not in (None, COORDINATOR)  # one that is still at the door has no account yet
        is_ours = is_let_in and account.rpartition(".")[0] not in spared
        if is_ours and _age(each, told["now"]) > older_than:
            one = json.dumps({"cid": each["cid"]}).encode()
            await broker.request(END_CONNECTION.replace("*", server), one, timeout=ANSWER_SECONDS)
            ended += 1
    return ended


def _are_more(answer: dict[str, Any], older_than: float) -> bool:
    """Tell whether a broker may have more connections that are as old."""
    told = answer["data"]
    found = told["connections"]
    return len(found) >= AT_ONCE and _age(found[-1], told["now"]) > older_than


def _age(connection: dict[str, Any], now: str) -> float:
    return (_time(now) - _time(connection["start"])).total_seconds()


def _time(text: str) -> datetime:
    """Read a time that may have more digits than Python's have."""
    return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
