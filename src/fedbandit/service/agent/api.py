"""The requests that the service answers. A decision takes microseconds, so each is made where it is asked for.

What a request says is checked against its declaration before anything happens. In a list each request stands for
itself: the answers come in its order, and one that is wrong gets a sentence in the place of its answer.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

import msgspec
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from fedbandit.core.errors import FedbanditError, InvalidInput
from fedbandit.service.agent.counts import Counts
from fedbandit.service.agent.messages import Choose, Decided, GivenUp, GiveUp, Health, Learn, Learnt, Mistake, State
from fedbandit.service.agent.openapi import ROUTES, document
from fedbandit.site.condition import SiteState
from fedbandit.site.site import Site
from fedbandit.site.traced import TracedSite

LARGEST_REQUEST = 16 * 1024 * 1024  # bytes
LONGEST_LIST = 10_000  # requests

log = logging.getLogger("fedbandit.agent")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_OPEN = {route.path for route in ROUTES if route.is_open}


class Agent:
    """Answers for one site."""

    def __init__(self, site: Site, token: str = "") -> None:
        """Take the site, and the token that requests must show, if any."""
        self.site = site
        self._token = token.encode()
        self._counts = Counts(site)
        self._document = msgspec.json.encode(document(has_token=bool(token)))
        self._readers: dict[Any, msgspec.json.Decoder[Any]] = {
            Choose: msgspec.json.Decoder(Choose | list[Choose]),
            Learn: msgspec.json.Decoder(Learn | list[Learn]),
            GiveUp: msgspec.json.Decoder(GiveUp | list[GiveUp]),
        }

    def application(self) -> web.Application:
        """Return what aiohttp serves."""
        application = web.Application(middlewares=[self._answering], client_max_size=LARGEST_REQUEST)
        handlers = {
            "/v1/choose": self._choose, "/v1/learn": self._learn, "/v1/give-up": self._give_up,
            "/v1/state": self._state, "/v1/policy": self._policy, "/health": self._health,
            "/metrics": self._metrics, "/openapi.json": self._openapi,
        }  # fmt: skip
        application.add_routes([web.route(each.method, each.path, handlers[each.path]) for each in ROUTES])
        return application

    @web.middleware
    async def _answering(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let in whoever shows the token, and put what goes wrong into a sentence."""
        if request.path not in _OPEN and not self._may_ask(request):
            return _json(Mistake("the token is missing or wrong: send Authorization: Bearer TOKEN"), 401)
        try:
            return await handler(request)
        except OSError as error:  # a full disk, say: the store has not taken it in
            log.error("%s %s was not done: %s", request.method, request.path, error)
            return _json(Mistake(f"the site cannot do that now ({error}): ask again later"), 503)
        except FedbanditError as error:
            return _json(Mistake(str(error)), 400)
        except web.HTTPException as error:
            return _json(Mistake(f"{error.reason}: see /openapi.json"), error.status)

    def _may_ask(self, request: web.Request) -> bool:
        shown = request.headers.get("Authorization", "").removeprefix("Bearer ").strip().encode(errors="replace")
        return not self._token or hmac.compare_digest(shown, self._token)

    async def _choose(self, request: web.Request) -> web.Response:
        return await self._each(request, Choose, self._decided)

    def _decided(self, offer: Choose) -> Decided:
        arms: Any = offer.arms
        context = offer.context
        if isinstance(context, list):  # a vector that the arms share
            if arms is not None:
                raise InvalidInput("context is a vector, and arms are given: give one of them, or a table as context")
            arms, context = context, None
        with self._counts.choosing():
            decision = self.site.choose(arms, offer.ids, context=context)
        arm = list(decision.arm) if isinstance(decision.arm, tuple) else decision.arm
        return Decided(decision.id, arm, decision.propensity, decision.version)

    async def _learn(self, request: web.Request) -> web.Response:
        return await self._each(request, Learn, self._learnt)

    def _learnt(self, told: Learn) -> Learnt:
        is_new = self.site.learn(told.id, told.reward)
        self._counts.learnt(is_new=is_new)
        return Learnt(is_new)

    async def _give_up(self, request: web.Request) -> web.Response:
        return await self._each(request, GiveUp, lambda asked: GivenUp(self.site.give_up(asked.id)))

    async def _each(self, request: web.Request, kind: Any, do: Callable[[Any], Any]) -> web.Response:
        """Do what a request asks, or each of a list."""
        body = await request.read()
        try:
            asked = self._readers[kind].decode(body)
        except msgspec.DecodeError as error:
            raise InvalidInput(f"the request is not what {request.path} takes ({error}): see /openapi.json") from None
        if isinstance(asked, list) and len(asked) > LONGEST_LIST:
            raise InvalidInput(f"a list of {len(asked)} requests: send at most {LONGEST_LIST} at a time")
        with self.site.within(request.headers) if isinstance(self.site, TracedSite) else nullcontext():
            if not isinstance(asked, list):
                return _json(do(asked))
            return _json([_done_or_mistake(do, each) for each in asked])

    async def _state(self, _: web.Request) -> web.Response:
        site = self.site
        name, counts = site.charter.algorithm.id, (site.version, site.pending, site.unsent)
        return _json(State(site.state.value, site.trouble, site.node.number, name, *counts, site.refused))

    async def _policy(self, _: web.Request) -> web.Response:
        policy = self.site.policy()
        headers = {"ETag": f'"{policy.version}"', "Content-Disposition": "attachment; filename=policy.bin"}
        return web.Response(body=policy.to_bytes(), content_type="application/octet-stream", headers=headers)

    async def _health(self, _: web.Request) -> web.Response:
        is_ready = self.site.state is not SiteState.FAILING
        return _json(Health(True, is_ready, self.site.trouble), 200 if is_ready else 503)

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=self._counts.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _openapi(self, _: web.Request) -> web.Response:
        return web.Response(body=self._document, content_type="application/json")


def _done_or_mistake(do: Callable[[Any], Any], asked: Any) -> Any:
    try:
        return do(asked)
    except InvalidInput as error:
        return Mistake(str(error))


def _json(answer: Any, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(answer), status=status, content_type="application/json")
