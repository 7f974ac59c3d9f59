"""Classification as a bandit: the arms are the classes, and the reward is 1 for the right one.

As in section 5.2 of FN-UCB (Dai et al. 2023): rows of unit length, columns standardised, and then each arm has the row
in its own block and 0 elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Ints
from fedbandit.core.environment import Environment
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.environments.arrivals import ARRIVALS, Arrivals, acting
from fedbandit.environments.release import release_of

if TYPE_CHECKING:
    from fedbandit.datasets.arrays import Floats

SETS = ("shuttle", "magic", "covertype", "mushroom", "adult")


@dataclass(frozen=True)
class Classification(
    Environment, id="classification", title="rows of a data set: name the class (Shuttle, MAGIC, Covertype, ...)"
):
    """The rows of a data set in random order, one a turn; when all have been shown they are shuffled anew.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("magic") as path:
    ...     world = Classification(dataset="magic", clients=3, path=str(path))
    ...     block = next(world.turns(count=3, seed=0, block=3))
    >>> block.features.shape, block.outcomes.payoff.sum(axis=0)
    ((3, 2, 20), array([2., 1.]))
    """

    dataset: str = parameter("shuttle", "the data set", choices=SETS)
    clients: int = parameter(2, "number of clients", symbol="N", at_least=1)
    arrivals: str = parameter("round-robin", "whose turn it is", choices=ARRIVALS)
    skew: float = parameter(1.0, "exponent of the Zipf distribution of skewed arrivals", at_least=0)
    path: str = parameter("", "where the data set is; default: FEDBANDIT_DATA, then the cache folder")

    def setting(self) -> Setting:
        """Return the sizes of the world; its length is that of the data set, in whole rounds."""
        contexts, labels, arms = self._data()
        length = max(len(labels) // self.clients, 1) * self.clients
        return Setting(self.clients, arms, arms * contexts.shape[1], horizon=length)

    def fingerprint(self) -> str:
        """Return a digest of the data set's files."""
        return release_of(self.dataset, self.path).content()

    def data_set(self) -> tuple[str, str]:
        """Return the data set, and where it is."""
        return self.dataset, self.path

    def acting(self, turns: int) -> int:
        """Return how many clients have a turn among so many, at most."""
        return acting(self.arrivals, self.clients, self.skew, turns)

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        from fedbandit.datasets.preparation.features import (
            block_one_hot,  # SciPy is imported only by those who read data
        )

        contexts, labels, arms = self._data()
        arrivals = Arrivals(self.arrivals, self.clients, self.skew)
        whose, order = stream(seed, "arrivals"), _rows(len(labels), stream(seed, "rows"))
        for start in range(0, count, block):
            size = min(block, count - start)
            row = np.fromiter(order, dtype=np.int64, count=size)
            payoff = (labels[row][:, np.newaxis] == np.arange(arms)).astype(np.float64)
            yield Turns(arrivals.next(whose, size), block_one_hot(contexts[row], arms), Rewards(payoff, payoff))

    def _data(self) -> tuple[Floats, Ints, int]:
        release = release_of(self.dataset, self.path)
        return _contexts(self.dataset, release.location, release.fingerprint())


@lru_cache(maxsize=2)
def _contexts(dataset: str, location: Path, fingerprint: str) -> tuple[Floats, Ints, int]:  # noqa: ARG001
    """Return the scaled rows, their classes, and the number of classes; kept while the files stay the same."""
    from fedbandit.datasets import load
    from fedbandit.datasets.classification import Classification as Rows
    from fedbandit.datasets.preparation.features import standardised, unit_rows

    data = load(dataset, location)
    assert isinstance(data, Rows)
    return standardised(unit_rows(data.features())), data.labels, len(data.class_names)


def _rows(count: int, rng: np.random.Generator) -> Iterator[int]:
    while True:
        yield from rng.permutation(count)
