"""Records: the dataclasses and named tuples that a state consists of, and how those of another version are read.

A field that the bytes lack takes its default. A field that is there no more is read and forgotten, unless a newer
version wrote it, which would lose what it means. What was renamed or put together in another way is declared with
`formerly` and `regrouped` of `core.former_names`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from fedbandit.core.errors import ProtocolError
from fedbandit.core.former_names import Regrouping, former_fields, former_names, regrouping
from fedbandit.core.version import VERSION


class Layout(NamedTuple):
    """What is to be known of a record type."""

    names: tuple[str, ...]
    needed: frozenset[str]  # the fields without a default
    former: dict[str, str]  # names of today, by the former ones
    regrouping: Regrouping | None  # makes fields of today of former ones


def is_record(kind: type) -> bool:
    """Tell whether a type is a dataclass or a named tuple."""
    return is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


@cache
def layout(kind: Any) -> Layout:
    """Return the fields of a record type.

    >>> from fedbandit.protocol.seen import Window
    >>> layout(Window).names, layout(Window).needed
    (('up_to', 'early'), frozenset())
    """
    if is_dataclass(kind):
        known = {each.name: each.default is MISSING and each.default_factory is MISSING for each in fields(kind)}
    else:
        known = {name: name not in kind._field_defaults for name in kind._fields}
    needed = frozenset(name for name, is_needed in known.items() if is_needed)
    return Layout(tuple(known), needed, former_fields(kind), regrouping(kind))


@cache
def records_within(kinds: tuple[type, ...]) -> dict[str, type]:
    """Return, by name, the record types that stand in the declarations of some types; former names too."""
    found: dict[str, type] = {}
    ahead = [each for kind in kinds for each in _within(kind)]
    while ahead:
        kind = ahead.pop()
        if kind in found.values():
            continue
        for name in (kind.__qualname__, *former_names(kind)):
            if name in found:
                raise TypeError(f"two types of one state have, or had, the name {name!r}: rename one of them")
            found[name] = kind
        ahead += [each for hint in get_type_hints(kind).values() for each in _within(hint)]
    return found


def _within(hint: Any) -> Iterator[Any]:
    """Yield the types that an annotation is made of."""
    inner = get_args(hint)
    if not inner:
        if isinstance(hint, type) and is_record(hint):
            yield hint
        return
    for each in (get_origin(hint), *inner):
        yield from _within(each)


def make_record(kind: Any, values: dict[str, Any], strange: dict[str, Any], writer: str) -> Any:
    """Return the record of some values, which a version of fedbandit wrote with some fields that are unknown here."""
    known = layout(kind)
    if strange and is_newer(writer):
        raise ProtocolError(
            f"the record {kind.__qualname__!r} has fields {', '.join(strange)} that this fedbandit {VERSION} does not "
            f"know: it was written by fedbandit {writer}: upgrade to that"
        )
    if known.regrouping is not None and known.needed - values.keys():
        values = {**values, **_regrouped(known.regrouping, {**strange, **values})}
    missing = known.needed - values.keys()
    if missing:
        raise ProtocolError(
            f"the record {kind.__qualname__!r} lacks the fields {', '.join(sorted(missing))}: it was written by "
            f"fedbandit {writer}, and this is {VERSION}: open it with the version that wrote it"
        )
    return kind(**values)


def _regrouped(regroup: Regrouping, stored: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are made of what is stored; none where that is not what any version wrote."""
    try:
        return regroup(stored)
    except (AttributeError, LookupError, TypeError, ValueError):
        return {}


def is_newer(version: str) -> bool:
    """Tell whether a version of fedbandit is later than this one.

    >>> is_newer("0.1.0"), is_newer("1000.0")
    (False, True)
    """
    return _numbers(version) > _numbers(VERSION)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version such as 1.2.3 or 1.2.3.dev4, without the word and what follows it."""
    parts = version.split(".")
    until = next((at for at, part in enumerate(parts) if not part.isdecimal()), len(parts))
    return tuple(map(int, parts[:until]))
