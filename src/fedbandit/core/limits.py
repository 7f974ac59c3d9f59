"""What values a parameter may take: its limits in words, and the check of a value against type and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import NoneType
from typing import Any

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
    word: str = ""  # that may stand in place of a number

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
        return (" and ".join(words) or "a finite number") + (f", or {self.word}" if self.word else "")

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


def checked(name: str, accepted: tuple[Any, ...], limits: Limits, value: Any) -> Any:
    """Return a value in one of the accepted types, or say in one sentence why it is refused.

    >>> checked("ridge", (float,), Limits(above=0), 3)
    3.0
    """
    if value is None and NoneType in accepted:
        return None
    if str in accepted and isinstance(value, str):
        if limits.choices and value not in limits.choices:
            raise unknown(name, value, limits.choices)
        if limits.word and value != limits.word:
            raise InvalidInput(f"{name} must be {limits.sentence()}, not {value!r}: give one of these")
        return value
    if bool in accepted and isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, list | tuple) or (hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1):
        return _checked_list(name, accepted, limits, list(value))
    return _checked_number(name, accepted, limits, value)


def _checked_list(name: str, accepted: tuple[Any, ...], limits: Limits, values: list[Any]) -> Any:
    if not takes_list(accepted):
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


def takes_list(accepted: tuple[Any, ...]) -> bool:
    """Tell whether a parameter of these types may have one value for each client."""
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
