"""A hostile site: it holds a credential of its own, knows the protocol, and sends whatever may do harm.

It plays the algorithm as an honest site does, so it has uploads that a coordinator takes in, and it hears what the
coordinator sends to it. From these it forges: the same number with other contents, numbers and epochs from the past,
the future and the edges of their types, values that no honest client can send, frames of every kind in its own name
and in the names of others, and bytes that are no frame. All that it can form, in any order, from the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from fedbandit.core.messages import Layout, Message, Upload
from fedbandit.core.turns import Observations, Turns
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.schema import Schema
from fedbandit.wire import decode, encode
from fedbandit.wire.frame import BODIES, LARGEST_NUMBER, OLD_BODIES, Frame, Kind
from fedbandit.wire.header import HEADER

Thing = TypeVar("Thing")
WHO = np.zeros(1, dtype=np.int64)
TRICKS = {
    "upload": 4.0, "ask": 1.0, "strange_upload": 4.0, "other_upload": 2.0, "replay": 2.0, "numbers": 5.0,
    "closing_chain": 2.0, "claim": 2.0, "damaged": 1.0, "in_the_name_of_another": 1.0, "noise": 0.5,
}  # fmt: skip
_WIDTH = {"B": 8, "H": 16, "I": 32, "Q": 64}
_FLOATS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e100, -1e100, -1.0, -0.5, 1e9, 1e-300, 0.0, 1.0)
_COUNTS = (0, -1, -30, 1, 2, 30, 10_000, 2**31, 2**40, 2**62, -(2**63))


class HostileSite:
    """One site of the roster that means harm."""

    def __init__(self, charter: Charter, number: int, turns: Turns, rng: np.random.Generator) -> None:
        """Take the number that its credential stands for, and a world in which to play."""
        self.number = number
        self.epoch = 1
        self.sent: list[Frame] = []
        self._clients = charter.setting.clients
        self._fingerprint = charter.fingerprint
        self._turns = turns
        self._rng = rng
        sides = charter.build_for(number)
        self._side = sides.clients
        self._schema = Schema.of(sides.server, Upload, charter.setting)
        self._state: Any = self._side.start(1)
        self._own: list[Message] = []  # uploads as an honest site would send them
        self._known = [0, 1, 2, 3, 7, 2_000_000_000, 2**32 - 1, LARGEST_NUMBER, LARGEST_NUMBER + 1, 2**64 - 1]
        self._chances = np.cumsum(np.array(list(TRICKS.values())) / sum(TRICKS.values()))

    def hear(self, frame: Frame) -> None:
        """Take in what the coordinator sends, and remember every number in it."""
        self._learn_number(frame.epoch)
        self._learn_number(frame.sequence)
        if frame.kind is Kind.DOWNLOAD:
            for outgoing in self._side.receive(self._state, WHO, decode(frame.body)):
                self._own.append(outgoing.message)

    def next_frame(self) -> bytes:
        """Return something to send."""
        trick = list(TRICKS)[int(np.searchsorted(self._chances, self._rng.random(), side="right"))]
        made: Frame | bytes = getattr(self, f"_{trick}")()
        if isinstance(made, bytes):
            return made
        self.sent.append(made)
        return made.to_bytes()

    def _frame(self, kind: Kind, epoch: int, sequence: int, body: bytes, *, is_old: bool = False) -> Frame:
        """Return a frame in its own name; numbers beyond those of the header begin again at 0."""
        return Frame(kind, self.number, epoch % (2**32 if is_old else 2**64), sequence % 2**64, body, is_old)

    def _with_numbers(self, kind: Kind, epoch: int, sequence: int, *numbers: int) -> Frame:
        """Return a frame with numbers in its body, in either layout; those that are not given are any."""
        is_old = bool(self._rng.random() < 0.2)
        form = (OLD_BODIES if is_old else BODIES)[kind]
        widths = [2 ** _WIDTH[each] for each in form.format if each in _WIDTH]
        wanted = [*numbers, *(self._number() for _ in widths[len(numbers) :])]
        body = form.pack(*(number % width for number, width in zip(wanted, widths, strict=True)))
        return self._frame(kind, epoch, sequence, body, is_old=is_old)

    # What a frame is made from.

    def _learn_number(self, number: int) -> None:
        for each in (number, number + 1, max(0, number - 1)):
            if each not in self._known and len(self._known) < 60:
                self._known.append(each)

    def _one_of(self, many: Sequence[Thing]) -> Thing:
        return many[int(self._rng.integers(len(many)))]

    def _number(self) -> int:
        return int(self._one_of(self._known))

    def _some_epoch(self) -> int:
        return self._one_of([self.epoch, self.epoch, self.epoch, self.epoch + 1, self._number()])

    def _next_sequence(self, epoch: int) -> int:
        given = [each.sequence for each in self.sent if each.kind is Kind.UPLOAD and each.epoch == epoch]
        return 1 + max((each for each in given if each < 1000), default=0)

    def _message(self) -> Message:
        """Return an upload that an honest site could send, if it has one, or else one of zeros."""
        for _ in range(5):
            if self._own:
                return self._own.pop(0) if self._rng.random() < 0.5 else self._own[0]
            self._play()
        kind = self._one_of(sorted(self._schema.known))
        shapes = self._schema.shapes[kind]
        fields = {
            name: np.zeros(1, dtype=np.int64) if layout is Layout.HEADER else np.zeros((1, *(shapes.get(name) or ())))
            for name, layout in self._schema.known[kind].layout().items()
        }
        return self._schema.known[kind](**fields)

    def _play(self) -> None:
        """Have a turn as an honest site has it, until there is something to send."""
        turn = int(self._rng.integers(len(self._turns)))
        now = slice(turn, turn + 1)
        features = self._turns.features[now]
        draws = self._rng.standard_normal((1, self._side.draws))
        for outgoing in self._side.ask(self._state, WHO):
            self._own.append(outgoing.message)
        choice = self._side.choose(self._state, WHO, features, draws)
        reward = self._turns.outcomes.feedback(now, choice)
        for outgoing in self._side.learn(self._state, WHO, Observations(features, choice, reward)):
            self._own.append(outgoing.message)

    # Tricks.

    def _upload(self) -> Frame:
        """Send what an honest site could have sent."""
        return self._frame(Kind.UPLOAD, self.epoch, self._next_sequence(self.epoch), encode(self._message()))

    def _ask(self) -> Frame:
        """Ask as an honest site does, and so introduce itself."""
        question = self.epoch, 0, self.epoch, 0, self._fingerprint
        return self._frame(Kind.ASK, 0, 0, BODIES[Kind.ASK].pack(*question))

    def _strange_upload(self) -> Frame:
        """Send an upload with one field that is not as it should be, under any number."""
        message = self._message()
        layouts = message.layout()
        if layouts:
            name = self._one_of(sorted(layouts))
            value = np.array(getattr(message, name), copy=True)
            strange = _COUNTS if layouts[name] is Layout.HEADER else _FLOATS
            with np.errstate(over="ignore"):  # what half precision cannot hold becomes infinite
                if self._rng.random() < 0.5:
                    value[...] = self._one_of(strange)
                else:
                    value.reshape(-1)[int(self._rng.integers(value.size))] = self._one_of(strange)
            message = replace(message, **{name: value})
        epoch = self._some_epoch()
        sequence = self._one_of([self._next_sequence(epoch), self._next_sequence(epoch) + 1, self._number()])
        return self._frame(Kind.UPLOAD, epoch, sequence, encode(message))

    def _other_upload(self) -> Frame:
        """Send other contents under a number that was used."""
        if not self.sent:
            return self._upload()
        return replace(self._one_of(self.sent), kind=Kind.UPLOAD, body=encode(self._message()))

    def _replay(self) -> Frame:
        return self._one_of(self.sent) if self.sent else self._upload()

    def _numbers(self) -> Frame:
        """Send a frame of any kind, with any numbers in it."""
        kind = self._one_of(list(Kind))
        if kind in BODIES:
            return self._with_numbers(kind, self._some_epoch(), self._number())
        return self._frame(kind, self._some_epoch(), self._number(), self._rng.bytes(int(self._rng.integers(12))))

    def _closing_chain(self) -> Frame:
        """Close one of its epochs in favour of another, which may be the same, an earlier one or one to come."""
        epoch = self._some_epoch()
        heir = self._one_of([epoch, epoch + 1, epoch + 1, max(0, epoch - 1), self._number()])
        if self._rng.random() < 0.3:
            self.epoch = heir % 2**64
        return self._with_numbers(Kind.CLOSE, epoch, self._one_of([1, 1, 2, self._next_sequence(epoch)]), heir)

    def _claim(self) -> Frame:
        """Ask as if it knew more than the coordinator: versions, settled numbers and all else from the future."""
        return self._with_numbers(Kind.ASK, self._number(), self._number(), self._some_epoch())

    def _damaged(self) -> bytes:
        """Send a frame cut short, with a tail, or with some bytes that are others."""
        data = bytearray(self._replay().to_bytes())
        if self._rng.random() < 0.4:
            return bytes(data[: int(self._rng.integers(len(data)))])
        if self._rng.random() < 0.3:
            return bytes(data) + self._rng.bytes(3)
        for _ in range(int(self._rng.integers(1, 4))):
            data[int(self._rng.integers(len(data)))] = int(self._rng.integers(256))
        return bytes(data)

    def _in_the_name_of_another(self) -> bytes:
        frame = self._one_of([self._replay, self._closing_chain, self._claim, self._numbers])()
        return replace(frame, client=self._one_of([*range(self._clients), self._clients, 2**32 - 1])).to_bytes()

    def _noise(self) -> bytes:
        return bytes(self._rng.bytes(int(self._rng.integers(HEADER.size + 20))))
