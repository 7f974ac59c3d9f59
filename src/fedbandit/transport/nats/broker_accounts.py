"""Who may say what where at a broker with TLS: an account for each site, and one for the coordinator.

Whoever publishes names a subject to which the broker is to answer, and the broker answers with powers of its own. Where
all share one account, a site can so make it speak to other sites, or to the streams. So each site lives in an account
in which there is nothing but itself: what it may say is passed on to the coordinator's account, what is for it comes
from there, and an answer never leaves the account of whoever asked. The streams are in the coordinator's account.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fedbandit.transport.nats.subjects import Subjects

COORDINATOR = "coordinator"
SYSTEM = "system"
MOST_CONNECTIONS = 8  # of one site: one, those that are ending, and somebody who looks
MOST_SUBSCRIPTIONS = 16  # of one connection, which needs 3: what is for a site is copied for each
CONNECTIONS = "fedbandit-broker.connections"  # where the coordinator asks who is connected since when
END_CONNECTION = "$SYS.REQ.SERVER.*.KICK"  # and where it ends a connection


def user_of(name: str) -> str:
    """Return the name of a user as the broker reads it from a certificate."""
    return f"CN={name}"


def accounts(sites: Mapping[str, int]) -> list[str]:
    """Return the part of a nats-server's configuration that says who there is, by the sites of each federation."""
    each = [(Subjects(federation), site) for federation, count in sites.items() for site in range(count)]
    lines = [f"system_account: {SYSTEM}", "accounts {"]
    lines += _account(SYSTEM, {"exports": [_only_for(COORDINATOR, "service", subject) for subject, _ in _SYSTEM]})
    exports = [export for subjects, site in each for export in _exports(subjects, site)]
    imports = [_import("service", SYSTEM, subject, to) for subject, to in _SYSTEM]
    coordinator = {"users": [{"user": user_of(COORDINATOR)}], "exports": exports, "imports": imports}
    lines += _account(COORDINATOR, {"jetstream": "enabled", **coordinator})
    for subjects, site in each:
        lines += _account(subjects.name(site), _site(subjects, site))
    return [*lines, "}"]


_SYSTEM = (("$SYS.REQ.SERVER.PING.CONNZ", CONNECTIONS), (END_CONNECTION, END_CONNECTION))


def _exports(subjects: Subjects, site: int) -> Iterator[dict[str, Any]]:
    for said in subjects.said_by(site):
        yield _only_for(subjects.name(site), "service", said)
    yield _only_for(subjects.name(site), "stream", subjects.down(site))


def _site(subjects: Subjects, site: int) -> dict[str, Any]:
    said = subjects.said_by(site)
    permissions = {"publish": said, "subscribe": [subjects.down(site), f"{subjects.inbox(site)}.>"]}
    return {
        "limits": {"max_connections": MOST_CONNECTIONS, "max_subscriptions": MOST_SUBSCRIPTIONS},
        "users": [{"user": user_of(subjects.name(site)), "permissions": permissions}],
        "imports": [
            *(_import("service", COORDINATOR, subject, subject) for subject in said),
            _import("stream", COORDINATOR, subjects.down(site), subjects.down(site)),
        ],
    }


def _only_for(account: str, what: str, subject: str) -> dict[str, Any]:
    return {what: subject, "accounts": [account]}


def _import(what: str, account: str, subject: str, to: str) -> dict[str, Any]:
    return {what: {"account": account, "subject": subject}} | ({"to": to} if to != subject else {})


def _account(name: str, content: dict[str, Any]) -> list[str]:
    """Write an account, one line for each thing that is in a list; the configuration takes JSON."""
    lines = [f"  {json.dumps(name)} {{"]
    for key, value in content.items():
        if isinstance(value, list):
            lines += [f"    {key}: [", *(f"      {json.dumps(each)}" for each in value), "    ]"]
        else:
            lines.append(f"    {key}: {json.dumps(value)}")
    return [*lines, "  }"]
