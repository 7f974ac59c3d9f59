"""Duels between films that real users liked or did not (Huang et al. 2025, appendix B).

The ratings of the most active users for the most rated films become a matrix of 0 and 1: liked, if the rating is above
3. The first rows give each film its features, by truncated SVD; the other rows answer: the utility of a film for a user
is its entry, and the first of two films wins with probability sigmoid(f(first) - f(second)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Duels, Turns
from fedbandit.environments.arrivals import Arrivals
from fedbandit.environments.release import release_of
from fedbandit.kernels.shared.sampling import draw_distinct, gather

if TYPE_CHECKING:
    from fedbandit.datasets.preparation.selections import Liked

SETS = ("movielens-100k", "movielens-1m", "movielens-20m", "movielens-25m")


@dataclass(frozen=True)
class Likes(Environment, id="likes", title="duels between films, answered by users who liked them or not (MovieLens)"):
    """Clients act in rounds; each turn offers some films, and a user of the data set decides the duel.

    With `answers = anyone` that is a user drawn afresh for each turn, as the paper has it; with `own` client i is
    always answered by the same user, the i-th of those who answer.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("movielens-1m") as path:
    ...     world = Likes(clients=2, arms=2, dimension=1, users=3, items=3, rows=1, path=str(path))
    ...     block = next(world.turns(count=4, seed=0, block=4))
    >>> block.features.shape, block.outcomes.utility.shape
    ((4, 2, 1), (4, 2))
    """

    dataset: str = parameter("movielens-1m", "the release of MovieLens", choices=SETS)
    clients: int = parameter(100, "number of clients", symbol="N", at_least=1)
    arms: int = parameter(5, "films on offer at each turn", symbol="K", at_least=1)
    dimension: int = parameter(10, "features of a film", symbol="d", at_least=1)
    users: int = parameter(200, "how many of the most active users", at_least=2)
    items: int = parameter(200, "how many of the most rated films", at_least=1)
    rows: int = parameter(20, "how many of the users give the features; the others answer", at_least=1)
    above: float = parameter(3.0, "a film is liked if its rating is above this")
    answers: str = parameter("anyone", "who decides a duel", choices=("anyone", "own"))
    path: str = parameter("", "where the data set is; default: FEDBANDIT_DATA, then the cache folder")

    def __post_init__(self) -> None:
        """Check that there are films for a turn, and users to answer."""
        super().__post_init__()
        if self.arms > self.items:
            raise InvalidInput(f"arms={self.arms}, but there are items={self.items} films: give at most that many")
        if self.rows >= self.users:
            raise InvalidInput(f"rows={self.rows} of users={self.users} leave nobody to answer: give fewer rows")
        if self.answers == "own" and self.clients > self.users - self.rows:
            raise InvalidInput(
                f"clients={self.clients}, but {self.users - self.rows} users answer: give at most that many clients"
            )

    def setting(self) -> Setting:
        """Return the sizes of the world."""
        return Setting(self.clients, self.arms, self.dimension, horizon=500 * self.clients)

    def fingerprint(self) -> str:
        """Return a digest of the data set's files."""
        return release_of(self.dataset, self.path).content()

    def data_set(self) -> tuple[str, str]:
        """Return the data set, and where it is."""
        return self.dataset, self.path

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        from fedbandit.datasets.preparation.features import (
            truncated_svd,  # SciPy is imported only by those who read data
        )

        release = release_of(self.dataset, self.path)
        matrix = _liked(self.dataset, release.location, release.fingerprint(), self.users, self.items, self.above)
        features, answers = truncated_svd(matrix.liked[: self.rows].T, self.dimension), matrix.liked[self.rows :]
        arrivals, order = Arrivals("round-robin", self.clients, skew=0.0), np.arange(self.items)
        films, coins, whose = stream(seed, "arms"), stream(seed, "coins"), stream(seed, "users")
        for first in range(0, count, block):
            size = min(block, count - first)
            client = arrivals.next(whose, size)
            index = draw_distinct(films.random((size, self.arms)), order)
            drawn = (whose.random(size) * len(answers)).astype(np.int64)
            user = drawn if self.answers == "anyone" else client
            utility = answers[user[:, np.newaxis], index]
            yield Turns(client, gather(features, index), Duels(utility, coins.random(size)))


@lru_cache(maxsize=2)
def _liked(dataset: str, location: Path, fingerprint: str, users: int, items: int, above: float) -> Liked:  # noqa: ARG001
    """Return the matrix of who liked what; kept while the files stay the same."""
    from fedbandit.datasets.preparation.selections import liked_matrix
    from fedbandit.datasets.sets import movielens

    ratings = movielens.load(dataset.removeprefix("movielens-"), location).ratings
    return liked_matrix(ratings, users, items, above)
