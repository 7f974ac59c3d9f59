"""What an operator has changed beside the charter: limits, the deadline of rounds, and when decisions end.

These stand in the coordinator's file too. Whichever was changed last holds: what a change says, until the file says
something else than it did at that time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.protocol.ending import Ending

_PREFIX = "limits."
_BOUNDS = tuple(each.name for each in fields(Bounds))
_WHOLE = ("uploads_ahead", "epochs")
_NEEDED = (*_WHOLE, "magnitude", "seconds_per_epoch")  # limits that there always are
_ENDING = tuple(each.name for each in fields(Ending))
NAMES = (
    "deadline", *_ENDING, *(_PREFIX + each.name for each in (*fields(Bounds), *fields(Limits)) if each.name != "bounds")
)  # fmt: skip

Value = float | None  # None: no limit, no deadline, no end


@dataclass(frozen=True)
class Tuning:
    """Limits, the deadline and the end of decisions, as a file says them or as they hold.

    >>> Tuning(Limits(Bounds(reward=2.0))).values()["limits.reward"]
    2.0
    """

    limits: Limits = field(default_factory=Limits)
    deadline: float | None = None
    ending: Ending = field(default_factory=Ending)

    def values(self) -> dict[str, Value]:
        """Return all of it by the names under which it is changed."""
        told: dict[str, Any] = asdict(self.limits)
        told |= told.pop("bounds")
        limits = {_PREFIX + name: None if each is None or math.isinf(each) else each for name, each in told.items()}
        return {"deadline": self.deadline, **asdict(self.ending), **limits}

    @classmethod
    def of(cls, values: Mapping[str, Value]) -> Tuning:
        """Return what values by those names stand for, or say what is wrong with one."""
        given = {name.removeprefix(_PREFIX): each for name, each in values.items() if name.startswith(_PREFIX)}
        bounds = Bounds(**{name: _or_infinite(given.pop(name)) for name in _BOUNDS})
        ahead = given.pop("observations_ahead")
        more: dict[str, Any] = {name: _or_infinite(each) for name, each in given.items()}
        more |= {name: int(more[name]) for name in _WHOLE}
        limits = Limits(bounds, observations_ahead=ahead, **more)
        return cls(limits, values["deadline"], Ending(*(values[name] for name in _ENDING)))


@dataclass(frozen=True)
class Retuned:
    """Values by name, each with what the coordinator's file said when it was changed.

    >>> retuned = Retuned().with_values({"limits.reward": 2.0}, Tuning())
    >>> retuned.on(Tuning()).limits.bounds.reward, retuned.on(Tuning(Limits(Bounds(reward=1.0)))).limits.bounds.reward
    (2.0, 1.0)
    """

    values: dict[str, tuple[Value, Value]] = field(default_factory=dict)
    files: tuple[int, ...] = ()  # fingerprints of the charters that the file has had when it was read again

    def with_values(self, values: Mapping[str, Value], file: Tuning) -> Retuned:
        """Return it with more values, given what the file says now."""
        said = file.values()
        return Retuned({**self.values, **{name: (value, said[name]) for name, value in values.items()}}, self.files)

    def with_file(self, fingerprint: int) -> Retuned:
        """Return it with one more charter that the file may have."""
        return self if fingerprint in self.files else Retuned(self.values, (*self.files, fingerprint))

    def on(self, file: Tuning) -> Tuning:
        """Return what holds where the file says this."""
        said = file.values()
        held = {name: value for name, (value, then) in self.values.items() if said[name] == then}
        return Tuning.of({**said, **held}) if held else file

    @property
    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps({"values": self.values, "files": self.files}, sort_keys=True)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Retuned:
        """Return what JSON stands for."""
        return cls({name: (each[0], each[1]) for name, each in values["values"].items()}, tuple(values["files"]))


def read_value(name: str, given: Any) -> Value:
    """Return the value of one of the names, given as on the command line; `inf` or `none` takes it away.

    >>> read_value("limits.reward", "2"), read_value("deadline", "none"), read_value("default_reward", "-1")
    (2.0, None, -1.0)
    """
    short, word = name.removeprefix(_PREFIX), str(given).strip().lower()
    if (given is None or word in ("none", "inf")) and short not in _NEEDED:
        return None
    try:
        number = math.nan if isinstance(given, bool) else float(word)
    except ValueError:
        number = math.nan
    least = -math.inf if short == "default_reward" else 0.0
    if not least < number < math.inf or (short in _WHOLE and not number.is_integer()):
        kind = "a whole number" if short in _WHOLE else "a number"
        size = "" if short == "default_reward" else " greater than 0"
        raise InvalidInput(f"{name} must be {kind}{size}, not {given!r}: give one, as in {name}=2")
    return number


def _or_infinite(value: Value) -> float:
    return math.inf if value is None else value
