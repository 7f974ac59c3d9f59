"""The OpenAPI 3.1 document of the service, made of the declared messages and the table of its routes."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

import fedbandit
from fedbandit.service.agent.messages import Choose, Decided, GivenUp, GiveUp, Health, Learn, Learnt, Mistake, State

REF = "#/components/schemas/{name}"
JSON, BYTES, TEXT = "application/json", "application/octet-stream", "text/plain"


class Route(NamedTuple):
    """One thing to ask for."""

    method: str
    path: str
    summary: str
    answer: Any  # a message, or the type of a body that is no JSON
    request: Any = None
    is_batch: bool = False  # a list of requests gets a list of answers, each an answer or a mistake
    is_open: bool = False  # to those without the token, too


ROUTES = (
    Route(
        "post", "/v1/choose", "Decide between arms; offers in a list get decisions in a list.", Decided, Choose, True
    ),
    Route("post", "/v1/learn", "Tell rewards, in any order, once or more: each counts once.", Learnt, Learn, True),
    Route("post", "/v1/give-up", "Wait no longer for rewards.", GivenUp, GiveUp, True),
    Route("get", "/v1/state", "How the site stands with its coordinator.", State),
    Route("get", "/v1/policy", "What the site has learnt so far, as a policy file.", BYTES),
    Route("get", "/health", "200 if the service works, 503 if not.", Health, is_open=True),
    Route("get", "/metrics", "Counters for Prometheus.", TEXT),
    Route("get", "/openapi.json", "This document.", dict, is_open=True),
)


def document(*, has_token: bool) -> dict[str, Any]:
    """Return the document; it says how to show the token where one is needed.

    >>> document(has_token=False)["openapi"], sorted(document(has_token=False)["paths"])[:2]
    ('3.1.0', ['/health', '/metrics'])
    """
    kinds = [Choose, Decided, Learn, Learnt, GiveUp, GivenUp, State, Health, Mistake]
    _, schemas = msgspec.json.schema_components(kinds, ref_template=REF)
    components: dict[str, Any] = {"schemas": schemas}
    if has_token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method] = _operation(route, has_token)
    about = {"title": "A fedbandit site", "version": fedbandit.__version__}
    return {"openapi": "3.1.0", "info": about, "paths": paths, "components": components}


def _operation(route: Route, has_token: bool) -> dict[str, Any]:
    answers: dict[str, Any] = {"200": {"description": "As asked.", "content": _content(route.answer, route.is_batch)}}
    operation: dict[str, Any] = {
        "operationId": route.path.rpartition("/")[2].replace("-", "_").replace(".json", ""),
        "summary": route.summary, "responses": answers,
    }  # fmt: skip
    if route.request is not None:
        body = {JSON: {"schema": _one_or_many(_ref(route.request), _ref(route.request))}}
        operation["requestBody"] = {"required": True, "content": body}
        answers["400"] = _mistake("The request is wrong, and has changed nothing.")
        answers["503"] = _mistake("The site is closed, or cannot write to its disk: ask again later.")
    if route.answer is Health:
        answers["503"] = {"description": "It does not work.", "content": _content(Health, is_batch=False)}
    if has_token and not route.is_open:
        answers["401"] = _mistake("The token is missing or wrong.")
        operation["security"] = [{"token": []}]
    return operation


def _content(answer: Any, is_batch: bool) -> dict[str, Any]:
    if isinstance(answer, str):
        return {answer: {}}
    if answer is dict:
        return {JSON: {"schema": {"type": "object"}}}
    one = _ref(answer)
    return {JSON: {"schema": _one_or_many(one, {"anyOf": [one, _ref(Mistake)]}) if is_batch else one}}


def _mistake(description: str) -> dict[str, Any]:
    return {"description": description, "content": {JSON: {"schema": _ref(Mistake)}}}


def _ref(kind: Any) -> dict[str, Any]:
    return {"$ref": REF.format(name=kind.__name__)}


def _one_or_many(one: dict[str, Any], each: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [one, {"type": "array", "items": each}]}
