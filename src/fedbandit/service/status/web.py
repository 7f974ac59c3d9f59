"""The coordinator's HTTP address: the status page, health, and metrics.

    /               the status page; it asks for /status.json every other second and needs nothing from elsewhere
    /sites/FEDERATION/SITE                one site, by its name or its number
    /sites/FEDERATION/SITE/status.json    what that page shows; ?span= likewise
    /status.json    the telemetry of all federations; ?span= seconds looked back, one of 600, 7200, 86400, 2592000
                    assets/status.schema.json is their JSON Schema
    /health         200 if the coordinator works, or stands by for one that does; 503 and the reason if it does not
                    (yet), or if it has a grave concern
    /health/live    200 if it runs at all
    /metrics        for Prometheus

Everything can be read by whoever reaches the address, and nothing can be changed: put a proxy in front of it that asks
for a password if that is not for everyone.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from importlib.resources import files
from typing import Any

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

import fedbandit
from fedbandit.core.errors import InvalidInput
from fedbandit.service.status.history import SPANS
from fedbandit.service.status.markup import one_site_markup, status_markup
from fedbandit.service.status.metrics import Metrics
from fedbandit.service.status.one_site import one_site, site_called
from fedbandit.service.status.rendered import Rendered
from fedbandit.service.status.telemetry import Telemetry

MOST_SITES = 100  # that the page lists of a federation
MOST_PAGES = 64  # of single sites that are kept for whoever asks next
MOST_CONNECTIONS = 256  # at a time: a process has 1,024 files by default, and the journals and the broker need some
LONGEST_CONNECTION = 20.0  # seconds for a request and its answer
TYPES = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "json": "application/schema+json",
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Pages:
    """Everything that is shown at the address."""

    def __init__(
        self,
        federations: Sequence[Telemetry],
        *,
        readiness: Callable[[], str] = lambda: "",
        is_active: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take what tells of each federation that is served at the time.

        `readiness` says why the coordinator does not work, or nothing; `is_active` whether it serves or stands by.
        """
        self.federations = federations
        self._readiness = readiness
        self._is_active = is_active
        self._clock = clock
        self._metrics = Rendered(Metrics(federations, clock, self._problem, is_active).text)
        self._statuses = {span: Rendered(partial(self._made_status, span)) for span in SPANS}
        self._one_site = lru_cache(MOST_PAGES)(lambda *which: Rendered(partial(self._made_site, *which)))
        folder = files("fedbandit.service.status") / "assets"
        self._assets = {each.name: each.read_bytes() for each in folder.iterdir()}
        self._markup = status_markup()
        self._one_site_markup = one_site_markup()

    def application(self) -> web.Application:
        """Return what aiohttp serves."""
        application = web.Application(middlewares=[_with_headers])
        application.add_routes(
            [
                web.get("/", self._page),
                web.get("/assets/{name}", self._asset),
                web.get("/sites/{federation}/{site}", self._site_page),
                web.get("/sites/{federation}/{site}/status.json", self._site_status),
                web.get("/status.json", self._status),
                web.get("/health", self._health),
                web.get("/health/live", self._live),
                web.get("/metrics", self._prometheus),
            ]
        )
        return application

    def _problem(self) -> str:
        """Return why the coordinator does not work, or nothing."""
        told = [(each.name, each.problem()) for each in self.federations]
        return self._readiness() or "; ".join(f"{name}: {why}" for name, why in told if why)

    def _role(self) -> str:
        return "active" if self._is_active() else "standby"

    async def _page(self, _: web.Request) -> web.Response:
        return _html(self._markup)

    async def _asset(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in self._assets:
            raise web.HTTPNotFound(text=f"there is no {name!r} here")
        kind = TYPES[name.rpartition(".")[2]]
        return web.Response(body=self._assets[name], content_type=kind, charset="utf-8")

    async def _status(self, request: web.Request) -> web.Response:
        return _json(self._statuses[_span(request)]())

    async def _site_page(self, request: web.Request) -> web.Response:
        if self._is_active():
            self._site(request)
        return _html(self._one_site_markup)

    async def _site_status(self, request: web.Request) -> web.Response:
        telemetry, number = self._site(request)
        return _json(self._one_site(telemetry.name, number, _span(request))())

    def _site(self, request: web.Request) -> tuple[Telemetry, int]:
        names = request.match_info["federation"], request.match_info["site"]
        found = site_called(self.federations, *names)
        if found is None:
            raise web.HTTPNotFound(text="there is no site {1!r} of a federation {0!r} here".format(*names))
        return found

    def _made_status(self, span: int) -> bytes:
        now = self._clock()
        return self._told({"federations": [each.snapshot(now, span, MOST_SITES) for each in self.federations]}, now)

    def _made_site(self, federation: str, number: int, span: int) -> bytes:
        now = self._clock()
        telemetry = next(each for each in self.federations if each.name == federation)
        return self._told({"told": one_site(telemetry, number, now, span)}, now)

    def _told(self, what: dict[str, Any], now: float) -> bytes:
        about = {"now": now, "version": fedbandit.__version__, "role": self._role(), "problem": self._problem()}
        return json.dumps(about | what, allow_nan=False).encode()  # browsers read no other numbers

    async def _health(self, _: web.Request) -> web.Response:
        problem = self._problem()
        names = [each.name for each in self.federations]
        body = {
            "alive": True, "ready": not problem, "role": self._role(), "problem": problem, "federations": names,
        }  # fmt: skip
        return web.json_response(body, status=503 if problem else 200)

    async def _live(self, _: web.Request) -> web.Response:
        return web.json_response({"alive": True})

    async def _prometheus(self, _: web.Request) -> web.Response:
        return web.Response(body=self._metrics(), headers={"Content-Type": CONTENT_TYPE_LATEST})


@asynccontextmanager
async def serving(
    pages: Pages, host: str, port: int, *, most: int = MOST_CONNECTIONS, seconds: float = LONGEST_CONNECTION
) -> AsyncIterator[str]:
    """Serve the pages while the block runs; give their address. Port 0 takes any that is free.

    A connection carries one request and lives for so many `seconds`; one beyond the `most` ends the oldest. So however
    many clients hang on without asking, or without reading the answer, whoever comes next is served.
    """
    runner = web.AppRunner(pages.application(), access_log=None)
    await runner.setup()
    server = runner.server
    assert server is not None  # there is one after the setup
    loop = asyncio.get_running_loop()

    def accept() -> web.RequestHandler:
        now_open = server.connections  # the oldest first
        for each in now_open[: max(0, len(now_open) + 1 - most)]:
            _end(each)
        connection = server()
        loop.call_later(seconds, _end, connection)
        return connection

    listener = None
    try:
        try:
            listener = await loop.create_server(accept, host, port)
        except OSError as error:
            raise InvalidInput(
                f"port {port} of {host} cannot be had ({error.strerror}): give another, or end what has it"
            ) from None
        taken = listener.sockets[0].getsockname()[1]
        yield f"http://{f'[{host}]' if ':' in host else host}:{taken}/"
    finally:
        if listener is not None:
            listener.close()
        for each in server.connections:
            _end(each)
        await runner.cleanup()


def _span(request: web.Request) -> int:
    wanted = request.query.get("span", str(SPANS[0]))
    if wanted not in map(str, SPANS):
        raise web.HTTPBadRequest(text=f"span must be one of {SPANS}, not {wanted!r}")
    return int(wanted)


def _html(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html")


def _json(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json", charset="utf-8")


def _end(connection: web.RequestHandler) -> None:
    """Close a connection without waiting for a client that does not read; one that is closed stays so."""
    if connection.transport is not None:
        connection.transport.abort()


@web.middleware
async def _with_headers(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        response = await handler(request)
    except web.HTTPException as error:
        error.headers.update(HEADERS)
        error.force_close()
        raise
    response.headers.update(HEADERS)
    response.force_close()
    return response
