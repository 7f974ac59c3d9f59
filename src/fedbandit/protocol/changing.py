"""A charter with some values changed, or the sentence that says why that cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.changes import Change
from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.core.messages import Download, Upload
from fedbandit.protocol.charter import Charter, algorithm_of
from fedbandit.protocol.schema import Schema

ANEW = "begin a federation of another name with it, and open its sites with stores of their own"
AGREED = ("algorithm", "clients", "arms", "dimension", "horizon", "epoch_seconds", "features")  # beside the parameters


def changed(charter: Charter, values: Mapping[str, Any]) -> Charter:
    """Return a charter with other values, given as on the command line; refuse what a running federation cannot take.

    >>> from fedbandit.core.algorithm import Setting
    >>> charter = Charter.named("async-linucb", Setting(clients=3, arms=2, dimension=4, horizon=100))
    >>> changed(charter, {"upload_threshold": "3"}).algorithm.upload_threshold
    3.0
    >>> changed(charter, {"clients": 4})
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: clients can change only as a new federation: begin a federation of another \
name with it, and open its sites with stores of their own
    """
    algorithm = charter.algorithm
    known = {each.name: each.change for each in algorithm.describe()}
    for name in values:
        if name not in known and name not in AGREED:
            raise unknown("name", name, [*known, *AGREED, "deadline", "limits.context", "limits.reward"])
        if known.get(name, Change.NEVER) is Change.NEVER:
            raise InvalidInput(f"{name} can change only as a new federation: {ANEW}")
    chosen = type(algorithm).from_values({**algorithm.values(), **values})
    made = replace(charter, algorithm=algorithm_of(chosen, {}, charter.setting.clients))
    made.require_deployable()
    _require_same_messages(charter, made, values)
    return made


def _require_same_messages(before: Charter, after: Charter, values: Mapping[str, Any]) -> None:
    """Refuse values with which other kinds of messages would travel: those under way would be refused."""
    for each, other in zip(_schemas(before), _schemas(after), strict=True):
        if each.known != other.known:
            told = " ".join(f"{name}={value}" for name, value in values.items())
            raise InvalidInput(
                f"with {told} other messages would travel than now, which is possible only as a new federation: {ANEW}"
            )


def _schemas(charter: Charter) -> tuple[Schema, Schema]:
    sides = charter.build()
    return Schema.of(sides.server, Upload, charter.setting), Schema.of(sides.clients, Download, charter.setting)


def differing(before: Algorithm, after: Algorithm) -> dict[str, tuple[Any, Any, Change]]:
    """Return the parameters that differ: what each was, what it is now, and what the change means."""
    kinds = {each.name: each.change for each in after.describe()}
    old, new = before.values(), after.values()
    return {name: (old[name], new[name], kinds[name]) for name in new if old[name] != new[name]}
