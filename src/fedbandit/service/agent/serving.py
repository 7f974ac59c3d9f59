"""The process of the service: it opens the site, listens, and on SIGTERM answers what was asked before it ends."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from aiohttp import web

from fedbandit.core.errors import InvalidInput
from fedbandit.service.agent.api import Agent
from fedbandit.service.agent.settings import AgentPlan
from fedbandit.site.site import Site

FAREWELL_SECONDS = 10.0  # for requests that are being answered when the service is to end

log = logging.getLogger("fedbandit.agent")


def serve_site(plan: AgentPlan, *, restored: bool = False) -> None:
    """Serve a site until Ctrl-C or SIGTERM."""
    asyncio.run(_serve(plan, restored))


async def _serve(plan: AgentPlan, restored: bool) -> None:
    token, ended = plan.token(), _asked_to_end()
    with plan.open_site(restored=restored) as site:
        async with listening(site, plan, token) as address:
            log.info("site %d answers at %s", site.node.number, address)
            await ended.wait()
            log.info("ending: what was asked is answered")
    log.info("stopped; what was not sent waits in the store")


def _asked_to_end() -> asyncio.Event:
    ended = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, ended.set)
    return ended


@asynccontextmanager
async def listening(site: Site, plan: AgentPlan, token: str) -> AsyncIterator[str]:
    """Answer for a site while the block runs; give the address. Port 0 takes any that is free."""
    runner = web.AppRunner(Agent(site, token).application(), access_log=None, shutdown_timeout=FAREWELL_SECONDS)
    await runner.setup()
    try:
        if plan.socket is None:
            host, port = plan.address
            listener = await _at_port(runner, host, port)
            taken = listener.getsockname()[1]
            yield f"http://{f'[{host}]' if ':' in host else host}:{taken}"
        else:
            await _at_path(runner, plan.socket)
            yield f"unix:{plan.socket}"
    finally:
        await runner.cleanup()


async def _at_port(runner: web.AppRunner, host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(where[:2], family=family, backlog=512)
    except OSError as error:
        raise InvalidInput(f"listen: port {port} of {host} cannot be had ({error}): give another") from None
    await web.SockSite(runner, listener).start()
    return listener


async def _at_path(runner: web.AppRunner, path: Path) -> None:
    """Listen at a path that nobody else listens at; it is for the user who runs the service alone."""
    if path.is_socket() and await _is_answered(path):
        raise InvalidInput(f"listen: another process answers at {path}: end that one, or give another path")
    if path.exists() and not path.is_socket():
        raise InvalidInput(f"listen: {path} is a file: give another path")
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
    except OSError as error:
        listener.close()
        raise InvalidInput(f"listen: no socket can be made at {path} ({error}): give another path") from None
    await web.SockSite(runner, listener).start()


async def _is_answered(path: Path) -> bool:
    with suppress(OSError):
        _, writer = await asyncio.open_unix_connection(str(path))
        writer.close()
        return True
    return False
