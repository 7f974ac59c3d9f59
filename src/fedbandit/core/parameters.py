"""Parameters: declared once, with their meaning and their limits, and checked in one way everywhere.

An algorithm or an environment is a frozen dataclass whose fields are declared with `parameter`. From that one
declaration come the check on construction, `--set name=value` on the command line, and `fedbandit describe`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from types import NoneType
from typing import Any, Self, get_args, get_type_hints

import numpy as np

from fedbandit.core.errors import InvalidInput, unknown

MOST = 2**53  # up to here every whole number has a float of its own


@dataclass(frozen=True)
class Limits:
    """What values a parameter may take."""

    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    infinite: bool = False
    choices: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Say the limits in words.

        >>> Limits(above=0, at_most=1).sentence()
        'greater than 0 and at most 1'
        """
        if self.choices:
            return "one of " + ", ".join(self.choices)
        bounds = [
            (self.above, "greater than"),
            (self.at_least, "at least"),
            (self.below, "less than"),
            (self.at_most, "at most"),
        ]
        words = [f"{word} {bound:g}" for bound, word in bounds if bound is not None]
        return " and ".join(words) or "a finite number"

    def allow(self, value: float) -> bool:
        """Tell whether a number is within the limits."""
        return not (
            math.isnan(value)
            or (math.isinf(value) and not self.infinite)
            or (self.above is not None and value <= self.above)
            or (self.at_least is not None and value < self.at_least)
            or (self.below is not None and value >= self.below)
            or (self.at_most is not None and value > self.at_most)
        )


def parameter(default: Any, meaning: str, *, symbol: str = "", **limits: Any) -> Any:
    """Declare a parameter: its default, what it means, the paper's symbol, and its limits."""
    return field(default=default, metadata={"meaning": meaning, "symbol": symbol, "limits": Limits(**limits)})


@dataclass(frozen=True)
class Described:
    """One parameter, as `fedbandit describe` shows it."""

    name: str
    default: Any
    meaning: str
    symbol: str
    limits: str


class Parameters:
    """A frozen dataclass of declared parameters; values are checked when it is made."""

    def __post_init__(self) -> None:
        """Check and normalise every declared value."""
        kinds = get_type_hints(type(self))
        for each in _declared(type(self)):
            value = _checked(each, kinds[each.name], getattr(self, each.name))
            object.__setattr__(self, each.name, value)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Make the parameters from names and values; strings are read as the command line gives them."""
        known = {each.name: each for each in _declared(cls)}
        kinds = get_type_hints(cls)
        read = {}
        for name, value in values.items():
            if name not in known:
                raise unknown("parameter", name, known)
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
            )
            for each in _declared(cls)
        ]

    def values(self) -> dict[str, Any]:
        """Return names and values, ready for JSON (infinities as the string "inf")."""
        return {each.name: _plain(getattr(self, each.name)) for each in _declared(type(self))}


def _declared(cls: type) -> list[Field[Any]]:
    return [each for each in fields(cls) if "limits" in each.metadata]


def _may_be(each: Field[Any]) -> str:
    limits: Limits = each.metadata["limits"]
    if isinstance(each.default, bool):
        return "true or false"
    if isinstance(each.default, str) and not limits.choices:
        return "text"
    return limits.sentence() + (", or inf" if limits.infinite else "")


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def _checked(each: Field[Any], kind: Any, value: Any) -> Any:
    limits: Limits = each.metadata["limits"]
    accepted = get_args(kind) or (kind,)
    if value is None and NoneType in accepted:
        return None
    if str in accepted and isinstance(value, str):
        if limits.choices and value not in limits.choices:
            raise unknown(each.name, value, limits.choices)
        return value
    if bool in accepted and isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, list | tuple) or (hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1):
        return _checked_list(each.name, accepted, limits, list(value))
    return _checked_number(each.name, accepted, limits, value)


def _checked_list(name: str, accepted: tuple[Any, ...], limits: Limits, values: list[Any]) -> Any:
    if not _takes_list(accepted):
        raise InvalidInput(f"{name} must be a single value, not {_shown(values)}: give {_noun(accepted, limits)}")
    if not values:
        raise InvalidInput(f"{name} is an empty list: give one number, or one for each client")
    return tuple(_checked_number(f"{name}[{place}]", (float,), limits, value) for place, value in enumerate(values))


def _checked_number(name: str, accepted: tuple[Any, ...], limits: Limits, value: Any) -> float | int:
    noun = _noun(accepted, limits)
    whole = int in accepted and float not in accepted
    number = _as_float(value) if int in accepted or float in accepted else None
    if number is None or (whole and not number.is_integer()):
        raise InvalidInput(f"{name} must be {noun}, not {_shown(value)}: give {noun}")
    if math.isinf(number) and not limits.infinite:
        raise InvalidInput(f"{name} must be finite, not {_shown(value)}: give {noun} that is {limits.sentence()}")
    if not limits.allow(number):
        raise InvalidInput(f"{name} must be {limits.sentence()}, not {_shown(value)}: give {noun} in that range")
    if whole and abs(number) > MOST:
        raise InvalidInput(f"{name} must be at most {MOST}, not {_shown(value)}: give a smaller number")
    return int(value) if whole else number


def _takes_list(accepted: tuple[Any, ...]) -> bool:
    return any(str(kind).startswith("tuple") for kind in accepted)


def _noun(accepted: tuple[Any, ...], limits: Limits) -> str:
    """Name what a parameter takes, for the sentence that refuses something else."""
    if limits.choices:
        return limits.sentence()
    if float in accepted:
        return "a number"
    return "a whole number" if int in accepted else "true or false" if bool in accepted else "text"


def _as_float(value: Any) -> float | None:
    """Return a number as a float, or None where it is none; text that reads as a number is still text."""
    if isinstance(value, bool | np.bool_ | str | bytes):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond every float
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return None


def _shown(value: Any) -> str:
    """Return a value on one line, and not a long one."""
    text = " ".join((str if isinstance(value, np.generic) else repr)(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


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
    accepted = get_args(kind) or (kind,)
    word = text.strip().lower()
    if NoneType in accepted and word in {"none", "theory", "default"}:
        return None
    if bool in accepted:
        if word not in {"true", "false"}:
            raise InvalidInput(f"{name} must be true or false, not {text!r}: write {name}=true or {name}=false")
        return word == "true"
    if "," in text and _takes_list(accepted):
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
