"""A charter with some values changed, or the sentence that says why that cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from fedbandit.core.changes import Change
from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.core.messages import Download, Upload
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.chosen_algorithm import algorithm_of
from fedbandit.protocol.schema import Schema

ANEW = "begin a federation of another name with it, and open its sites with stores of their own"
AGREED = (
    "algorithm",
    "clients",
    "arms",
    "horizon",
    "epoch_seconds",
    "features",
    "secure_aggregation",
    "smallest_cohort",
)  # beside parameters and features
DIMENSION, DROP = "dimension", "drop"


class Changed(NamedTuple):
    """A charter after a change, and where its features stood before if sums have to be carried over."""

    charter: Charter
    places: tuple[int, ...] | None = None  # -1: a new feature; None: sums stay as they are


def changed(charter: Charter, values: Mapping[str, Any]) -> Changed:
    """Return a charter with other values, given as on the command line; refuse what a running federation cannot take.

    >>> from fedbandit.core.algorithm import Setting
    >>> charter = Charter.named("async-linucb", Setting(clients=3, arms=2, dimension=4, horizon=100))
    >>> changed(charter, {"upload_threshold": "3"}).charter.algorithm.upload_threshold
    3.0
    >>> changed(charter, {"drop": "1", "dimension": "5"}).places
    (0, 2, 3, -1, -1)
    >>> changed(charter, {"clients": 4})
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: clients can change only as a new federation: begin a federation of another \
name with it, and open its sites with stores of their own
    """
    algorithm = charter.algorithm
    known = {each.name: each.change for each in algorithm.describe()}
    for name in values:
        _require_possible(charter, name, known)
    parameters = {name: value for name, value in values.items() if name in known}
    chosen = type(algorithm).from_values({**algorithm.values(), **parameters})
    places = _places(charter, {name: value for name, value in values.items() if name not in known})
    setting = replace(charter.setting, dimension=len(places))
    made = replace(charter, algorithm=algorithm_of(chosen, {}, setting.clients), setting=setting)
    _require_same_messages(charter, made, values)
    old, new = algorithm.values(), chosen.values()
    is_carried = any(old[name] != new[name] for name, change in known.items() if change is Change.MIGRATION)
    is_same = places == tuple(range(charter.setting.dimension))
    return Changed(made, None if is_same and not is_carried else places)


def _require_possible(charter: Charter, name: str, known: Mapping[str, Change]) -> None:
    if name not in known and name not in (*AGREED, DIMENSION, DROP):
        beside = (DIMENSION, DROP, *AGREED, "deadline", "limits.context", "limits.reward")
        raise unknown("name", name, [*known, *beside])
    change = known.get(name, Change.NEVER)
    if charter.smallest_cohort is not None and change is not Change.AT_ONCE:
        raise InvalidInput(f"{name} can change only as a new federation where sums are aggregated securely: {ANEW}")
    if name in (DIMENSION, DROP) and name not in known:
        if charter.features is not None:
            raise InvalidInput(
                f"{name} follows from the declared features, which can change only as a new federation: {ANEW}"
            )
        change = charter.algorithm.carries_over
    if change is Change.NEVER:
        raise InvalidInput(f"{name} can change only as a new federation: {ANEW}")


def _places(charter: Charter, values: Mapping[str, Any]) -> tuple[int, ...]:
    """Return where each feature stood before: some are dropped, and others added at the end up to the dimension."""
    before = charter.setting.dimension
    dropped = _whole(DROP, values[DROP]) if DROP in values else ()
    for place in dropped:
        if place >= before:
            raise InvalidInput(f"drop={place}, but features are counted from 0 to {before - 1}: give one of these")
    left = [place for place in range(before) if place not in dropped]
    wanted = len(left)
    if DIMENSION in values:
        (wanted,) = _whole(DIMENSION, values[DIMENSION])[:1]
        if DROP in values and wanted < len(left):
            raise InvalidInput(f"dimension={wanted}, but with drop {len(left)} features are left: drop more, or fewer")
    if wanted < 1:
        raise InvalidInput("no feature would be left: keep one at least")
    return (*left[:wanted], *[-1] * (wanted - len(left)))


def _whole(name: str, given: Any) -> tuple[int, ...]:
    parts = str(given).split(",") if name == DROP else [str(given)]
    if not all(part.strip().isascii() and part.strip().isdecimal() for part in parts):
        kind = "places of features, counted from 0, as in drop=2" if name == DROP else "a whole number"
        raise InvalidInput(f"{name} must be {kind}, not {given!r}: give that")
    return tuple(int(part) for part in parts)


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


def differing(before: Charter, after: Charter) -> dict[str, tuple[Any, Any, Change]]:
    """Return what differs, by name: what each was, what it is now, and what the change means."""
    kinds = {each.name: each.change for each in after.algorithm.describe()}
    old, new = before.algorithm.values(), after.algorithm.values()
    found = {name: (old[name], new[name], kinds[name]) for name in new if old[name] != new[name]}
    if before.setting.dimension != after.setting.dimension:
        found[DIMENSION] = before.setting.dimension, after.setting.dimension, after.algorithm.carries_over
    return found
