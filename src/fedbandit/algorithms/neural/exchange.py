"""How the two sides of FN-UCB put what they know into messages, and read it; in full, or by diagonals."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from fedbandit.algorithms.neural.messages import DiagonalWording, FullWording, WrittenOut
from fedbandit.core.messages import Download, Upload
from fedbandit.kernels.neural.grams import DiagonalGrams, FullGrams, Gram, Whole
from fedbandit.kernels.neural.rounds import Rounds
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


class Exchange:
    """The messages of one plan."""

    def __init__(self, rounds: Rounds, all_inverses: bool) -> None:
        """Take the plan, and whether every client's inverse is broadcast, or their average (section 3.4)."""
        self.rounds = rounds
        self.all_inverses = all_inverses
        diagonal = rounds.plan.diagonal
        kind: Any = DiagonalGrams if diagonal else FullGrams
        self.grams: Any = kind(rounds.matrices, rounds.device.dtype)
        self.wording: FullWording = (DiagonalWording if diagonal else FullWording)(rounds.network, rounds.plan.ridge)

    def contribution(self, gram: Gram, moment: Array, weights: Array, ratio: Any, inverse: Array) -> Upload:
        """Return what clients upload."""
        word = self.wording
        upload: Upload = word.contribution(
            word.gram(gram), word.moment(moment), weights, ratio, word.inverse(inverse)
        )
        return upload

    def consensus(self, whole: Whole, moment: Array, weights: Array, ratio: Any, inverses: Array, version: int) -> Any:
        """Return what the server broadcasts; of several inverses each, of one only that."""
        word = self.wording
        sent = inverses if self.all_inverses else inverses[0]
        gram = word.gram(whole.gram, beside=whole.news)
        message: Download = word.consensus(gram, word.moment(moment), weights, ratio, word.inverse(sent), version)
        return message

    def read(self, message: Any) -> News:
        """Return what a download says."""
        gram, rows = self._gram(message.gram)
        inverses = self._on_device(self.wording.read_inverse(message.inverse))
        return News(
            gram,
            rows,
            self._on_device(self.wording.read_moment(message.moment)),
            self._on_device(message.weights),
            float(message.ratio),
            inverses if self.all_inverses else inverses[None],
            message.version,
        )

    def read_share(self, message: Any) -> Share:
        """Return what an upload says."""
        gram, _ = self._gram(message.gram)
        return Share(
            gram,
            self._on_device(self.wording.read_moment(message.moment)),
            self._on_device(message.weights),
            message.ratio,
            self._on_device(self.wording.read_inverse(message.inverse)),
        )

    def matrices_of(self, clients: int) -> int:
        """Return how many matrices a run of so many clients holds at its fullest."""
        sent = clients if self.all_inverses else 1
        return 4 * clients + 2 * sent + 6

    def _gram(self, value: Any) -> tuple[Gram, Array | None]:
        if isinstance(value, WrittenOut):
            return value.parts, value.beside
        put = self.rounds.device.put
        diagonal, base = self.wording.read_gram(value)
        if base is None:
            return Gram(put(diagonal)), None
        rows = jnp.zeros((*base.shape[:-2], 1, base.shape[-1]), self.rounds.device.dtype)
        return Gram(put(diagonal), put(base), rows), None

    def _on_device(self, value: Any) -> Array:
        return value if isinstance(value, jnp.ndarray) else self.rounds.device.put(value)
