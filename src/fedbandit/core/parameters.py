"""Parameters: declared once, with their meaning and their limits, and checked in one way everywhere.

An algorithm or an environment is a frozen dataclass whose fields are declared with `parameter`. From that one
declaration come the check on construction, `--set name=value` on the command line, and `fedbandit describe`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from types import NoneType
from typing import Any, Self, get_args, get_type_hints

from fedbandit.core.changes import Change
from fedbandit.core.errors import InvalidInput, nearest
from fedbandit.core.limits import Limits, checked, takes_list


def parameter(
    default: Any, meaning: str, *, symbol: str = "", general: bool = False, later: bool = False,
    change: Change = Change.NEVER, **limits: Any,
) -> Any:  # fmt: skip
    """Declare a parameter: its default, what it means, the paper's symbol, what a change of it means, and its limits.

    A general one, which subclasses have beside their own, is given by name only and listed after theirs. A later one
    was added to what federations run already: at its default what they write stays as it was before.
    """
    metadata = {"meaning": meaning, "symbol": symbol, "limits": Limits(**limits), "later": later, "change": change}
    return field(default=default, kw_only=general, metadata=metadata)


@dataclass(frozen=True)
class Described:
    """One parameter, as `fedbandit describe` shows it."""

    name: str
    default: Any
    meaning: str
    symbol: str
    limits: str
    change: Change  # while a federation runs


class Parameters:
    """A frozen dataclass of declared parameters; values are checked when it is made."""

    def __post_init__(self) -> None:
        """Check and normalise every declared value."""
        kinds = _kinds(type(self))
        for each in _declared(type(self)):
            value = checked(each.name, _accepted(kinds[each.name]), each.metadata["limits"], getattr(self, each.name))
            object.__setattr__(self, each.name, value)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Make the parameters from names and values; strings are read as the command line gives them."""
        known = {each.name: each for each in _declared(cls)}
        kinds = _kinds(cls)
        read = {}
        for name, value in values.items():
            if name not in known:
                raise cls._no_parameter(name)
            has_choices = bool(known[name].metadata["limits"].choices)
            read[name] = value if has_choices else _from_text(name, kinds[name], value)
        return cls(**read)

    @classmethod
    def describe(cls) -> list[Described]:
        """List the declared parameters."""
        return [
            Described(
                each.name,
                each.default,
                each.metadata["meaning"],
                each.metadata["symbol"],
                _may_be(each),
                each.metadata["change"],
            )
            for each in _declared(cls)
        ]

    @classmethod
    def _no_parameter(cls, name: str) -> InvalidInput:
        """Return the error for a parameter that there is not; whoever knows the paper's symbol is told our name."""
        whose = getattr(cls, "id", "") or cls.__name__
        symbols = {each.metadata["symbol"]: each.name for each in _declared(cls) if each.metadata["symbol"]}
        near = nearest(name, [each.name for each in _declared(cls)])
        symbol = name if name in symbols else None if near else nearest(name, symbols)
        if symbol is not None:
            remedy = f"{symbol} is called {symbols[symbol]} here"
        else:
            remedy = f"did you mean {near!r}?" if near else f"see `fedbandit describe {whose}`"
        return InvalidInput(f"{whose} has no parameter {name!r}: {remedy}")

    def values(self) -> dict[str, Any]:
        """Return names and values, ready for JSON (infinities as the string "inf")."""
        return {each.name: _plain(getattr(self, each.name)) for each in _declared(type(self))}

    def written(self) -> dict[str, Any]:
        """Return the same for files and frames: without later parameters that are at their defaults."""
        usual = {each.name for each in _declared(type(self)) if getattr(self, each.name) == each.default}
        later = {each.name for each in _declared(type(self)) if each.metadata["later"]}
        return {name: value for name, value in self.values().items() if name not in usual & later}


def require_one_each(name: str, value: Any, clients: int) -> None:
    """Refuse a list of values that has not one for each client.

    >>> require_one_each("upload_threshold", (1.0, 2.0), clients=3)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: upload_threshold lists 2 values for 3 clients: give one number, or one for \
each client
    """
    if isinstance(value, tuple) and len(value) != clients:
        raise InvalidInput(
            f"{name} lists {len(value)} values for {clients} clients: give one number, or one for each client"
        )


def _declared(cls: type) -> list[Field[Any]]:
    declared = [each for each in fields(cls) if "limits" in each.metadata]
    return sorted(declared, key=lambda each: each.kw_only is True)


def _kinds(cls: type) -> dict[str, Any]:
    return _hints(cls)  # which mypy does not believe of type[Self]


@cache
def _hints(cls: type) -> dict[str, Any]:
    """Return the types of all fields: reading annotations takes longer than all the rest, and they stay as they are."""
    return get_type_hints(cls)


def _accepted(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) or (kind,)


def _may_be(each: Field[Any]) -> str:
    limits: Limits = each.metadata["limits"]
    if isinstance(each.default, bool):
        return "true or false"
    if isinstance(each.default, str) and not (limits.choices or limits.word):
        return "text"
    return limits.sentence() + (", or inf" if limits.infinite else "")


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def _from_text(name: str, kind: Any, value: Any) -> Any:
    """Read text, and the text in a list (JSON has no infinity, so `values` writes one as text)."""
    if isinstance(value, str):
        return _read(name, kind, value)
    if isinstance(value, list | tuple):
        return [
            _read(f"{name}[{place}]", float, one) if isinstance(one, str) else one for place, one in enumerate(value)
        ]
    return value


def _read(name: str, kind: Any, text: str) -> Any:
    """Read a value from the command line by the parameter's declared type."""
    accepted = _accepted(kind)
    word = text.strip().lower()
    if NoneType in accepted and word in {"none", "theory", "default"}:
        return None
    if bool in accepted:
        if word not in {"true", "false"}:
            raise InvalidInput(f"{name} must be true or false, not {text!r}: write {name}=true or {name}=false")
        return word == "true"
    if "," in text and takes_list(accepted):
        return tuple(_read(name, float, part) for part in text.split(","))
    if int in accepted and float not in accepted:
        try:
            return int(text)
        except ValueError:
            return _number(name, text, "a whole number")
    if float in accepted:
        return text if str in accepted and not _reads_as_number(text) else _number(name, text, "a number")
    return text


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(name: str, text: str, noun: str) -> float:
    if not _reads_as_number(text):
        raise InvalidInput(f"{name} must be {noun}, not {text!r}: give {noun}, as in {name}=2")
    return float(text)
