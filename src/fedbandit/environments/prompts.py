"""Which prompt, or which model, answers best: arms are embeddings, rewards are scores from 0 to 1, or as in a file.

The setting of prompt optimisation by federated bandits (FedPOB, Lu et al. 2025): a prompt p has an embedding u(p) and
an expected score that is linear in it; trying a prompt shows one noisy score. FedPOB itself is `sync-linucb` here.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.environments.arrivals import ARRIVALS, Arrivals, acting
from fedbandit.environments.linear import unit
from fedbandit.files.checked_arrays import numbers_of
from fedbandit.files.npz import read_npz
from fedbandit.kernels.shared.sampling import draw_distinct


class Scored(NamedTuple):
    """A user's prompts, and what each of them scored on each question."""

    embeddings: Floats  # (P, d), none longer than 1
    scores: Floats  # (Q, P)
    questions: Floats | None  # (Q, e), none longer than 1: what tells questions apart before they are answered


@dataclass(frozen=True)
class Prompts(Environment, id="prompts", title="prompts or models to choose from: embeddings and scores"):
    """Each turn offers some prompts of a pool; the one that is chosen is tried and scored.

    Synthetic by default: embeddings u are uniform on the unit sphere, and prompt u is right about a question with
    probability (1 + theta . u) / 2, with one theta of length 1 for all clients. A score is the share of `questions`
    questions that it was right about.

    With `path`, an .npz file: `embeddings` (P, d), `scores` (Q, P), what each prompt scored on each of Q questions, and
    perhaps `questions` (Q, e), embeddings of the questions. Every turn asks one question, drawn at random. Without
    `questions` nobody can tell which, and the expected score of a prompt is its mean over all; with them it is the
    score on this one.

    An arm is (1, u) / sqrt 2, so that a score has a constant part and no arm is longer than 1. Where questions have
    embeddings q it is (1, u) x (1, q) / 2, all products. Embeddings of a file are divided by the length of the longest.

    >>> world = Prompts(clients=3, arms=4, dimension=5)
    >>> block = next(world.turns(count=10, seed=0, block=10))
    >>> block.features.shape
    (10, 4, 6)
    """

    clients: int = parameter(20, "number of clients", symbol="N", at_least=1)
    arms: int = parameter(25, "prompts on offer at each turn", symbol="K", at_least=1)
    prompts: int = parameter(100, "prompts in the pool; with a file: those of the file", at_least=1)
    dimension: int = parameter(16, "length of an embedding; with a file: that of the file", symbol="d", at_least=1)
    questions: int = parameter(10, "questions that a score is over; with a file: one", at_least=1)
    arrivals: str = parameter("uniform", "whose turn it is", choices=ARRIVALS)
    skew: float = parameter(1.0, "exponent of the Zipf distribution of skewed arrivals", at_least=0)
    path: str = parameter("", "a file (.npz) with embeddings and scores; default: a synthetic pool")

    def __post_init__(self) -> None:
        """Check that a turn's prompts can be drawn from the pool, and read the file."""
        super().__post_init__()
        pool = len(self._file().embeddings) if self.path else self.prompts
        if self.arms > pool:
            raise InvalidInput(f"arms={self.arms}, but there are {pool} prompts: give at most that many arms")

    def setting(self) -> Setting:
        """Return the sizes of the world."""
        dimension = self.dimension + 1
        if self.path:
            file = self._file()
            dimension = file.embeddings.shape[1] + 1
            dimension *= 1 if file.questions is None else file.questions.shape[1] + 1
        return Setting(self.clients, self.arms, dimension, horizon=100 * self.clients)

    def fingerprint(self) -> str:
        """Return a digest of the file, if there is one."""
        return _digest(self.path) if self.path else ""

    def acting(self, turns: int) -> int:
        """Return how many clients have a turn among so many, at most."""
        return acting(self.arrivals, self.clients, self.skew, turns)

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        arrivals, whose = Arrivals(self.arrivals, self.clients, self.skew), stream(seed, "arrivals")
        offer = stream(seed, "arms")
        answer = self._answers_of_file(seed) if self.path else self._synthetic_answers(seed)
        order = np.arange(len(self._file().embeddings) if self.path else self.prompts)
        for first in range(0, count, block):
            size = min(block, count - first)
            client = arrivals.next(whose, size)
            index = draw_distinct(offer.random((size, self.arms)), order)
            yield Turns(client, *answer(index))

    def _synthetic_answers(self, seed: int) -> Callable[[Ints], tuple[Floats, Rewards]]:
        """Return what gives the arms and the scores of the prompts on offer."""
        embeddings = unit(stream(seed, "prompts").standard_normal((self.prompts, self.dimension)))
        theta = unit(stream(seed, "parameter").standard_normal(self.dimension))
        pool, rate, asked = _with_one(embeddings), (1.0 + embeddings @ theta) / 2, stream(seed, "questions")

        def answer(index: Ints) -> tuple[Floats, Rewards]:
            difficulty = asked.random((len(index), 1, self.questions))
            right = difficulty < rate[index][:, :, np.newaxis]
            return pool[index], Rewards(right.mean(axis=2), rate[index])

        return answer

    def _answers_of_file(self, seed: int) -> Callable[[Ints], tuple[Floats, Rewards]]:
        """Return what gives the arms and the scores of the prompts on offer."""
        file, asked = self._file(), stream(seed, "questions")
        pool, rate = _with_one(file.embeddings), file.scores.mean(axis=0)

        def answer(index: Ints) -> tuple[Floats, Rewards]:
            question = (asked.random(len(index)) * len(file.scores)).astype(np.int64)
            score = file.scores[question[:, np.newaxis], index]
            if file.questions is None:
                return pool[index], Rewards(score, rate[index])
            told = _with_one(file.questions[question])
            products = pool[index][:, :, :, np.newaxis] * told[:, np.newaxis, np.newaxis]
            return products.reshape(*index.shape, -1), Rewards(score, score)

        return answer

    def _file(self) -> Scored:
        return _scored(self.path, _digest(self.path))


def _with_one(vectors: Floats) -> Floats:
    """Return (1, v) / sqrt 2 for each vector v, which is no longer than 1 then."""
    return np.asarray(np.pad(vectors, ((0, 0), (1, 0)), constant_values=1.0) / math.sqrt(2))


def _digest(path: str) -> str:
    if not Path(path).is_file():
        raise InvalidInput(f"no file of prompts at {path!r}: give the path of an .npz with embeddings and scores")
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=2)
def _scored(path: str, digest: str) -> Scored:  # noqa: ARG001
    """Read and check a file; kept while it stays the same."""
    arrays = read_npz(path)
    embeddings = numbers_of(arrays, "embeddings", (None, None), path)
    scores = numbers_of(arrays, "scores", (None, len(embeddings)), path)
    for name, array in (("embeddings", embeddings), ("scores", scores)):
        if not len(array):
            raise InvalidInput(f"{name} in {path} is empty: give at least one row")
    questions = numbers_of(arrays, "questions", (len(scores), None), path) if "questions" in arrays else None
    return Scored(_no_longer_than_1(embeddings), scores, None if questions is None else _no_longer_than_1(questions))


def _no_longer_than_1(vectors: Floats) -> Floats:
    longest = np.linalg.norm(vectors, axis=1).max()
    return np.asarray(vectors / longest) if longest > 0 else vectors
