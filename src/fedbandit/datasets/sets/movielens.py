"""MovieLens 100K, 1M, 20M and 25M: who rated which film, and the films' titles, genres and tags.

Harper and Konstan (2015), The MovieLens Datasets, ACM TiiS 5(4). Three layouts: `u.data`, `u.item` (100K,
tabs and bars), `ratings.dat`, `movies.dat` (1M, double colons, ISO-8859-1) and csv files with headers (20M,
25M).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from fedbandit.core.errors import unknown
from fedbandit.datasets.arrays import Booleans, Ints, Strings
from fedbandit.datasets.description import with_missing
from fedbandit.datasets.files.array_cache import Arrays, remembered
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.release import Release
from fedbandit.datasets.files.tables import Table
from fedbandit.datasets.interactions import UNKNOWN_TIME, Interactions, count_matrix, interactions, positions
from fedbandit.datasets.preparation.words import word_counts
from fedbandit.datasets.sets.movielens_layouts import LAYOUTS, Layout

DESCRIPTIONS = {release: layout.description for release, layout in LAYOUTS.items()}


@dataclass(frozen=True, eq=False)
class MovieLens:
    """A MovieLens release as arrays.

    `ratings` has every film of the release as an item, rated or not. `genres[i, g]` says whether film i has
    the genre `genre_names[g]`. Tag assignment k (20M and 25M only) is film `tag_movie[k]` and tag
    `tag_tag[k]`, one of the lower-case `tag_names`.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("movielens-1m") as path:
    ...     data = load("1m", path)
    >>> data.counts()["ratings"], str(data.titles[0])
    (5, 'Toy Story (1995)')
    """

    ratings: Interactions
    titles: Strings
    genres: Booleans
    genre_names: tuple[str, ...]
    tag_movie: Ints
    tag_tag: Ints
    tag_names: tuple[str, ...]
    missing: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return the counts that the release's readme states, recomputed."""
        return {
            "ratings": len(self.ratings),
            "users": self.ratings.users.size,
            "rated movies": int((self.ratings.per_item() > 0).sum()),
            "movies": self.ratings.items.size,
            "tag assignments": self.tag_tag.size,
        }

    def word_counts(
        self, sources: Sequence[Literal["genres", "tags", "titles"]] = ("genres", "tags")
    ) -> scipy.sparse.csr_array:
        """Return the (movies, words) matrix of how often each word occurs in a film's `sources`.

        The releases up to 1M have no tags, and their genres are fewer than 25 words: for features of more
        dimensions take the words of the titles (the year is one) as well.

        >>> from fedbandit.datasets.files import examples
        >>> with examples.folder("movielens-1m") as path:
        ...     data = load("1m", path)
        >>> data.word_counts().shape, data.word_counts(["genres", "titles"]).shape
        ((3, 5), (3, 16))
        """
        parts: list[tuple[scipy.sparse.csr_array, Sequence[str]]] = []
        for source in sources:
            if source == "genres":
                parts.append((scipy.sparse.csr_array(self.genres.astype(float)), self.genre_names))
            elif source == "tags":
                shape = (self.ratings.items.size, len(self.tag_names))
                parts.append((count_matrix(self.tag_movie, self.tag_tag, shape), self.tag_names))
            elif source == "titles":
                parts.append((scipy.sparse.eye_array(self.titles.size, format="csr"), self.titles.tolist()))
            else:
                raise unknown("source of words", source, ("genres", "tags", "titles"))
        return word_counts(parts)


def load(release: str = "1m", path: str | os.PathLike[str] | None = None) -> MovieLens:
    """Read a MovieLens release (100k, 1m, 20m or 25m) from `path`, else from where data sets are kept.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("movielens-100k") as path:
    ...     load("100k", path).genre_names[:2]
    ('unknown', 'Action')
    """
    if release not in LAYOUTS:
        raise unknown("MovieLens release", release, LAYOUTS)
    layout = LAYOUTS[release]
    source = find(layout.description, path)
    rated = remembered(source, layout.rating_arrays)
    movie_ids, titles, genre_lists = layout.movies(source) if source.has(layout.movies_file) else _untold(rated)
    ratings = interactions(rated["user"], rated["movie"], rated["value"].astype(float), rated["time"], items=movie_ids)
    _refuse_unknown_movies(layout, source, ratings)
    genre_names = layout.genre_names or tuple(sorted({genre for genres in genre_lists for genre in genres}))
    tag_movie, tag_tag, tag_names = _tags(layout, source, movie_ids)
    loaded = MovieLens(
        ratings=ratings,
        titles=titles,
        genres=np.array([[name in genres for name in genre_names] for genres in genre_lists], dtype=np.bool_),
        genre_names=genre_names,
        tag_movie=tag_movie,
        tag_tag=tag_tag,
        tag_names=tag_names,
    )
    return with_missing(loaded, layout.description, source, *_untimed(ratings))


def _untold(rated: Arrays) -> tuple[Ints, Strings, list[frozenset[str]]]:
    ids = np.unique(rated["movie"])
    return ids, np.full(ids.size, "", dtype="U1"), [frozenset()] * ids.size


def _refuse_unknown_movies(layout: Layout, source: Release, ratings: Interactions) -> None:
    if ratings.item.size and ratings.item.min() < 0:
        line = int(np.argmin(ratings.item)) + (2 if layout.ratings_header else 1)
        table = Table(source.dataset, layout.ratings_file, b"")
        raise table.damaged(f"the movie is not in {layout.movies_file}", line)


def _untimed(ratings: Interactions) -> tuple[str, ...]:
    untimed = int((ratings.time == UNKNOWN_TIME).sum())
    if not untimed:
        return ()
    return (
        f"{untimed:,} of the {len(ratings):,} ratings have no time stamp (0): do not order their users' events by time",
    )


def _tags(layout: Layout, source: Release, movie_ids: Ints) -> tuple[Ints, Ints, tuple[str, ...]]:
    if layout.tags_file is None or not source.has(layout.tags_file):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), ()
    table = Table.open(source, layout.tags_file, b",", ("userId", "movieId", "tag", "timestamp"))
    vocabulary: dict[str, int] = {}
    rows = table.quoted(4, "utf-8")
    tags = [vocabulary.setdefault(row[2].strip().lower(), len(vocabulary)) for row in rows]
    movies = table.column_of_integers(rows, 1)
    return positions(movies, movie_ids)[1], np.array(tags, dtype=np.int64), tuple(vocabulary)
