"""How the two sides of FN-UCB put what they know into messages, and read it; in full, or by diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from fedbandit.algorithms.neural.shared.compact_arrays import CompactArray, CompactGram
from fedbandit.algorithms.neural.shared.message_format import DiagonalFormat, FullFormat
from fedbandit.algorithms.neural.shared.messages import Call, Consensus, Contribution, SyncRequest
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Message
from fedbandit.kernels.neural.arrays import Array, Numbers
from fedbandit.kernels.neural.grams import Gram, Whole
from fedbandit.kernels.neural.rounds import Rounds
from fedbandit.kernels.neural.sums import doubly


class News(NamedTuple):
    """A download, as a client of the same process or one of a network has it."""

    gram: Gram
    rows: Array | None  # by which the sums differ from the version before, where they are known
    moment: Array
    weights: Array
    ratio: float
    inverses: Array  # (number, ...)
    version: int


class Share(NamedTuple):
    """An upload: row k of every array belongs to the k-th sender."""

    gram: Gram
    moment: Array
    weights: Array
    ratio: Array
    inverse: Array

    def rows(self, which: slice | Bools) -> Share:
        """Return what some of its senders uploaded."""
        gram = Gram(*(None if part is None else np.asarray(part)[which] for part in self.gram))
        return Share(gram, *(np.asarray(each)[which] for each in self[1:]))


class Exchange:
    """The messages of one plan."""

    def __init__(self, rounds: Rounds, all_inverses: bool) -> None:
        """Take the plan, and whether every client's inverse is broadcast, or their average (section 3.4)."""
        self.rounds = rounds
        self.all_inverses = all_inverses
        self.grams = rounds.grams
        kind = DiagonalFormat if rounds.plan.diagonal else FullFormat
        self.format: FullFormat = kind(rounds.network, rounds.plan.ridge)
        self._consensus = self.format.each if all_inverses else self.format.averaged
        self.uploads: tuple[type[Message], ...] = (SyncRequest, self.format.contribution)
        self.downloads: tuple[type[Message], ...] = (Call, self._consensus)
        self.sizes = {"p": rounds.network.parameters}
        self.number_bytes = rounds.device.dtype.itemsize

    def contribution(
        self, gram: Gram, moment: Array, weights: Array, ratio: Floats, inverse: Array, version: Ints, count: Ints
    ) -> Contribution:
        """Return what clients upload, who were called by a version, over so many observations of each."""
        form = self.format
        return form.contribution(
            form.gram(gram), form.moment(moment), weights, ratio, form.inverse(inverse), version, count
        )

    def consensus(
        self, whole: Whole, moment: Array, weights: Array, ratio: Floats, inverses: Array, version: int
    ) -> Consensus:
        """Return what the server broadcasts: of each array its one row, of one inverse only that."""
        form = self.format
        inverse = form.inverse(inverses).first
        return self._consensus(
            form.gram(whole.gram, whole.news).first,
            form.moment(moment).first,
            CompactArray((weights,), np.asarray, weights.shape).first,
            ratio,
            inverse if self.all_inverses else inverse.first,
            version,
        )

    def read(self, message: Consensus) -> News:
        """Return what a download says; the first axis of every array has length 1."""
        _require(message, self._consensus)
        gram, rows = self._gram(message.gram)
        inverses = self._read(self.format.read_inverse, message.inverse)
        if not isinstance(message.inverse, CompactArray) and not self.all_inverses:
            inverses = inverses[None]
        return News(
            gram,
            rows,
            self._read(self.format.read_moment, message.moment),
            self._read(np.asarray, message.weights),
            float(message.ratio),
            inverses,
            message.version,
        )

    def read_share(self, message: Contribution) -> Share:
        """Return what an upload says."""
        _require(message, self.format.contribution)
        gram, _ = self._gram(message.gram, each=True)
        return Share(
            gram,
            self._read(self.format.read_moment, message.moment, each=True),
            self._read(np.asarray, message.weights, each=True),
            message.ratio,
            self._read(self.format.read_inverse, message.inverse, each=True),
        )

    def matrices_of(self, clients: int) -> int:
        """Return how many matrices a run of so many clients holds at its fullest."""
        sent = clients if self.all_inverses else 1
        return 4 * clients + 2 * sent + 6

    def _gram(self, value: Numbers | CompactArray, each: bool = False) -> tuple[Gram, Array | None]:
        if isinstance(value, CompactGram):
            return value.gram, value.latest
        put = self.rounds.device.put
        diagonal, base = self.format.read_gram(np.asarray(value) if each else np.asarray(value)[np.newaxis])
        if base is None:
            return Gram(put(diagonal)), None
        rows = jnp.zeros((len(base), 1, base.shape[-1]), self.rounds.device.dtype)
        with doubly():
            return Gram(put(diagonal), jnp.asarray(base, np.float64), rows), None

    def _read(self, reading: Callable[[Floats], Floats], value: Numbers | CompactArray, each: bool = False) -> Array:
        """Return what an array in a message stands for, with a first axis."""
        if isinstance(value, CompactArray):
            return value.parts[0]
        if isinstance(value, jnp.ndarray):
            return value
        read = self.rounds.device.put(reading(np.asarray(value)))
        return read if each else read[None]


def _require(message: Message, kind: type[Message]) -> None:
    if type(message) is not kind:
        raise ProtocolError(f"this federation exchanges {kind.kind!r}, not {message.kind!r}")
