"""How the two sides of FN-UCB put what they know into messages, and read it; in full, or by diagonals."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from fedbandit.algorithms.neural.shared.messages import Call, Consensus, Contribution, SyncRequest
from fedbandit.algorithms.neural.shared.wording import DiagonalWording, FullWording, WrittenOut
from fedbandit.core.arrays import Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Message
from fedbandit.kernels.neural.grams import Gram, Whole
from fedbandit.kernels.neural.rounds import Rounds
from fedbandit.kernels.neural.sums import doubly
from fedbandit.kernels.neural.tangent_features import Array


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

    def rows(self, which: Any) -> Share:
        """Return what some of its senders uploaded."""
        gram = Gram(*(None if part is None else np.asarray(part)[which] for part in self.gram))
        return Share(gram, *(np.asarray(each)[which] for each in self[1:]))


class Exchange:
    """The messages of one plan."""

    def __init__(self, rounds: Rounds, all_inverses: bool) -> None:
        """Take the plan, and whether every client's inverse is broadcast, or their average (section 3.4)."""
        self.rounds = rounds
        self.all_inverses = all_inverses
        self.grams: Any = rounds.grams
        kind = DiagonalWording if rounds.plan.diagonal else FullWording
        self.wording: FullWording = kind(rounds.network, rounds.plan.ridge)
        self._consensus = self.wording.each if all_inverses else self.wording.averaged
        self.uploads: tuple[type[Message], ...] = (SyncRequest, self.wording.contribution)
        self.downloads: tuple[type[Message], ...] = (Call, self._consensus)
        self.sizes = {"p": rounds.network.parameters}
        self.number_bytes = rounds.device.dtype.itemsize

    def contribution(
        self, gram: Gram, moment: Array, weights: Array, ratio: Any, inverse: Array, version: Ints, count: Ints
    ) -> Contribution:
        """Return what clients upload, who were called by a version, over so many observations of each."""
        word = self.wording
        return word.contribution(
            word.gram(gram), word.moment(moment), weights, ratio, word.inverse(inverse), version, count
        )

    def consensus(
        self, whole: Whole, moment: Array, weights: Array, ratio: Any, inverses: Array, version: int
    ) -> Consensus:
        """Return what the server broadcasts: of each array its one row, of one inverse only that."""
        word = self.wording
        inverse = word.inverse(inverses).first
        return self._consensus(
            word.gram(whole.gram, beside=whole.news).first,
            word.moment(moment).first,
            WrittenOut((weights,), np.asarray, weights.shape).first,
            ratio,
            inverse if self.all_inverses else inverse.first,
            version,
        )

    def read(self, message: Consensus) -> News:
        """Return what a download says; the first axis of every array has length 1."""
        _require(message, self._consensus)
        gram, rows = self._gram(message.gram)
        inverses = self._read(self.wording.read_inverse, message.inverse)
        if not isinstance(message.inverse, WrittenOut) and not self.all_inverses:
            inverses = inverses[None]
        return News(
            gram,
            rows,
            self._read(self.wording.read_moment, message.moment),
            self._read(np.asarray, message.weights),
            float(message.ratio),
            inverses,
            message.version,
        )

    def read_share(self, message: Contribution) -> Share:
        """Return what an upload says."""
        _require(message, self.wording.contribution)
        gram, _ = self._gram(message.gram, each=True)
        return Share(
            gram,
            self._read(self.wording.read_moment, message.moment, each=True),
            self._read(np.asarray, message.weights, each=True),
            message.ratio,
            self._read(self.wording.read_inverse, message.inverse, each=True),
        )

    def matrices_of(self, clients: int) -> int:
        """Return how many matrices a run of so many clients holds at its fullest."""
        sent = clients if self.all_inverses else 1
        return 4 * clients + 2 * sent + 6

    def _gram(self, value: Any, each: bool = False) -> tuple[Gram, Array | None]:
        if isinstance(value, WrittenOut):
            return value.parts, value.beside
        put = self.rounds.device.put
        diagonal, base = self.wording.read_gram(np.asarray(value) if each else np.asarray(value)[np.newaxis])
        if base is None:
            return Gram(put(diagonal)), None
        rows = jnp.zeros((len(base), 1, base.shape[-1]), self.rounds.device.dtype)
        with doubly():
            return Gram(put(diagonal), jnp.asarray(base, np.float64), rows), None

    def _read(self, reading: Any, value: Any, each: bool = False) -> Array:
        """Return what an array in a message stands for, with a first axis."""
        if isinstance(value, WrittenOut):
            return value.parts[0]
        if isinstance(value, jnp.ndarray):
            return value
        read = self.rounds.device.put(reading(np.asarray(value)))
        return read if each else read[None]


def _require(message: Message, kind: type[Message]) -> None:
    if type(message) is not kind:
        raise ProtocolError(f"this federation exchanges {kind.kind!r}, not {message.kind!r}")
