"""Statlog Shuttle: nine sensor readings of a space shuttle's radiator and its state, one of seven.

UCI Machine Learning Repository, Statlog; source NASA. Numbers separated by one space, no header, class last.
The release packs the training file with the old Unix tool compress (`shuttle.trn.Z`).
"""

from __future__ import annotations

import os

import numpy as np

from fedbandit.datasets.arrays import Ints
from fedbandit.datasets.classification import Classification
from fedbandit.datasets.description import Description, Download, with_missing
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.release import Release
from fedbandit.datasets.files.tables import Table

CLASS_NAMES = ("Rad Flow", "Fpv Close", "Fpv Open", "High", "Bypass", "Bpv Close", "Bpv Open")
COLUMN_NAMES = ("time", *(f"sensor {index}" for index in range(2, 10)))

DESCRIPTION = Description(
    name="shuttle",
    title="Statlog Shuttle: 58,000 rows, 9 attributes, 7 classes",
    publisher="UCI Machine Learning Repository, Statlog; source NASA, via J. Catlett",
    terms="CC BY 4.0, as the repository lists it; the files state none",
    page="https://archive.ics.uci.edu/dataset/148/statlog+shuttle",
    downloads=(
        Download(
            "https://archive.ics.uci.edu/static/public/148/statlog+shuttle.zip",
            "sha256:a03e1f23755093eff5b8d9656f944ae3240a376065cf4360d090f5fe0aff9bef",
        ),
    ),
    files=("shuttle.trn", "shuttle.tst"),
    anchors=("shuttle.trn", "shuttle.tst"),
    homes=("statlog-shuttle", "statlog+shuttle", "shuttle.zip"),
    expected={
        "rows": 58_000,
        "training rows": 43_500,
        "rows of class Rad Flow": 45_586,
        "rows of class Fpv Close": 50,
        "rows of class Fpv Open": 171,
        "rows of class High": 8_903,
        "rows of class Bypass": 3_267,
        "rows of class Bpv Close": 10,
        "rows of class Bpv Open": 13,
    },
)


def load(path: str | os.PathLike[str] | None = None) -> Classification:
    """Read Shuttle from `path` (folder or official zip), else from where data sets are kept.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("shuttle") as path:
    ...     data = load(path)
    >>> data.numbers.shape, data.class_names[data.labels[0]]
    ((4, 9), 'Fpv Close')
    """
    release = find(DESCRIPTION, path)
    training, test = _rows(release, "shuttle.trn"), _rows(release, "shuttle.tst")
    rows = np.concatenate([training, test])
    loaded = Classification.of_numbers(
        DESCRIPTION.name, rows[:, :9].astype(float), COLUMN_NAMES, rows[:, 9].copy(), CLASS_NAMES, len(training)
    )
    return with_missing(loaded, DESCRIPTION, release)


def _rows(release: Release, file: str) -> Ints:
    """Return a file's rows, with classes from 0."""
    if not release.has(file):
        return np.empty((0, 10), dtype=np.int64)
    table = Table.open(release, file, b" ")
    rows = table.integers(10)
    rows[:, 9] = table.labels(rows[:, 9], column=10, first=1, last=len(CLASS_NAMES))
    return rows
