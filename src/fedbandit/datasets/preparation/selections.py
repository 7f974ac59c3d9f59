"""Which users and items the papers' experiments keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.core.errors import InvalidInput
from fedbandit.datasets.arrays import Booleans, Floats, Ints
from fedbandit.datasets.interactions import Interactions


def most_active(per_one: Ints, count: int) -> Ints:
    """Return the positions of the `count` largest entries, largest first; of equals the lower position.

    >>> most_active(np.array([3, 5, 5, 1]), 3).tolist()
    [1, 2, 0]
    """
    if not 1 <= count <= per_one.size:
        raise InvalidInput(f"count must be from 1 to {per_one.size}, not {count}: there are no more to choose from")
    return np.argsort(-per_one, kind="stable")[:count].astype(np.int64)


def most_active_users(events: Interactions, count: int) -> Interactions:
    """Return the events of the `count` users with most events, who become users 0, 1, 2, ... in that order.

    The stand-in for the extracts of MovieLens 20M on smaller releases: 54 users for Async-LinUCB, 37 for
    FedGLB-UCB.

    >>> from fedbandit.datasets.interactions import interactions
    >>> events = interactions(np.array([1, 2, 2]), np.array([7, 7, 8]))
    >>> most_active_users(events, 1).users.tolist()
    [2]
    """
    return events.of_users(most_active(events.per_user(), count))


@dataclass(frozen=True)
class Extract:
    """The extract of MovieLens 20M that a paper's preprocessing script makes.

    Events below `lowest_value` are dropped first; then users with more than `more_than` remaining events
    are kept, in the order of the file. The scripts keep a user when the next user's first line is met, so
    the last user of the file is never kept; this does the same.

    >>> from fedbandit.datasets.interactions import interactions
    >>> user, item = np.array([1, 1, 2, 3, 3]), np.array([7, 8, 7, 7, 8])
    >>> events = interactions(user, item, np.array([5.0, 4.0, 5.0, 5.0, 5.0]))
    >>> Extract(lowest_value=3, more_than=1).of(events).users.tolist()
    [1]
    """

    lowest_value: float
    more_than: int

    def of(self, events: Interactions) -> Interactions:
        """Return the extract of some events in file order."""
        kept = events.where(events.value >= self.lowest_value)
        if not len(kept):
            return kept.of_users(np.empty(0, dtype=np.int64))
        chosen = np.flatnonzero(kept.per_user() > self.more_than)
        return kept.of_users(chosen[chosen != kept.user[-1]].astype(np.int64))


ASYNC_LINUCB_20M = Extract(lowest_value=1, more_than=3_000)
FEDGLB_UCB_20M = Extract(lowest_value=3, more_than=2_500)


@dataclass(frozen=True, eq=False)
class Liked:
    """Who of the most active users liked which of the most rated items (FLDB, appendix B).

    `liked[u, i]` is 1 where the rating is above the threshold, else 0; `rated` says where there is a rating.
    `user` and `item` are positions in the ratings, by falling number of ratings.

    >>> from fedbandit.datasets.interactions import interactions
    >>> ratings = interactions(np.array([1, 1, 2]), np.array([7, 8, 7]), np.array([4.0, 2.0, 5.0]))
    >>> liked_matrix(ratings, users=2, items=2).liked.tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """

    liked: Floats
    rated: Booleans
    user: Ints
    item: Ints


def liked_matrix(ratings: Interactions, users: int = 200, items: int = 200, above: float = 3.0) -> Liked:
    """Return the `users` x `items` matrix of what the most active users liked among the most rated items.

    FLDB takes the first 20 rows for features, `truncated_svd(matrix.liked[:20].T, 10)`, and lets the other
    180 answer.

    >>> from fedbandit.datasets.interactions import interactions
    >>> ratings = interactions(np.array([1, 1, 2]), np.array([7, 8, 7]), np.array([4.0, 2.0, 5.0]))
    >>> int(liked_matrix(ratings, users=1, items=2).rated.sum())
    2
    """
    user, item = most_active(ratings.per_user(), users), most_active(ratings.per_item(), items)
    row = np.full(ratings.users.size, -1, dtype=np.int64)
    column = np.full(ratings.items.size, -1, dtype=np.int64)
    row[user], column[item] = np.arange(users), np.arange(items)
    inside = ratings.where((row[ratings.user] >= 0) & (column[ratings.item] >= 0))
    place = row[inside.user], column[inside.item]
    liked, rated = np.zeros((users, items)), np.zeros((users, items), dtype=np.bool_)
    liked[place], rated[place] = inside.value > above, True
    return Liked(liked, rated, user, item)
