"""The kinds of features: what a table declares, checked, and the coordinates that it makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar

from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.features.checks import checked_size, checked_weight, is_number, one_of, only, shown
from fedbandit.features.values import different_texts
from fedbandit.kernels.features.encoding import BINS, CATEGORY, MARK, NUMBER, REFUSE, TEXT, ZERO
from fedbandit.kernels.features.logarithm import plain_logarithm

_OTHERWISE = {"refuse": REFUSE, "zero": ZERO, "indicator": MARK, "other": MARK}


@dataclass(frozen=True)
class Feature(ABC):
    """One feature of the context or of the arms."""

    weight: float

    kind: ClassVar[str]
    code: ClassVar[int]  # of the kernel
    takes_numbers: ClassVar[bool] = False

    @abstractmethod
    def names(self, name: str) -> list[str]:
        """Return the names of its coordinates."""

    @property
    def numbers(self) -> list[float]:
        """Return the numbers by which the kernel reads values."""
        return []

    @property
    def choices(self) -> int:
        """Return how many edges or levels the kernel chooses from."""
        return 0

    @property
    def otherwise(self) -> int:
        """Return what the kernel makes of a missing value, or of an unknown level."""
        return ZERO

    def declared(self) -> dict[str, Any]:
        """Return its table with every default written out."""
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {"kind": self.kind, **values}


@dataclass(frozen=True)
class Number(Feature):
    """A number: cut off at the ends of its range, which become -1 and 1."""

    range: tuple[float, float]
    scale: str
    missing: str

    kind = "number"
    code = NUMBER
    takes_numbers = True

    @classmethod
    def read(cls, where: str, table: Mapping[str, Any]) -> Number:
        """Return what a table declares."""
        only(where, table, {"kind", "weight", "range", "scale", "missing"})
        ends = table.get("range")
        if not isinstance(ends, list | tuple) or len(ends) != 2 or not all(map(is_number, ends)) or ends[0] >= ends[1]:
            raise InvalidInput(f"{where}.range must be two numbers, the smaller first, not {shown(ends)}: give both")
        scale = one_of(where, table, "scale", ("linear", "log"))
        if scale == "log" and ends[0] <= 0:
            raise InvalidInput(f"{where}.range begins at {ends[0]:g}, which has no logarithm: begin above 0")
        missing = one_of(where, table, "missing", ("refuse", "zero", "indicator"))
        return cls(checked_weight(where, table), (ends[0], ends[1]), scale, missing)

    def names(self, name: str) -> list[str]:
        """Return its own name, and where a missing value is marked one more."""
        return [name, f"{name}?"] if self.missing == "indicator" else [name]

    @property
    def numbers(self) -> list[float]:
        """Return the range, the same on its scale, and which scale that is."""
        is_log = self.scale == "log"
        return [*self.range, *(plain_logarithm(float(end)) if is_log else end for end in self.range), float(is_log)]

    @property
    def otherwise(self) -> int:
        """Return what a missing number becomes."""
        return _OTHERWISE[self.missing]


@dataclass(frozen=True)
class Bins(Feature):
    """A number of which only the bin matters in which it lies."""

    edges: tuple[float, ...]
    missing: str

    kind = "bins"
    code = BINS
    takes_numbers = True

    @classmethod
    def read(cls, where: str, table: Mapping[str, Any]) -> Bins:
        """Return what a table declares."""
        only(where, table, {"kind", "weight", "edges", "missing"})
        edges: Any = table.get("edges")
        is_right = isinstance(edges, list | tuple) and edges and all(map(is_number, edges))
        if not is_right or any(left >= right for left, right in pairwise(edges)):
            raise InvalidInput(f"{where}.edges must be growing numbers, not {shown(edges)}: give at least one")
        return cls(checked_weight(where, table), tuple(edges), one_of(where, table, "missing", ("refuse", "zero")))

    def names(self, name: str) -> list[str]:
        """Return a name for each bin."""
        return [f"{name}[{place}]" for place in range(len(self.edges) + 1)]

    @property
    def numbers(self) -> list[float]:
        """Return the edges."""
        return list(self.edges)

    @property
    def choices(self) -> int:
        """Return how many edges there are."""
        return len(self.edges)

    @property
    def otherwise(self) -> int:
        """Return what a missing number becomes."""
        return _OTHERWISE[self.missing]


@dataclass(frozen=True)
class Category(Feature):
    """One of some levels, known by their texts."""

    levels: tuple[str, ...]
    unknown: str

    kind = "category"
    code = CATEGORY

    @classmethod
    def read(cls, where: str, table: Mapping[str, Any]) -> Category:
        """Return what a table declares."""
        only(where, table, {"kind", "weight", "levels", "unknown"})
        levels = table.get("levels")
        texts = different_texts(levels)
        if not texts:
            raise InvalidInput(
                f"{where}.levels must be different texts or whole numbers, not {shown(levels)}: give at least one"
            )
        weight, otherwise = checked_weight(where, table), one_of(where, table, "unknown", ("other", "zero", "refuse"))
        return cls(weight, texts, otherwise)

    def names(self, name: str) -> list[str]:
        """Return a name for each level, and where others have a coordinate one more."""
        levels = [*self.levels, "?"] if self.unknown == "other" else self.levels
        return [f"{name}={level}" for level in levels]

    @property
    def choices(self) -> int:
        """Return how many levels there are."""
        return len(self.levels)

    @property
    def otherwise(self) -> int:
        """Return what an unknown or missing level becomes."""
        return _OTHERWISE[self.unknown]


@dataclass(frozen=True)
class Hashed(Feature):
    """A value among many, or a list of them, placed by a hash."""

    size: int

    kind = "hashed"
    code = TEXT

    @classmethod
    def read(cls, where: str, table: Mapping[str, Any]) -> Hashed:
        """Return what a table declares."""
        only(where, table, {"kind", "weight", "size"})
        return cls(checked_weight(where, table), checked_size(f"{where}.size", table.get("size")))

    def names(self, name: str) -> list[str]:
        """Return a name for each place."""
        return [f"{name}#{place}" for place in range(self.size)]


@dataclass(frozen=True)
class Text(Hashed):
    """The words of a text, each placed by a hash."""

    kind = "text"


KINDS: dict[str, Any] = {each.kind: each for each in (Number, Bins, Category, Hashed, Text)}


def read_feature(where: str, table: Any) -> Feature:
    """Return the feature that a table declares.

    >>> read_feature("context.hour", {"kind": "bins", "edges": [6, 12, 18]}).names("hour")
    ['hour[0]', 'hour[1]', 'hour[2]', 'hour[3]']
    """
    if not isinstance(table, Mapping):
        raise InvalidInput(f'{where} must be a table, not {shown(table)}: write {{ kind = "number", ... }}')
    kind = table.get("kind")
    if kind not in KINDS:
        raise unknown(f"kind of {where}", str(kind), KINDS)
    feature: Feature = KINDS[kind].read(where, table)
    return feature


def coding_order(features: Mapping[str, Feature]) -> list[str]:
    """Return the names of features in the order in which their values are coded: numbers first, which are quickest.

    >>> hashed, bins = {"kind": "hashed", "size": 8}, {"kind": "bins", "edges": [12]}
    >>> coding_order({"sku": read_feature("arm.sku", hashed), "hour": read_feature("arm.hour", bins)})
    ['hour', 'sku']
    """
    return sorted(features, key=lambda name: not features[name].takes_numbers)
