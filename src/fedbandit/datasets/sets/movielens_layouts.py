"""The file layouts of the MovieLens releases, one object each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.datasets.arrays import Ints, Strings
from fedbandit.datasets.description import Description, Download
from fedbandit.datasets.files.array_cache import Arrays
from fedbandit.datasets.files.release import Release
from fedbandit.datasets.files.tables import Table

TERMS = (
    "research use; acknowledge it and cite Harper and Konstan (2015); no redistribution and no commercial "
    "use without permission"
)
GENRES = """
    unknown Action Adventure Animation Children's Comedy Crime Documentary Drama Fantasy Film-Noir Horror
    Musical Mystery Romance Sci-Fi Thriller War Western
"""
GENRES_100K = tuple(GENRES.split())
NO_GENRE = "(no genres listed)"
CSV_FILES = ("ratings.csv", "movies.csv", "tags.csv")


def _describe(
    release: str, title: str, checksum: str, size: int, files: tuple[str, ...], expected: dict[str, int]
) -> Description:
    return Description(
        name=f"movielens-{release}",
        title=title,
        publisher="GroupLens Research, University of Minnesota",
        terms=TERMS,
        page=f"https://grouplens.org/datasets/movielens/{release}/",
        downloads=(Download(f"https://files.grouplens.org/datasets/movielens/ml-{release}.zip", checksum, size),),
        files=files,
        anchors=files[:1],
        homes=(f"ml-{release}",),
        expected=expected,
    )


@dataclass(frozen=True)
class Layout:
    """Where a release keeps what, and how its lines are laid out.

    >>> LAYOUTS["1m"].ratings_file, LAYOUTS["1m"].ratings_separator
    ('ratings.dat', b'::')
    """

    description: Description
    ratings_file: str
    movies_file: str
    ratings_separator: bytes
    movies_separator: bytes
    ratings_header: tuple[str, ...] = ()
    movies_header: tuple[str, ...] = ()
    genre_names: tuple[str, ...] = ()
    tags_file: str | None = None

    def rating_arrays(self, release: Release) -> Arrays:
        """Return the ratings as they stand in the file: user, movie, value and time."""
        table = Table.open(release, self.ratings_file, self.ratings_separator, self.ratings_header)
        # Half stars came with the csv releases; whole numbers parse six times as fast.
        rows = table.decimals(4) if self.ratings_header else table.integers(4)
        user, movie, time = (rows[:, column].astype(np.int64) for column in (0, 1, 3))
        return {"user": user, "movie": movie, "value": rows[:, 2].astype(np.float32), "time": time}

    def movies(self, release: Release) -> tuple[Ints, Strings, list[frozenset[str]]]:
        """Return (ids, titles, genres) of the films, by increasing id."""
        table = Table.open(release, self.movies_file, self.movies_separator, self.movies_header)
        if self.genre_names:
            rows = table.texts(5 + len(self.genre_names), "iso-8859-1")
            genres = [
                frozenset(name for name, flag in zip(self.genre_names, row[5:], strict=True) if flag == "1")
                for row in rows
            ]
        else:
            rows = table.quoted(3, "utf-8") if self.movies_header else table.texts(3, "iso-8859-1")
            genres = [frozenset(row[2].split("|")) - {NO_GENRE, ""} for row in rows]
        ids = table.column_of_integers(rows, 0)
        order = np.argsort(ids, kind="stable")
        titles = np.array([row[1] for row in rows])
        return ids[order], titles[order], [genres[index] for index in order]


def _csv_layout(description: Description) -> Layout:
    return Layout(
        description,
        *CSV_FILES[:2],
        b",",
        b",",
        ratings_header=("userId", "movieId", "rating", "timestamp"),
        movies_header=("movieId", "title", "genres"),
        tags_file=CSV_FILES[2],
    )


LAYOUTS = {
    "100k": Layout(
        _describe(
            "100k",
            "MovieLens 100K: 100,000 ratings of 943 users",
            "sha256:50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
            4_924_029,
            ("u.data", "u.item"),
            {"ratings": 100_000, "users": 943, "rated movies": 1_682, "movies": 1_682},
        ),
        "u.data",
        "u.item",
        b"\t",
        b"|",
        genre_names=GENRES_100K,
    ),
    "1m": Layout(
        _describe(
            "1m",
            "MovieLens 1M: 1,000,209 ratings of 6,040 users",
            "sha256:a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
            5_917_549,
            ("ratings.dat", "movies.dat"),
            {"ratings": 1_000_209, "users": 6_040, "rated movies": 3_706, "movies": 3_883},
        ),
        "ratings.dat",
        "movies.dat",
        b"::",
        b"::",
    ),
    "20m": _csv_layout(
        _describe(
            "20m",
            "MovieLens 20M: 20,000,263 ratings of 138,493 users, with tags",
            "sha256:96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
            198_702_078,
            CSV_FILES,
            {
                "ratings": 20_000_263,
                "users": 138_493,
                "rated movies": 26_744,
                "movies": 27_278,
                "tag assignments": 465_564,
            },
        )
    ),
    "25m": _csv_layout(
        _describe(
            "25m",
            "MovieLens 25M: 25,000,095 ratings of 162,541 users, with tags",
            "sha256:8b21cfb7eb1706b4ec0aac894368d90acf26ebdfb6aced3ebd4ad5bd1eb9c6aa",
            261_978_986,
            CSV_FILES,
            {
                "ratings": 25_000_095,
                "users": 162_541,
                "rated movies": 59_047,
                "movies": 62_423,
                "tag assignments": 1_093_360,
            },
        )
    ),
}
