"""Recommendation as a bandit: at each turn one of the items on offer is one that the user had; which one?

The protocol of Cesa-Bianchi et al. (2013), as in appendix H of Li and Wang (2022). Every event of the data set is shown
once: a turn goes to a user drawn uniformly from those who have events left, and offers one of the user's items, in
random order, among others drawn from those that the user has not had. The reward is 1 for the right one and 0 else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.environments.release import release_of
from fedbandit.kernels.shared.sampling import draw_others, gather, interleave

if TYPE_CHECKING:
    from fedbandit.datasets.preparation.recommendation_data import Prepared

SETS = ("lastfm", "delicious", "movielens-100k", "movielens-1m", "movielens-20m", "movielens-25m")
SCALES = ("none", "standardised", "unit")


@dataclass(frozen=True)
class Recommendation(
    Environment, id="recommendation", title="users of a data set: find the item they had (LastFM, Delicious, MovieLens)"
):
    """The users of a data set as clients: among the arms of a turn one is an item that the user had.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("lastfm") as path:
    ...     world = Recommendation(dataset="lastfm", path=str(path), arms=2, dimension=2)
    ...     block = next(world.turns(count=4, seed=0, block=4))
    >>> block.features.shape, block.outcomes.payoff.sum(axis=1)
    ((4, 2, 2), array([1., 1., 1., 1.]))
    """

    dataset: str = parameter("lastfm", "the data set", choices=SETS)
    arms: int = parameter(25, "arms on offer at each turn", symbol="K", at_least=2)
    dimension: int = parameter(25, "features of an item", symbol="d", at_least=1)
    users: int | None = parameter(None, "keep so many of the most active users; default: all", at_least=1)
    above: float | None = parameter(None, "only events with a greater value (rating, plays) count; default: all")
    scale: str = parameter("none", "how the features are scaled after the SVD (U S)", choices=SCALES)
    constant: bool = parameter(False, "one more feature, which is always 1")
    arrivals: str = parameter(
        "uniform",
        "whose turn it is: anyone who has events left, users in proportion to their events, or all in rounds",
        choices=("uniform", "shuffled", "round-robin"),
    )
    path: str = parameter("", "where the data set is; default: FEDBANDIT_DATA, then the cache folder")

    def setting(self) -> Setting:
        """Return the sizes of the world; its length is the number of events that can be shown."""
        data = self.data()
        per_user = data.per_user()
        length = per_user.size * int(per_user.min()) if self.arrivals == "round-robin" else len(data.user)
        return Setting(per_user.size, self.arms, self.dimension + self.constant, horizon=length)

    def fingerprint(self) -> str:
        """Return a digest of the data set's files."""
        return release_of(self.dataset, self.path).content()

    def data_set(self) -> tuple[str, str]:
        """Return the data set, and where it is."""
        return self.dataset, self.path

    def data(self) -> Prepared:
        """Return the prepared data set; the first call in a process reads or prepares it."""
        from fedbandit.datasets.preparation.recommendation_data import Request, prepare

        request = Request(self.dimension, self.scale, self.users, self.above)
        data = prepare(self.dataset, request, self.path or None)
        others = len(data.features) - int(data.per_user().max())
        if others < self.arms - 1:
            raise InvalidInput(
                f"arms={self.arms}, but one user has had all but {others} of the {len(data.features)} items: "
                f"give at most {others + 1} arms"
            )
        return data

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the first `count` turns of one seed."""
        length = self.setting().horizon
        if count > length:
            raise InvalidInput(f"turns={count}, but {self.dataset} has {length} events to show: ask for no more")
        data = self.data()
        others, place = stream(seed, "other items"), stream(seed, "place of the right item")
        first = np.concatenate([[0], np.cumsum(data.per_user())])
        order = self._order(data, seed)
        features = np.pad(data.features, ((0, 0), (0, 1)), constant_values=1.0) if self.constant else data.features
        for start in range(0, count, block):
            event = order[start : min(start + block, count)]
            client = data.user[event]
            uniforms = others.random((len(event), self.arms - 1))
            index = np.empty((len(event), self.arms), dtype=np.int64)
            index[:, 1:] = draw_others(uniforms, client, first, data.item, len(data.features))
            right = (place.random(len(event)) * self.arms).astype(np.int64)
            yield _turns(features, client, index, data.item[event], right)

    def _order(self, data: Prepared, seed: int) -> Ints:
        """Return the events in the order in which they are shown."""
        rng = stream(seed, "events")
        shuffled = rng.permutation(len(data.user))
        if self.arrivals == "shuffled":
            return shuffled
        mixed = shuffled[np.argsort(data.user[shuffled], kind="stable")]  # by user, each one's in random order
        counts = data.per_user()
        if self.arrivals == "uniform":
            return np.asarray(mixed[interleave(rng.random(len(mixed)), counts)])
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        return np.asarray(mixed[(np.arange(counts.min())[:, np.newaxis] + starts).ravel()])


def _turns(features: Floats, client: Ints, index: Ints, item: Ints, right: Ints) -> Turns:
    """Put each turn's item at its place; column 0 of `index` is free for what stood there."""
    rows = np.arange(len(client))
    index[:, 0] = index[rows, right]
    index[rows, right] = item
    payoff = np.zeros(index.shape)
    payoff[rows, right] = 1.0
    return Turns(client, gather(features, index), Rewards(payoff, payoff))
