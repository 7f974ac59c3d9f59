"""Which messages one side of a federation takes in, and of what shape: from the declarations, nothing else.

The kinds are those in the annotation of the side's `receive`; the shapes are declared with the messages' fields.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Never, get_args, get_type_hints

from fedbandit.core.algorithm import Setting
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.interfaces import Clients, Server
from fedbandit.core.messages import Layout, Message, Upload
from fedbandit.wire import decode
from fedbandit.wire.codec import MOST_VALUES

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Schema:
    """The messages that a side takes in."""

    known: dict[str, type[Message]]
    shapes: dict[str, dict[str, Shape | None]]  # by kind and field; None where none was declared
    most_values: int  # in one field
    most_bytes: int  # of one message

    @classmethod
    def of(cls, side: Clients | Server, direction: type[Message], setting: Setting) -> Schema:
        """Read the declarations of a side of an algorithm, which receives uploads or downloads, for a setting.

        >>> from fedbandit.algorithms.async_linucb import AsyncLinUCB
        >>> setting = Setting(clients=3, arms=2, dimension=4, horizon=1)
        >>> sorted(Schema.of(AsyncLinUCB().build(setting).server, Upload, setting).known)
        ['linear.hello', 'linear.statistics']
        """
        sizes = {"N": setting.clients, "K": setting.arms, "d": setting.dimension, **getattr(side, "sizes", {})}
        known = {kind.kind: kind for kind in _annotated(side, direction)}
        shapes = {
            name: {field: _resolved(name, field, shape, sizes) for field, shape in kind.shapes().items()}
            for name, kind in known.items()
        }
        declared = [shape for each in shapes.values() for shape in each.values()]
        whole = [shape for shape in declared if shape is not None]
        if len(whole) < len(declared):
            return cls(known, shapes, MOST_VALUES, 16 * MOST_VALUES)
        most_bytes = max((_bytes(known[name], each) for name, each in shapes.items()), default=0)
        return cls(known, shapes, max(map(math.prod, whole), default=0), most_bytes)

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
        message = decode(data, self.most_values, self.known)
        skip = 1 if isinstance(message, Upload) else 0
        for field, shape in self.shapes[message.kind].items():
            value = getattr(message, field)
            if shape is not None and value.shape[skip:] != shape:
                raise ProtocolError(f"{field} of {message.kind!r} has shape {value.shape[skip:]}, not {shape}")
        return message


def _annotated(side: Clients | Server, direction: type[Message]) -> list[type[Message]]:
    hint: Any = get_type_hints(type(side).receive)["message"]
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


def _bytes(kind: type[Message], shapes: dict[str, Shape | None]) -> int:
    headers = sum(layout is Layout.HEADER for layout in kind.layout().values())
    arrays = sum(3 + 4 * len(shape) + 8 * math.prod(shape) for shape in shapes.values() if shape is not None)
    return 4 + len(kind.kind) + 8 * headers + arrays
