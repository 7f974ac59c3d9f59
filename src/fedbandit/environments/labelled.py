"""What worlds made of labelled rows share: the arms are the classes, and the right one pays 1."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.environment import Environment
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.datasets.files.folders import DATA_VARIABLE


class LabelledRows(NamedTuple):
    """Features, (rows, d), sparse where they are mostly zero, and the class of each row."""

    features: Floats | scipy.sparse.csr_array
    labels: Ints
    classes: int


@dataclass(frozen=True)
class Labelled(Environment):
    """Clients take turns in order; each turn shows one row's features, and the arm of its class pays 1, others 0.

    Rows come in a random order, each once; when all have been shown they come again in another order.
    """

    clients: int = parameter(5, "number of clients", symbol="M", at_least=1)
    noise: float = parameter(1.0, "standard deviation of the reward noise", symbol="sigma", at_least=0)
    path: str = parameter("", "where the data set is; default: FEDBANDIT_DATA, or where it was fetched to")

    def place(self) -> str:
        """Return the place to read from, "" for the usual one: what a cache of rows is kept by."""
        return self.path or os.environ.get(DATA_VARIABLE, "")

    @abstractmethod
    def rows(self) -> LabelledRows:
        """Return the rows of the data set."""
        raise TypeError(f"{type(self).__name__} does not say where its rows come from")

    def setting(self) -> Setting:
        """Return the sizes of the world; it is natural to show every row once."""
        rows = self.rows()
        size, dimension = rows.features.shape
        return Setting(self.clients, rows.classes, dimension, horizon=size // self.clients * self.clients)

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed; a block's features are dense, the rest stay as they are."""
        rows = self.rows()
        order, noise = stream(seed, "order"), stream(seed, "noise")
        passes = -(-count // len(rows.labels))
        shown = np.concatenate([order.permutation(len(rows.labels)) for _ in range(passes)])[:count]
        for first in range(0, count, block):
            now = shown[first : first + block]
            features = rows.features[now]
            dense = features.toarray() if isinstance(features, scipy.sparse.csr_array) else features
            mean = np.zeros((len(now), rows.classes))
            mean[np.arange(len(now)), rows.labels[now]] = 1.0
            payoff = mean + self.noise * noise.standard_normal(len(now))[:, np.newaxis]
            client = np.arange(first, first + len(now)) % self.clients
            yield Turns(client, np.ascontiguousarray(dense, dtype=np.float64), Rewards(payoff, mean))
