"""Recommendation as a bandit: which item each user had, and features of the items, ready to be shown.

The preparation of Cesa-Bianchi et al. (2013) that Async-LinUCB and FedGLB-UCB follow: TF-IDF of an item's tags (for
MovieLens, of the words of its tags and genres), truncated SVD to a few dimensions, columns scaled.

What was prepared is kept in the user's cache under a digest of the files' bytes and of what was asked for, so that the
next run starts at once and a changed file is prepared anew. Like the parsed arrays, it may be emptied at any time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.datasets.arrays import Booleans, Floats, Ints
from fedbandit.datasets.files.array_cache import Arrays, kept
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.release import Release
from fedbandit.datasets.interactions import Interactions
from fedbandit.datasets.preparation.features import standardised, tag_features, unit_rows
from fedbandit.datasets.preparation.selections import most_active
from fedbandit.datasets.registry import describe, load
from fedbandit.datasets.sets.delicious import Delicious
from fedbandit.datasets.sets.lastfm import LastFM
from fedbandit.datasets.sets.movielens import MovieLens
from fedbandit.files.cache_folder import cache_folder

FORMAT = 1  # raise it when the same request would give other arrays
SETS = ("lastfm", "delicious", "movielens-100k", "movielens-1m", "movielens-20m", "movielens-25m")
SCALES: dict[str, Callable[[Floats], Floats]] = {
    "standardised": standardised,
    "unit": unit_rows,
    "none": lambda rows: rows,
}


@dataclass(frozen=True)
class Request:
    """What is to be prepared: how many features, scaled how, which users, and which events count.

    `users` keeps that many of the most active users, in that order (None: all who had anything). `above` keeps events
    whose value is greater (None: all).

    >>> Request(dimension=25).scale
    'none'
    """

    dimension: int
    scale: str = "none"
    users: int | None = None
    above: float | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """Events (user, item) by user and item, with users and items counted from 0, and the features of the items.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("lastfm") as path:
    ...     data = prepare("lastfm", Request(dimension=2), path)
    >>> data.user.tolist(), data.item.tolist(), data.features.shape
    ([0, 0, 1, 1], [0, 2, 0, 1], (3, 2))
    """

    features: Floats
    user: Ints
    item: Ints
    user_ids: Ints  # as the publisher calls them
    item_ids: Ints

    def per_user(self) -> Ints:
        """Return the number of items that each user had."""
        return np.bincount(self.user, minlength=self.user_ids.size).astype(np.int64)

    def user_means(self) -> Floats:
        """Return the mean of the features of what each user had: a place for each user among the items."""
        total = np.zeros((self.user_ids.size, self.features.shape[1]))
        np.add.at(total, self.user, self.features[self.item])
        return np.asarray(total / self.per_user()[:, np.newaxis])


def prepare(name: str, request: Request, path: str | os.PathLike[str] | None = None) -> Prepared:
    """Prepare one of SETS, or read what was prepared from the same files for the same request.

    >>> prepare("magic", Request(dimension=25))
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: unknown recommendation set 'magic': known: delicious, lastfm, \
movielens-100k, movielens-1m, movielens-20m, movielens-25m
    """
    if name not in SETS:
        raise unknown("recommendation set", name, SETS)
    release = find(describe(name), path)
    return _prepared(name, request, release.location, release.fingerprint())


@lru_cache(maxsize=4)
def _prepared(name: str, request: Request, location: Path, fingerprint: str) -> Prepared:  # noqa: ARG001
    """Read or make; kept in memory as long as the files have the same fingerprint."""
    entry = entry_path(Release.open(name, location, describe(name).subfolders), request)
    arrays = kept(entry, lambda: _make(load(name, location), request))
    return Prepared(**{key: np.asarray(value) for key, value in arrays.items()})


def entry_path(release: Release, request: Request) -> Path:
    """Return the file in the cache that belongs to the bytes of a release and a request.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("lastfm") as path:
    ...     entry_path(Release.open("lastfm", path), Request(2)).parent.name
    'prepared'
    """
    digest = hashlib.sha256(f"{FORMAT}|{request}|{release.content()}".encode()).hexdigest()
    return cache_folder() / "prepared" / f"{release.dataset}-{digest[:24]}.npz"


def _make(data: Any, request: Request) -> Arrays:
    events, counts, has_words = _parts(data)
    features = SCALES[request.scale](tag_features(counts, request.dimension))
    if request.above is not None:
        events = events.where(events.value > request.above)
    events = events.where(has_words[events.item])
    if not len(events):
        raise InvalidInput(f"no event has a value above {request.above}: lower `above`")
    per_user = events.per_user()
    busy = int((per_user > 0).sum())
    if request.users is not None and request.users > busy:
        raise InvalidInput(f"users must be at most {busy}, not {request.users}: no more users had anything")
    items = np.flatnonzero(events.per_item())  # what nobody had is never on offer
    chosen = np.flatnonzero(per_user) if request.users is None else most_active(per_user, request.users)
    events = events.of_users(chosen)
    place = np.full(events.items.size, -1, dtype=np.int64)
    place[items] = np.arange(items.size)
    order = np.lexsort((events.item, events.user))
    return {
        "features": features[items],
        "user": events.user[order],
        "item": place[events.item[order]],
        "user_ids": events.users,
        "item_ids": events.items[items],
    }


def _parts(data: Any) -> tuple[Interactions, scipy.sparse.csr_array, Booleans]:
    """Return the events, the counts of words, and which items may be shown.

    A bookmark without a tag in a partial copy of Delicious would have no features; LastFM's artists without tags are
    in the release and in the papers' counts.
    """
    if isinstance(data, LastFM):
        return data.listening, data.tag_counts(), np.ones(data.listening.items.size, dtype=np.bool_)
    if isinstance(data, Delicious):
        return data.bookmarking, data.tag_counts(), data.tagged_urls()
    assert isinstance(data, MovieLens)
    counts = data.word_counts(("genres", "tags") if data.tag_names else ("genres", "titles"))
    return data.ratings, counts, np.ones(data.ratings.items.size, dtype=np.bool_)
