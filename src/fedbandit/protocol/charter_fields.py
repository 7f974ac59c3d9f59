"""What differs between two charters, field by field, in a sentence that says what to change."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from fedbandit.core.errors import InvalidInput, unknown

if TYPE_CHECKING:
    from fedbandit.protocol.charter import Charter

_TOLD = ("limits", "expires", "default_reward")  # by a federation to its sites; no message depends on them
_NEEDLESS = ("arms", "horizon")  # where an algorithm needs them, they are in its messages' shapes or its parameters


class Difference(NamedTuple):
    """A field that two charters have otherwise."""

    name: str
    one: Any
    other: Any


def charter_fields(charter: Charter) -> dict[str, Any]:
    """Return all that was agreed on, by the names under which a site is given it."""
    values = {"algorithm": charter.algorithm.id, **asdict(charter.setting), **charter.algorithm.values()}
    values |= {"epoch_seconds": charter.epoch_seconds, "features": charter.features}
    values |= {"secure_aggregation": charter.smallest_cohort is not None, "smallest_cohort": charter.smallest_cohort}
    return values | {"limits": charter.limits} | asdict(charter.ending)


def differences(one: Charter, other: Charter) -> list[Difference]:
    """Return the fields that differ; of another algorithm not its parameters, which are others."""
    mine, theirs = charter_fields(one), charter_fields(other)
    found = [
        Difference(name, value, theirs[name])
        for name, value in mine.items()
        if name in theirs and name not in _TOLD and value != theirs[name]
    ]
    is_same = one.algorithm.id == other.algorithm.id
    return found if is_same else [each for each in found if each.name not in one.algorithm.values()]


def contrast(there: Charter, here: Charter) -> str:
    """Return how a charter that was found somewhere differs from the one that is wanted."""
    listed = ", ".join(f"{name} is {one!r}, not {other!r}" for name, one, other in differences(there, here))
    return f", whose {listed}: give the same, or begin with another"


def disagreement(here: Charter, agreed: Charter) -> str:
    """Return what a site with one charter has to change in a federation with another, "" if nothing.

    >>> from fedbandit.core.algorithm import Setting
    >>> from fedbandit.protocol.charter import Charter
    >>> here, there = (Charter.named("async-linucb", Setting(3, 2, size, 100)) for size in (4, 5))
    >>> disagreement(here, there).partition(":")[0]
    'dimension is 4 here and 5 in the federation'
    """
    listed = ", ".join(
        f"{name} is {one!r} here and {other!r} in the federation"
        for name, one, other in differences(here, agreed)
        if name not in _NEEDLESS
    )
    remedy = "open the site with the federation's, as Site.join does; what it learns waits here until then"
    return f"{listed}: {remedy}" if listed else ""


def require_agreed(agreed: Charter, said: dict[str, Any]) -> None:
    """Refuse what a program says otherwise than its federation has agreed on.

    >>> from fedbandit.core.algorithm import Setting
    >>> from fedbandit.protocol.charter import Charter
    >>> require_agreed(Charter.named("async-linucb", Setting(3, 2, 4, 100)), {"dimension": 5})
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: dimension is 5 here and 4 in the federation: leave it out, or give 4
    """
    fields = charter_fields(agreed)
    for name, given in said.items():
        if name not in fields:
            raise unknown(f"parameter of {agreed.algorithm.id}", name, fields)
        value, there = given, fields[name]
        if name in agreed.algorithm.values():
            value = type(agreed.algorithm).from_values({name: given}).values()[name]  # as JSON, as the other is
        if value != there:
            raise InvalidInput(
                f"{name} is {value!r} here and {there!r} in the federation: leave it out, or give {there!r}"
            )
