"""Who had which item: the shape that the three recommendation sets share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from fedbandit.datasets.arrays import Booleans, Floats, Ints, Strings

UNKNOWN_TIME = 0


@dataclass(frozen=True, eq=False)
class Interactions:
    """Events (user, item, value, time) with users and items as positions 0, 1, 2, ...

    `users` and `items` hold the publisher's ids, in increasing order until `of_users` chooses another:
    position i is the id `users[i]`. `value` is a rating, a number of plays, or 1; `time` counts seconds
    since 1970 and is 0 where it is not known.

    >>> ratings = interactions(np.array([7, 7, 9]), np.array([3, 5, 3]), np.array([4.0, 2.0, 5.0]))
    >>> ratings.users.tolist(), ratings.user.tolist(), ratings.item.tolist()
    ([7, 9], [0, 0, 1], [0, 1, 0])
    >>> ratings.per_user().tolist()
    [2, 1]
    """

    users: Ints
    items: Ints
    user: Ints
    item: Ints
    value: Floats
    time: Ints

    def __len__(self) -> int:
        """The number of events."""
        return self.user.size

    def per_user(self) -> Ints:
        """Return the number of events of each user."""
        return np.bincount(self.user, minlength=self.users.size).astype(np.int64)

    def per_item(self) -> Ints:
        """Return the number of events of each item."""
        return np.bincount(self.item, minlength=self.items.size).astype(np.int64)

    def where(self, keep: Booleans | Ints) -> Interactions:
        """Return the events where `keep` holds, or at those indices; users and items keep their positions."""
        return Interactions(self.users, self.items, self.user[keep], self.item[keep], self.value[keep], self.time[keep])

    def of_users(self, chosen: Ints) -> Interactions:
        """Return the events of the users at the `chosen` positions, who become 0, 1, 2, ... in that order."""
        place = np.full(self.users.size, -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        kept = self.where(place[self.user] >= 0)
        return Interactions(self.users[chosen], self.items, place[kept.user], kept.item, kept.value, kept.time)


def interactions(
    user_ids: Ints,
    item_ids: Ints,
    value: Floats | None = None,
    time: Ints | None = None,
    users: Ints | None = None,
    items: Ints | None = None,
) -> Interactions:
    """Return events given by the publisher's ids; `users` and `items` (sorted) may name some without events.

    >>> len(interactions(np.array([1, 1]), np.array([4, 6]), items=np.array([4, 5, 6])).items)
    3
    """
    users, user = positions(user_ids, users)
    items, item = positions(item_ids, items)
    value = np.ones(user.size) if value is None else value
    time = np.full(user.size, UNKNOWN_TIME, dtype=np.int64) if time is None else time
    return Interactions(users, items, user, item, value, time)


def positions(ids: Ints, known: Ints | None = None) -> tuple[Ints, Ints]:
    """Return (sorted ids, the position of each of `ids` among them); -1 where `known` lacks an id.

    >>> positions(np.array([30, 10, 30]))[1].tolist()
    [1, 0, 1]
    """
    if known is None:
        known, inverse = np.unique(ids, return_inverse=True)
        return known, inverse.astype(np.int64, copy=False)
    if not known.size:
        return known, np.full(ids.shape, -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(known, ids), known.size - 1)
    return known, np.where(known[place] == ids, place, -1).astype(np.int64, copy=False)


def aligned(ids: Ints, named_ids: Ints, names: Strings) -> Strings:
    """Return the name of each of `ids` (sorted), empty where `named_ids` lacks it.

    >>> aligned(np.array([1, 2]), np.array([2]), np.array(["two"])).tolist()
    ['', 'two']
    """
    _, place = positions(ids, named_ids)
    result = np.full(ids.size, "", dtype=names.dtype)
    result[place >= 0] = names[place[place >= 0]]
    return result


def count_matrix(row: Ints, column: Ints, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    """Return how often each (row, column) occurs; pairs with a position of -1 are left out.

    >>> count_matrix(np.array([0, 0, -1]), np.array([1, 1, 0]), (1, 2)).toarray().tolist()
    [[0.0, 2.0]]
    """
    known = (row >= 0) & (column >= 0)
    ones = np.ones(int(known.sum()))
    return scipy.sparse.csr_array(scipy.sparse.coo_array((ones, (row[known], column[known])), shape=shape))
