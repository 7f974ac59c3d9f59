"""Who may say what where at a broker with TLS: an account for each site, and one for the coordinator.

Whoever publishes names a subject to which the broker is to answer, and the broker answers with powers of its own. Where
all share one account, a site can so make it speak to other sites, or to the streams. So each site lives in an account
in which there is nothing but itself: what it may say is passed on to the coordinator's account, what is for it comes
from there, and an answer never leaves the account of whoever asked. The streams are in the coordinator's account.

Who may use an account either stands here, by the name in a certificate: FEDERATION.NUMBER. Or the broker asks the
coordinator, which has a roster, whenever somebody connects (the auth callout of NATS). Whoever was invited and has no
certificate yet comes into an account in which there is nothing but the subject under which it asks for one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fedbandit.transport.nats.subjects import ANY_JOINING, Subjects

COORDINATOR = "coordinator"
SYSTEM = "system"
MOST_CONNECTIONS = 8  # of one site: one, those that are ending, and somebody who looks
MOST_SUBSCRIPTIONS = 16  # of one connection, which needs 3: what is for a site is copied for each
CONNECTIONS = "fedbandit-broker.connections"  # where the coordinator asks who is connected since when
END_CONNECTION = "$SYS.REQ.SERVER.*.KICK"  # and where it ends a connection
ANSWERED_BY_ALL = {"response_type": "stream"}  # each broker of a cluster answers for itself
JOINING = "joining"  # the account of those who were invited
MOST_JOINING = 256  # connections
MOST_SECONDS = 10  # that the broker waits for the coordinator to say whether somebody may come in: longer than anybody
# waits who comes, so that to be kept waiting is not taken for being refused


def user_of(name: str) -> str:
    """Return the name of a user as the broker reads it from a certificate."""
    return f"CN={name}"


def accounts(sites: Mapping[str, int], doorkeeper: str | None = None) -> list[str]:
    """Return the part of a nats-server's configuration that says who there is, by the sites of each federation.

    With the name of a doorkeeper, it is the coordinator that says who may use the account of a site.
    """
    each = [(Subjects(federation), site) for federation, count in sites.items() for site in range(count)]
    lines = [f"system_account: {SYSTEM}", "accounts {"]
    system = [_only_for(COORDINATOR, "service", subject) | ANSWERED_BY_ALL for subject, _ in _SYSTEM]
    lines += _account(SYSTEM, {"exports": system})
    exports = [export for subjects, site in each for export in _exports(subjects, site)]
    imports = [_import("service", SYSTEM, subject, to) for subject, to in _SYSTEM]
    if doorkeeper is not None:
        exports.append(_only_for(JOINING, "service", ANY_JOINING))
    coordinator = {"users": [{"user": user_of(COORDINATOR)}], "exports": exports, "imports": imports}
    lines += _account(COORDINATOR, {"jetstream": "enabled", **coordinator})
    for subjects, site in each:
        lines += _account(subjects.name(site), _site(subjects, site, has_user=doorkeeper is None))
    if doorkeeper is None:
        return [*lines, "}"]
    joining = [_import("service", COORDINATOR, ANY_JOINING, ANY_JOINING)]
    lines += _account(JOINING, {"limits": {"max_connections": MOST_JOINING}, "imports": joining})
    return [*lines, "}", *_asking(doorkeeper)]


def _asking(doorkeeper: str) -> list[str]:
    """Return what makes the broker ask the coordinator about everybody else."""
    return [
        "authorization {",
        f"  timeout: {MOST_SECONDS}",
        "  auth_callout {",
        f"    issuer: {doorkeeper}",
        f"    account: {COORDINATOR}",
        f"    auth_users: [{json.dumps(user_of(COORDINATOR))}]",
        "  }",
        "}",
    ]


_SYSTEM = (("$SYS.REQ.SERVER.PING.CONNZ", CONNECTIONS), (END_CONNECTION, END_CONNECTION))


def _exports(subjects: Subjects, site: int) -> Iterator[dict[str, Any]]:
    for said in subjects.said_by(site):
        yield _only_for(subjects.name(site), "service", said)
    yield _only_for(subjects.name(site), "stream", subjects.down(site))


def _site(subjects: Subjects, site: int, *, has_user: bool) -> dict[str, Any]:
    said = subjects.said_by(site)
    permissions = {"publish": said, "subscribe": subjects.heard_by(site)}
    user = {"user": user_of(subjects.name(site)), "permissions": permissions}
    return {
        "limits": {"max_connections": MOST_CONNECTIONS, "max_subscriptions": MOST_SUBSCRIPTIONS},
        **({"users": [user]} if has_user else {}),
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
