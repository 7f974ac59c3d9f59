"""What a class and its fields were called before, so that what an earlier version wrote can still be read.

    @formerly("Visits", observations="rewards")
    @dataclass
    class Accounts:
        observations: int

reads a record `Visits` with the field `rewards` as well. Where one field was several, or several were one, a function
makes those of today of what is stored:

    @regrouped(lambda stored: {"span": Span(stored["first"], stored["last"])})

A declaration is never taken away: files last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

Kind = TypeVar("Kind", bound=type)
Regrouping = Callable[[dict[str, Any]], dict[str, Any]]


class _Former(NamedTuple):
    names: tuple[str, ...]
    fields: dict[str, tuple[str, ...]]  # former names, by the name of today


_NOTHING = _Former((), {})


def formerly(*names: str, **fields: str | tuple[str, ...]) -> Callable[[Kind], Kind]:
    """Say what a class was called, and by `today="before"` what its fields were.

    >>> @formerly("Visits", observations="rewards")
    ... class Accounts: ...
    >>> former_names(Accounts), former_fields(Accounts)
    (('Visits',), {'rewards': 'observations'})
    """
    before = {name: (each,) if isinstance(each, str) else each for name, each in fields.items()}

    def declare(kind: Kind) -> Kind:
        kind.__formerly__ = _Former(names, before)  # type: ignore[attr-defined]
        return kind

    return declare


def regrouped(fields: Regrouping) -> Callable[[Kind], Kind]:
    """Say how fields that a stored record lacks are made of those that it has, by the names under which it has them.

    >>> @regrouped(lambda stored: {"length": stored["last"] - stored["first"]})
    ... class Span: ...
    >>> regrouping(Span)({"first": 2, "last": 5})
    {'length': 3}
    """

    def declare(kind: Kind) -> Kind:
        kind.__regrouped__ = fields  # type: ignore[attr-defined]
        return kind

    return declare


def regrouping(kind: type) -> Regrouping | None:
    """Return how a class makes its fields of the former ones, if it has said so."""
    found: Regrouping | None = vars(kind).get("__regrouped__")
    return found


def former_names(kind: type) -> tuple[str, ...]:
    """Return what a class was called before; what its bases were called does not count."""
    former: _Former = vars(kind).get("__formerly__", _NOTHING)
    return former.names


def former_fields(kind: type) -> dict[str, str]:
    """Return the names of today by the former ones, of the fields of a class and of its bases."""
    declared: list[_Former] = [vars(each).get("__formerly__", _NOTHING) for each in reversed(kind.__mro__)]
    return {old: name for former in declared for name, before in former.fields.items() for old in before}
