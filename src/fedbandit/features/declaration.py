"""A declaration of features: its four tables, checked as a whole, and its fingerprint."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.features.canonical import canonical
from fedbandit.features.checks import checked_size, checked_weight, names_in, one_of, only, shown
from fedbandit.features.kinds import Feature, read_feature
from fedbandit.features.values import different_texts

LARGEST = 256  # the dimension above which features are refused, unless `largest` says otherwise
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_OPTIONS = {"constant", "main", "personal", "length", "hash_to", "largest", "arms"}


@dataclass(frozen=True)
class Cross:
    """All products of a coordinate of one feature and a coordinate of another."""

    of: tuple[str, str]
    size: int | None  # with it they are hashed into so many coordinates
    weight: float

    def declared(self) -> dict[str, Any]:
        """Return its table with every default written out."""
        size = {} if self.size is None else {"size": self.size}
        return {"of": list(self.of), **size, "weight": self.weight}


@dataclass(frozen=True)
class Declaration:
    """What a file of features declares."""

    context: dict[str, Feature]
    arm: dict[str, Feature]
    cross: dict[str, Cross]
    constant: bool = True
    main: tuple[str, ...] = ()
    personal: tuple[str, ...] = ()
    length: str = "bound"
    hash_to: int | None = None
    largest: int = LARGEST
    arms: tuple[str, ...] | None = None  # names of the arms that share one context

    @property
    def shares_context(self) -> bool:
        """Tell whether arms have no features of their own, and so share one vector."""
        return not self.arm

    @property
    def left_out(self) -> list[str]:
        """Return the context features that no coordinate of the vectors depends on."""
        crossed = {name for cross in self.cross.values() for name in cross.of}
        return [name for name in self.context if name not in crossed and name not in self.main]

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """Return the tables, with every default written out."""
        options: dict[str, Any] = {
            "constant": self.constant, "length": self.length, "main": list(self.main), "personal": list(self.personal),
        }  # fmt: skip
        if self.hash_to is not None:
            options["hash_to"] = self.hash_to
        if self.arms is not None:
            options["arms"] = list(self.arms)
        parts: dict[str, dict[str, Any]] = {"context": self.context, "arm": self.arm, "cross": self.cross}
        tables = {part: {name: each.declared() for name, each in table.items()} for part, table in parts.items()}
        return {**tables, "features": options}

    @property
    def ordered(self) -> dict[str, dict[str, Any]]:
        """Return the tables with the order of their names, which the sorted keys of canonical JSON do not tell."""
        tables = self.tables
        return {**tables, "order": {part: list(tables[part]) for part in ("arm", "context", "cross")}}

    @property
    def canonical(self) -> str:
        """Return the declaration as canonical JSON."""
        return canonical(self.ordered)

    @property
    def fingerprint(self) -> str:
        """Return 16 hexadecimal digits that two declarations share if they make the same vectors of the same values."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()[:16]


def read_declaration(tables: Mapping[str, Any]) -> Declaration:
    """Return what tables declare.

    >>> tables = {"arm": {"price": {"kind": "number", "range": [0, 500]}}}
    >>> read_declaration(tables).fingerprint
    '776f92f558a0692d'
    """
    if not isinstance(tables, Mapping):
        raise InvalidInput(f"features must be tables, not {shown(tables)}: give a dict, or read a file of features")
    only("features", tables, ("context", "arm", "cross", "features"))
    context, arm = (_features(part, _table(tables, part)) for part in ("context", "arm"))
    if not context and not arm:
        raise InvalidInput("no feature is declared: add one to [context] or [arm]")
    for name in context:
        if name in arm:
            raise InvalidInput(f"{name} is declared in [context] and in [arm]: give one of them another name")
    cross = {name: _cross(name, table, context, arm) for name, table in _table(tables, "cross").items()}
    for name in cross:
        if name in context or name in arm:
            raise InvalidInput(f"cross.{name} has the name of a feature: give it another name")
    declared = _with_options(_table(tables, "features"), context, arm, cross)
    if context and len(declared.left_out) == len(context):
        raise InvalidInput(
            "nothing of the context is used, since by itself it adds the same to every arm: cross one of its features "
            "with one of the arms, or name it in main"
        )
    if not (declared.constant or declared.main or arm or cross):
        raise InvalidInput("these features have no coordinate: leave constant = true, or name features in main")
    return declared


def _table(tables: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    table = tables.get(part, {})
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{part} must be a table, not {shown(table)}: write [{part}]")
    if part != "features":
        for name in table:
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise InvalidInput(
                    f"{part} has the name {shown(name)}: begin with a letter or _, go on with letters, digits, _ . -"
                )
    return table


def _features(part: str, table: Mapping[str, Any]) -> dict[str, Feature]:
    return {name: read_feature(f"{part}.{name}", each) for name, each in table.items()}


def _cross(name: str, table: Any, context: dict[str, Feature], arm: dict[str, Feature]) -> Cross:
    where = f"cross.{name}"
    if not isinstance(table, Mapping):
        raise InvalidInput(f'{where} must be a table, not {shown(table)}: write {{ of = ["segment", "price"] }}')
    only(where, table, ("of", "size", "weight"))
    of = table.get("of")
    if not isinstance(of, list | tuple) or len(of) != 2:
        raise InvalidInput(f"{where}.of must name two features, not {shown(of)}: give both")
    for each in of:
        names_in(f"{where}.of", [each], [*context, *arm], "feature")
    if arm and of[0] in context and of[1] in context:
        raise InvalidInput(
            f"{where} is of two context features, so it adds the same to every arm: cross one with an arm's feature"
        )
    size = checked_size(f"{where}.size", table["size"]) if "size" in table else None
    return Cross((of[0], of[1]), size, checked_weight(where, table))


def _with_options(
    table: Mapping[str, Any], context: dict[str, Feature], arm: dict[str, Feature], cross: dict[str, Cross]
) -> Declaration:
    only("[features]", table, _OPTIONS)
    constant = table.get("constant", True)
    if not isinstance(constant, bool):
        raise InvalidInput(f"features.constant must be true or false, not {shown(constant)}: give one of them")
    main = names_in("features.main", table.get("main", [] if arm else list(context)), context, "context feature")
    personal = names_in("features.personal", table.get("personal", []), [*main, *arm, *cross], "block")
    hash_to = checked_size("features.hash_to", table["hash_to"]) if "hash_to" in table else None
    if hash_to is not None and personal:
        raise InvalidInput(
            f"features.hash_to={hash_to} mixes all blocks, so none can be personal: leave out hash_to or personal"
        )
    length = one_of("features", table, "length", ("bound", "unit"))
    largest = checked_size("features.largest", table.get("largest", LARGEST))
    order = [name for name in (*main, *arm, *cross) if name in personal]
    return Declaration(
        context, arm, cross, constant, main, tuple(order), length, hash_to, largest, _arms(table.get("arms"), arm)
    )


def _arms(names: Any, arm: dict[str, Feature]) -> tuple[str, ...] | None:
    if names is None:
        return None
    if arm:
        raise InvalidInput("features.arms names arms that share one context, but there is an [arm]: leave one out")
    texts = different_texts(names)
    if len(texts) < 2:
        raise InvalidInput(f"features.arms must be two or more different names, not {shown(names)}: give them in order")
    return texts
