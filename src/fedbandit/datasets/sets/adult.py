"""Adult: 14 facts from the 1994 census of the United States, and whether a person earned above 50K.

UCI Machine Learning Repository; R. Kohavi and B. Becker. Separated by a comma and a space, no header.
adult.test begins with the line `|1x3 Cross validator` and has a full stop after each class.
"""

from __future__ import annotations

import os

import numpy as np

from fedbandit.datasets.classification import Classification, coded
from fedbandit.datasets.description import Description, Download, with_missing
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.release import Release
from fedbandit.datasets.files.tables import Table

COLUMNS = """
    age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain
    capital-loss hours-per-week native-country
"""
COLUMN_NAMES = tuple(COLUMNS.split())
NUMERIC = (0, 2, 4, 10, 11, 12)
CATEGORICAL = tuple(index for index in range(14) if index not in NUMERIC)
CLASS_NAMES = ("<=50K", ">50K")

DESCRIPTION = Description(
    name="adult",
    title="Adult (census income): 48,842 rows, 14 attributes, 2 classes",
    publisher="UCI Machine Learning Repository; R. Kohavi, B. Becker, from the 1994 census",
    terms="CC BY 4.0, as the repository lists it; the files state none",
    page="https://archive.ics.uci.edu/dataset/2/adult",
    downloads=(
        Download(
            "https://archive.ics.uci.edu/static/public/2/adult.zip",
            "sha256:7537312dd56c2b98035880805ce99e68183a30ee468aa5329d6df0fbb3cc21bb",
        ),
    ),
    files=("adult.data", "adult.test"),
    anchors=("adult.data", "adult.test"),
    expected={
        "rows": 48_842,
        "training rows": 32_561,
        "rows of class <=50K": 37_155,
        "rows of class >50K": 11_687,
    },
)


def load(path: str | os.PathLike[str] | None = None) -> Classification:
    """Read Adult from `path` (folder or official zip), else from where data sets are kept.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("adult") as path:
    ...     data = load(path)
    >>> data.training_rows, data.labels.tolist(), data.numbers.shape
    (2, [0, 1, 0], (3, 6))
    """
    release = find(DESCRIPTION, path)
    training, test = _rows(release, "adult.data"), _rows(release, "adult.test")
    rows = training + test
    columns = list(zip(*rows, strict=True))
    categorical = [coded(columns[index]) for index in CATEGORICAL]
    loaded = Classification(
        name=DESCRIPTION.name,
        numbers=np.array([columns[index] for index in NUMERIC]).astype(float).T.copy(),
        number_names=tuple(COLUMN_NAMES[index] for index in NUMERIC),
        categories=np.stack([codes for _, codes in categorical], axis=1),
        category_names=tuple(COLUMN_NAMES[index] for index in CATEGORICAL),
        levels=tuple(levels for levels, _ in categorical),
        labels=coded(columns[14], CLASS_NAMES)[1],
        class_names=CLASS_NAMES,
        training_rows=len(training),
    )
    return with_missing(loaded, DESCRIPTION, release)


def _rows(release: Release, file: str) -> list[list[str]]:
    if not release.has(file):
        return []
    table = Table.open(release, file, b", ")
    if table.body.startswith(b"|"):
        remark, _, body = table.body.partition(b"\n")
        table = Table(table.dataset, table.file, body, b", ", header=(remark.decode("iso-8859-1"),))
    rows = table.texts(15, "iso-8859-1")
    for line, row in enumerate(rows, table.first_line):
        row[14] = row[14].removesuffix(".")
        if row[14] not in CLASS_NAMES:
            raise table.damaged(f"column 15 is {row[14][:30]!r}, not a class <=50K or >50K", line)
        for index in NUMERIC:
            if not row[index].isdecimal():
                raise table.damaged(f"column {index + 1} is {row[index][:30]!r}, not a whole number", line)
    return rows
