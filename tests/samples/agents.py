"""A site as a service, asked by a test."""

from __future__ import annotations

import asyncio

import aiohttp

from fedbandit.service.agent.serving import listening
from fedbandit.service.agent.settings import AgentPlan

TWO = [[1.0, 0.0], [0.0, 1.0]]


def plan_in(folder, **more):
    """A plan of a site that talks to nobody."""
    offline = more.pop("offline", {"algorithm": "async-linucb", "dimension": 2})
    return AgentPlan(**{"store": "site.db", "offline": offline, "folder": str(folder), "listen": "127.0.0.1:0", **more})


def asking(plan, *requests, token="", restored=False):
    """Ask one thing after the other: (method, path[, body[, headers]]); return (status, answer) of each."""

    async def ask():
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connector = None if plan.socket is None else aiohttp.UnixConnector(str(plan.socket))
        with plan.open_site(restored=restored) as site:
            async with (
                listening(site, plan, plan.token()) as address,
                aiohttp.ClientSession(
                    address if plan.socket is None else "http://site", headers=headers, connector=connector
                ) as session,
            ):
                return [await one(session, *each) for each in requests]

    return asyncio.run(ask())


async def one(session, method, path, body=None, headers=None):
    """Ask one thing."""
    how = {"data": body} if isinstance(body, bytes) else {"json": body}
    async with session.request(method, path, headers=headers, **({} if body is None else how)) as answer:
        kind = answer.content_type
        return answer.status, await answer.json() if kind == "application/json" else await answer.read()


def post(what, body):
    return "POST", f"/v1/{what}", body
