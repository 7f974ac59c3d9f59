"""What may travel: typed messages, declared field by field.

A message is a frozen dataclass of arrays and header integers. The declaration alone says how it is counted
(scalars, as the papers count) and how it is packed (bytes, see `fedbandit.wire`); no algorithm counts for itself.

An `Upload` carries one row for each of its senders, so that a thousand clients' uploads are one object.
A `Download` carries one payload for all its recipients. A message without payload is a *signal* (a client's
first hello, a question, a call to synchronise): it steers the protocol. It is not counted as a message; its bytes are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds


class Layout(Enum):
    """How an array of a message is packed."""

    DENSE = "dense"
    SYMMETRIC = "symmetric"  # of the last two axes only the upper triangle travels
    SPARSE = "sparse"  # travels as index-value pairs where that is smaller
    FACTOR = "factor"  # an upper triangular matrix, of which rows of zeros at the end do not travel
    HEADER = "header"  # an integer that steers the protocol; not one of the papers' scalars
    NUMBER = "number"  # the same, but a float
    NUMBERS = "numbers"  # the same, but several floats, packed as a dense array
    BYTES = "bytes"  # the same, but bytes: keys, signatures, what only its recipient can read
    WORDS = "words"  # numbers modulo 2^64, which masks hide: see `fedbandit.secure`

    @property
    def is_header(self) -> bool:
        """Tell whether a field is one number that steers the protocol."""
        return self in (Layout.HEADER, Layout.NUMBER)

    @property
    def is_payload(self) -> bool:
        """Tell whether a field is what the papers count as scalars; all others steer the protocol."""
        return not self.is_header and self not in (Layout.NUMBERS, Layout.BYTES)


def array(layout: Layout = Layout.DENSE, shape: tuple[str | int, ...] | None = None) -> Any:
    """Declare an array field of a message.

    `shape` is that of one sender's row, or of a download's payload, in names: "d" for the dimension of the arms, "K"
    for their number, "N" for the number of clients, others as the side's `sizes` says. A coordinator takes in only
    uploads whose shapes are declared.
    """
    return field(metadata={"layout": layout, "shape": shape})


def header(layout: Layout = Layout.HEADER) -> Any:
    """Declare a number of the message that is protocol, not payload: a version, a count; a float with Layout.NUMBER."""
    return field(metadata={"layout": layout})


def held() -> Any:
    """Declare the field `holds` of a download, its last: which of a recipient's uploads are in it.

    The server's node fills it in, one number for each recipient, and the client's node reads it: see
    `protocol.held_uploads`. An algorithm leaves it alone.
    """
    return field(default=0, metadata={"layout": Layout.HEADER})


@dataclass(frozen=True)
class Message:
    """The root of all messages; subclasses with a `kind` can be decoded from bytes."""

    kind: ClassVar[str] = ""
    known: ClassVar[dict[str, type[Message]]] = {}

    def __init_subclass__(cls, kind: str = "", **more: Any) -> None:
        """Give a message type the name that it has on the wire."""
        super().__init_subclass__(**more)
        cls.kind = kind
        if kind:
            Message.known[kind] = cls

    @classmethod
    @cache
    def layout(cls) -> dict[str, Layout]:
        """Return the layout of every field, in order."""
        return {each.name: each.metadata["layout"] for each in fields(cls)}

    @classmethod
    @cache
    def shapes(cls) -> dict[str, tuple[str | int, ...] | None]:
        """Return the declared shape of every array, or None where none was declared."""
        return {each.name: each.metadata["shape"] for each in fields(cls) if "shape" in each.metadata}

    @classmethod
    @cache
    def arrays(cls) -> dict[str, Layout]:
        """Return the layout of every field that is an array, in order."""
        return {name: layout for name, layout in cls.layout().items() if not layout.is_header}

    @classmethod
    @cache
    def is_signal(cls) -> bool:
        """Tell whether the type carries no payload, and so is not counted as a message."""
        return not any(layout.is_payload for layout in cls.layout().values())

    @classmethod
    @cache
    def tells_what_it_holds(cls) -> bool:
        """Tell whether a download says which of a recipient's uploads are in it."""
        return "holds" in cls.layout()

    def told_each(self) -> Ints | None:
        """Return what it says to each recipient of the uploads that it holds; None: nothing, or the same to all."""
        holds: Any = vars(self)["holds"] if self.tells_what_it_holds() else 0
        return holds if np.ndim(holds) else None


@dataclass(frozen=True)
class Upload(Message):
    """From clients to the server: row k of every field belongs to the k-th sender."""

    def rows(self, which: Ints | slice) -> Self:
        """Return the message of some of its senders."""
        return replace(self, **{name: getattr(self, name)[which] for name in self.layout()})

    def check(self, bounds: Bounds) -> None:
        """Raise ProtocolError if no honest client can have sent this, given what is known of the data.

        What is declared (shapes, finite numbers) has been checked before; a type that knows more says so here: signs,
        symmetry, definiteness, sizes for the number of observations, ranges of headers. What depends on parameters or
        on what the server has heard before is the server side's to say: see `core.interfaces.Server.check`.
        """

    def rests_on(self, told: int) -> int:  # noqa: ARG002
        """Return over how many observations of its sender this is, where messages before it told of so many in all.

        A coordinator compares it with the smallest upload, and an audit shows it. A type that does not say it rests on
        one observation, and on none if it is a signal.
        """
        return 0 if self.is_signal() else 1

    def new_observations(self, before: int) -> int:  # noqa: ARG002
        """Return how many observations this speaks of that the sender's uploads before, of `before` in all, did not.

        A coordinator limits the rate of a site by it, and tells its share. A type that does not say it counts as one
        observation, and as none if it is a signal.
        """
        return 0 if self.is_signal() else 1

    def excess(self, bounds: Bounds) -> float:  # noqa: ARG002
        """Return by how many observations it is beyond those that it names, if rounding may be the reason.

        A type whose numbers are rounded says it; see `core.interfaces.Server.rounding` for how much is let in.
        """
        return 0.0


@dataclass(frozen=True)
class Download(Message):
    """From the server to clients: one payload for all recipients, but for `holds`, of which each has its own."""

    def to_some(self, which: Ints | slice) -> Self:
        """Return the message to some of its recipients, given by their places."""
        holds = self.told_each()
        if holds is None:
            return self
        some = holds[which]
        return self.holding(int(some[0]) if len(some) == 1 else some)

    def holding(self, holds: int | Ints) -> Self:
        """Return the message with what it says of its recipients' uploads: see `held`."""
        fields: dict[str, Any] = {**vars(self), "holds": holds}
        return type(self)(**fields)


def one_row(value: float | Floats) -> Floats:
    """Return a sole sender's value as the one row of an upload's field.

    >>> one_row(np.zeros(3)).shape
    (1, 3)
    """
    return np.asarray(value)[np.newaxis]
