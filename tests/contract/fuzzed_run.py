"""An honest run with hostile frames before each of its uploads, and the numbers that they are made of."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np

from contract.honest_runs import LENGTH, REWARD, HonestRun
from fedbandit.core.bounds import Bounds
from fedbandit.core.messages import Layout
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.wire import decode, encode
from fedbandit.wire.frame import BODIES, Frame, Kind
from fedbandit.wire.state import encode_state

NUMBERS = np.array(
    [0.0, -0.0, 1.0, -1.0, 1e-300, 1e-9, 1e9, -1e9, 1e30, 1e38, 1e99, -1e99, 1e100, -1e100, 1e154, 1e300]
)
COUNTS = [0, 1, 2, -1, -30, 7, 1000, 2**20, 2**31, 2**40, 2**41, 2**62, 2**63 - 1, -(2**63)]
FACTORS = [-1.0, 0.0, 0.5, 0.999, 1.001, 2.0, 10.0, 1e6]
LIMITS = (
    Limits(Bounds(LENGTH, REWARD)),
    Limits(Bounds(LENGTH, REWARD), observations_per_second=1.0, uploads_ahead=16, epochs=50),
)
MEMORY = 40  # uploads that a mutant may be made of


class FuzzedRun(HonestRun):
    """An honest run with hostile frames before each of its uploads."""

    def __init__(self, name, tally, seed, most, rounds=12, intensity=30, limits=LIMITS):
        self.rng = np.random.default_rng([seed, 77])
        super().__init__(name, rounds, seed, limits=limits[seed % len(limits)])
        self.tally, self.most, self.intensity = tally, most, intensity
        self.past: list[Frame] = []
        self.clock = 0.0
        self.sent = 0

    def upload(self, frame, now):
        self.past = [*self.past[-MEMORY:], frame]
        if self.sent < self.most:
            for _ in range(int(self.rng.integers(0, 2 * self.intensity))):
                self.receive(self.mutant())
            if self.rng.random() < 0.05:
                self.server.deadline(self.clock)
            self.check()
        self.clock += self.rng.exponential(1.0)
        super().upload(frame, self.clock)

    def receive(self, data):
        self.sent += 1
        self.clock += self.rng.exponential(0.01)
        verdict = self.server.receive(data, self.clock, int(self.rng.integers(3)) if self.rng.random() < 0.01 else None)
        self.tally.outcomes[verdict.outcome] += 1
        assert verdict.reason or verdict.outcome in (Outcome.ACCEPTED, Outcome.REPEATED), "a refusal without a reason"

    def check(self):
        """Nothing that the coordinator knows or holds is other than finite."""
        for name, array in numbers_in(self.server.node.state):
            assert np.isfinite(array).all(), f"{name} is not finite: {array}"
        for held in self.server.postbox.latest.values():
            for envelope in held:
                for name in envelope.message.shapes():
                    assert np.isfinite(np.asarray(getattr(envelope.message, name))).all(), f"{name} is not finite"

    def check_journal(self):
        """What the journal tells is what the coordinator knows."""
        self.server.commit()
        again = DurableServer(self.charter, self.server.journal, epoch=1, now=self.clock)
        again.node.epoch = self.server.node.epoch  # every start has one of its own
        assert encode_state(again.node.memory) == encode_state(self.server.node.memory)

    # Mutants.

    def pick(self, some):
        return some[int(self.rng.integers(len(some)))]

    def mutant(self):
        frame = self.past[-1] if self.rng.random() < 0.5 else self.pick(self.past)
        frame = replace(frame, epoch=int(self.rng.integers(2, 6)), client=int(self.rng.integers(3)))
        frame = replace(frame, sequence=self.server.node.seen.look(frame.client, frame.epoch).up_to + 1)
        kind = self.rng.random()
        if kind < 0.65:
            frame = replace(frame, body=self.message(frame.body))
        elif kind < 0.72:
            frame = replace(frame, body=self.bytes(frame.body))
        elif kind < 0.82:
            frame = self.other_kind(frame)
        if self.rng.random() < 0.15:
            frame = self.renumbered(frame)
        if self.rng.random() < 0.1:
            frame = replace(frame, is_old=True, epoch=frame.epoch % 2**32)
        data = frame.to_bytes()
        return self.bytes(data) if self.rng.random() < 0.02 else data

    def message(self, body):
        message = decode(body)
        for _ in range(int(self.rng.integers(1, 3))):
            if not message.layout():
                break
            name = self.pick(list(message.layout()))
            change = self.header if message.layout()[name] is Layout.HEADER else self.array
            message = replace(message, **{name: change(name, np.array(getattr(message, name)), message.layout()[name])})
        with np.errstate(all="ignore"):
            return encode(message)

    def header(self, name, value, layout):
        how = self.rng.random()
        if how < 0.5:
            return value + int(self.rng.integers(-3, 4))
        other = self.swapped(name)
        if how < 0.7 and other is not None:
            return other
        return np.array([self.pick(COUNTS)])

    def array(self, name, value, layout):
        how = self.rng.random()
        with np.errstate(all="ignore"):
            if how < 0.35 or not value.size:
                changed = value * self.pick(FACTORS)
            elif how < 0.65:
                changed = value.copy()
                changed.reshape(-1)[int(self.rng.integers(changed.size))] = self.pick(NUMBERS)
            elif how < 0.75:
                changed = np.full_like(value, self.pick(NUMBERS))
            elif how < 0.85:
                changed = value + self.rng.standard_normal(value.shape) * self.pick(FACTORS)
            elif how < 0.97 or layout is Layout.NUMBER:
                changed = self.swapped(name)
            else:
                size = int(self.rng.integers(0, 8))
                changed = np.zeros((1, size, size)) if value.ndim == 3 else np.zeros((1, size))
        return value if changed is None else changed.astype(value.dtype)

    def swapped(self, name):
        other = decode(self.pick(self.past).body)
        return np.array(getattr(other, name)) if name in other.layout() else None

    def bytes(self, data):
        how = self.rng.random()
        if how < 0.3:
            return data[: int(self.rng.integers(len(data) + 1))]
        if how < 0.4:
            return data + self.rng.bytes(int(self.rng.integers(1, 40)))
        if how < 0.5:
            return self.rng.bytes(int(self.rng.integers(0, 200)))
        changed = bytearray(data)
        for _ in range(int(self.rng.integers(1, 4))):
            if changed:
                changed[int(self.rng.integers(len(changed)))] ^= 1 << int(self.rng.integers(8))
        return bytes(changed)

    def other_kind(self, frame):
        kind = self.pick(list(Kind))
        form = BODIES.get(kind)
        numbers = self.rng.bytes(form.size) if form else self.rng.bytes(int(self.rng.integers(0, 30)))
        if form and self.rng.random() < 0.7:  # small numbers, which mean something
            numbers = bytes(each if place % 8 == 0 else 0 for place, each in enumerate(numbers))
        return replace(frame, kind=kind, body=numbers)

    def renumbered(self, frame):
        numbers = [0, 1, 2, frame.sequence - 1, frame.sequence + 1, frame.sequence + 20, 5000, 2**62, 2**63]
        return replace(
            frame,
            client=self.pick([0, 1, 2, 3, 2**31]),
            epoch=self.pick([0, 1, 2, 3, 2**31, 2**62, 2**63, int(self.rng.integers(1000))]),
            sequence=max(0, self.pick(numbers)),
        )


def numbers_in(value, name="state"):
    """Yield the name and the value of all numbers that are not whole."""
    if hasattr(value, "__array__") or isinstance(value, float):
        array = np.asarray(value)
        if name.endswith((".level", ".lowest")):  # infinite of a client that the server has not met
            array = np.where(array == np.inf, 0.0, array)
        if array.dtype.kind == "f":
            yield name, array
        return
    if is_dataclass(value):
        inside = {each.name: getattr(value, each.name) for each in fields(value)}
    elif hasattr(value, "_asdict"):
        inside = value._asdict()
    elif isinstance(value, tuple | list):
        inside = dict(enumerate(value))
    else:
        inside = {}
    for each, part in inside.items():
        yield from numbers_in(part, f"{name}.{each}")
