"""Where the coordinates of a declaration stand, and the plan by which a kernel fills them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.features.declaration import Declaration
from fedbandit.features.kinds import Feature, Hashed, coding_order
from fedbandit.features.values import place_of
from fedbandit.kernels.features.encoding import Plan


class Block(NamedTuple):
    """A part of the vectors: a feature by itself, a cross, or the constant."""

    name: str
    names: list[str]  # of its coordinates
    terms: list[tuple[int, int, int, int]]  # coordinate in the block, two places in z, sign
    weight: float
    is_hashed: bool  # a cross, which may be longer than its weight then, and is cut


class Layout:
    """The blocks of a declaration in their order.

    >>> from fedbandit.features.declaration import read_declaration
    >>> Layout(read_declaration({"arm": {"price": {"kind": "number", "range": [0, 500]}}})).names
    ['1', 'price']
    """

    def __init__(self, declared: Declaration) -> None:
        """Lay out the coordinates; more of them than is allowed are refused."""
        self._declared = declared
        self._places: dict[str, tuple[int, list[str]]] = {}  # of each feature: its place in z, and its names
        place = 1
        for name, feature in (*declared.context.items(), *declared.arm.items()):
            names = feature.names(name)
            self._places[name] = place, names
            place += len(names)
        self.coordinates = place  # of z
        blocks = self._blocks()
        self.blocks = sorted(blocks, key=lambda block: block.name in declared.personal)
        self.width = sum(len(each.names) for each in self.blocks)  # before `hash_to`
        personal = sum(len(each.names) for each in self.blocks if each.name in declared.personal)
        self.dimension = self.width if declared.hash_to is None else declared.hash_to
        self.global_dimension = self.dimension - personal
        if self.dimension > declared.largest:
            raise _too_large(self, declared)

    @property
    def names(self) -> list[str]:
        """Return the names of the coordinates of a vector."""
        if self._declared.hash_to is not None:
            return [f"x#{place}" for place in range(self._declared.hash_to)]
        return self._unfolded

    @property
    def blocks_of_names(self) -> list[str]:
        """Return which feature or cross each coordinate belongs to; none where it is the constant, or hashed."""
        if self._declared.hash_to is not None:
            return [""] * self._declared.hash_to
        return [block.name for block in self.blocks for _ in block.names]

    @property
    def _unfolded(self) -> list[str]:
        return [name for block in self.blocks for name in block.names]

    @property
    def divisor(self) -> float:
        """Return what all vectors are divided by, so that none is longer than 1; 1 where each has its own length."""
        if self._declared.length == "unit":
            return 1.0
        return math.sqrt(math.fsum(block.weight**2 for block in self.blocks))

    def plan(self) -> Plan:
        """Return what the kernel needs."""
        declared = self._declared
        numbers: list[float] = []
        described: dict[str, list[int]] = {}
        for name, feature in (*declared.context.items(), *declared.arm.items()):
            place, names = self._places[name]
            described[name] = [feature.code, place, len(names), len(numbers), feature.choices, feature.otherwise]
            numbers += feature.numbers
        divisor = self.divisor
        terms, factors, hashed, longest, first = [], [], [], [], 0
        for block in self.blocks:
            terms += [(first + coordinate, left, right) for coordinate, left, right, _ in block.terms]
            factors += [sign * block.weight / divisor for *_, sign in block.terms]
            if block.is_hashed:
                hashed.append((first, first + len(block.names)))
                longest.append(block.weight / divisor)
            first += len(block.names)
        size = declared.hash_to
        folded = [] if size is None else [place_of(name.encode(), size, seed=1) for name in self._unfolded]
        return Plan(
            context=_table([described[name] for name in coding_order(declared.context)], 6),
            arm=_table([described[name] for name in coding_order(declared.arm)], 6),
            numbers=np.array(numbers, dtype=np.float64),
            terms=_table(terms, 3),
            factors=np.array(factors),
            hashed=_table(hashed, 2),
            longest=np.array(longest, dtype=np.float64),
            folded=_table(folded, 2),
        )

    def _blocks(self) -> list[Block]:
        declared = self._declared
        blocks = [Block("", ["1"], [(0, 0, 0, 1)], 1.0, is_hashed=False)] if declared.constant else []
        blocks += [self._alone(name, declared.context[name]) for name in declared.main]
        blocks += [self._alone(name, feature) for name, feature in declared.arm.items()]
        for name, cross in declared.cross.items():
            (left, lefts), (right, rights) = (self._places[each] for each in cross.of)
            pairs = [(f"{a}*{b}", left + i, right + j) for i, a in enumerate(lefts) for j, b in enumerate(rights)]
            names, places = [pair for pair, _, _ in pairs], [(place, 1) for place in range(len(pairs))]
            if cross.size is not None:
                places = [place_of(pair.encode(), cross.size) for pair in names]
                names = [f"{name}#{place}" for place in range(cross.size)]
            terms = [(place, i, j, sign) for (_, i, j), (place, sign) in zip(pairs, places, strict=True)]
            blocks.append(Block(name, names, terms, cross.weight, is_hashed=cross.size is not None))
        return blocks

    def _alone(self, name: str, feature: Feature) -> Block:
        place, names = self._places[name]
        terms = [(coordinate, place + coordinate, 0, 1) for coordinate in range(len(names))]
        return Block(name, names, terms, feature.weight, is_hashed=False)


def _table(rows: Sequence[Sequence[int]], columns: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, columns)


def message_bytes(dimension: int) -> int:
    """Return how long a message with the sums of a linear model is: a packed matrix and a vector.

    >>> message_bytes(1204)
    5812912
    """
    return 8 * (dimension * (dimension + 1) // 2 + dimension)


def _too_large(layout: Layout, declared: Declaration) -> InvalidInput:
    largest = max(layout.blocks, key=lambda block: len(block.names))
    feature = declared.context.get(largest.name) or declared.arm.get(largest.name)
    remedy = "give it size = 32" if feature is None or isinstance(feature, Hashed) else "make it hashed with size = 32"
    return InvalidInput(
        f"these features have dimension {layout.dimension}, so each message has "
        f"{message_bytes(layout.dimension) / 1e6:.1f} MB: the largest block is {largest.name} ({len(largest.names)}); "
        f"{remedy}, or set hash_to or largest"
    )
