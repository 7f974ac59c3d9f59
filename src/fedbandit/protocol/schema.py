"""Which messages one side of a federation takes in, and of what shape: from the declarations, nothing else.

The kinds are those in the annotation of the side's `receive`, or the side's `kinds` where only some of them are used;
the shapes are declared with the messages' fields, in sizes to which the side's `sizes` may add. A side whose numbers
are not in double precision says so by `number_bytes`. All three are declared in `core.side.Side`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Never, get_args, get_type_hints

from fedbandit.core.algorithm import Setting
from fedbandit.core.around import innermost
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.interfaces import Clients, Server
from fedbandit.core.messages import Message, Upload
from fedbandit.wire import decode
from fedbandit.wire.codec import MOST_VALUES, dense_weight
from fedbandit.wire.patterns import Pattern

Shape = tuple[int, ...]
MOST_PATTERNS = 64  # that are kept: a factor has as many lengths as it can have rows


@dataclass(frozen=True)
class Schema:
    """The messages that a side takes in."""

    known: dict[str, type[Message]]
    shapes: dict[str, dict[str, Shape | None]]  # by kind and field; None where none was declared
    largest: dict[str, int]  # bytes of a message by kind, of those whose shapes are all declared

    @classmethod
    def of(cls, side: Clients | Server, direction: type[Message], setting: Setting) -> Schema:
        """Read the declarations of a side of an algorithm, which receives uploads or downloads, for a setting.

        >>> from fedbandit.algorithms.linear.async_linucb import AsyncLinUCB
        >>> setting = Setting(clients=3, arms=2, dimension=4, horizon=1)
        >>> sorted(Schema.of(AsyncLinUCB().build(setting).server, Upload, setting).known)
        ['linear.hello', 'linear.statistics']
        """
        sizes = {"N": setting.clients, "K": setting.arms, "d": setting.dimension, **side.sizes}
        known = {kind.kind: kind for kind in _taken(side, direction)}
        shapes = {
            name: {field: _resolved(name, field, shape, sizes) for field, shape in kind.shapes().items()}
            for name, kind in known.items()
        }
        weights = {
            name: dense_weight(
                name, tuple((shape, side.number_bytes) for shape in each.values() if shape is not None)
            ).bytes
            for name, each in shapes.items()
            if None not in each.values()
        }
        return cls(known, shapes, weights)

    @cached_property
    def most_values(self) -> int:
        """Return how many values a field can have."""
        declared = [shape for each in self.shapes.values() for shape in each.values()]
        return max((MOST_VALUES if shape is None else math.prod(shape) for shape in declared), default=0)

    @cached_property
    def _patterns(self) -> dict[int, Pattern]:
        """Return how messages look that need not be read byte by byte, by their length: those that came last."""
        return {}

    @cached_property
    def most_bytes(self) -> int:
        """Return how many bytes a message can have."""
        return max((self.largest.get(name, 16 * MOST_VALUES) for name in self.known), default=0)

    def require_shapes(self) -> Schema:
        """Return the schema if every array has a declared shape; else say which has not."""
        for name, shapes in self.shapes.items():
            for field, shape in shapes.items():
                if shape is None:
                    raise InvalidInput(
                        f"the message {name!r} does not declare the shape of {field!r}, so a coordinator cannot check "
                        'it: declare it, as in array(shape=("d",))'
                    )
        return self

    def open(self, data: bytes) -> Message:
        """Return the message that bytes stand for, of a known kind and of the declared shapes, or raise."""
        if len(data) > self.most_bytes:
            raise ProtocolError(f"a message of {len(data)} bytes: the largest that is taken in has {self.most_bytes}")
        read = self.open_alike([data])
        return self._read(data) if read is None else read

    def open_alike(self, data: Sequence[bytes]) -> Upload | None:
        """Return the uploads that bytes stand for, if they look like one that was opened before, but for values."""
        pattern = self._patterns.get(len(data[0]))
        return None if pattern is None else pattern.read(data)

    def _read(self, data: bytes) -> Message:
        message = decode(data, self.most_values, self.known)
        skip = 1 if isinstance(message, Upload) else 0
        for field, shape in self.shapes[message.kind].items():
            value = getattr(message, field)
            if shape is not None and value.shape[skip:] != shape:
                raise ProtocolError(f"{field} of {message.kind!r} has shape {value.shape[skip:]}, not {shape}")
        pattern = Pattern.of(message, data)
        if pattern is not None:
            if len(self._patterns) >= MOST_PATTERNS:
                self._patterns.clear()
            self._patterns[len(data)] = pattern
        return message


def _taken(side: Clients | Server, direction: type[Message]) -> Sequence[type[Message]]:
    return _annotated(side, direction) if side.kinds is None else side.kinds


def _annotated(side: Clients | Server, direction: type[Message]) -> list[type[Message]]:
    hint: Any = get_type_hints(innermost(side).receive)["message"]  # a side around it takes in what it does
    if hint is Never:  # it is never written to
        return []
    named = [each for each in get_args(hint) or (hint,) if isinstance(each, type) and issubclass(each, direction)]
    known = [each for each in Message.known.values() if issubclass(each, direction)]
    return [each for each in named if each.kind] or known


def _resolved(kind: str, field: str, shape: tuple[str | int, ...] | None, sizes: dict[str, int]) -> Shape | None:
    if shape is None:
        return None
    unknown = [each for each in shape if isinstance(each, str) and each not in sizes]
    if unknown:
        raise InvalidInput(f"{field} of {kind!r} declares a size {unknown[0]!r} that nobody knows: put it into `sizes`")
    return tuple(sizes[each] if isinstance(each, str) else each for each in shape)
