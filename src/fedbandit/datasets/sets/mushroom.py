"""Mushroom: 22 properties of gilled mushrooms, each a letter, and whether they are edible (e) or not (p).

UCI Machine Learning Repository; J. Schlimmer, from the Audubon Society Field Guide. Separated by commas, no
header, class first; "?" is not known.
"""

from __future__ import annotations

import os

import numpy as np

from fedbandit.datasets.classification import Classification, coded
from fedbandit.datasets.description import Description, Download, with_missing
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.tables import Table

COLUMNS = """
    cap-shape cap-surface cap-color bruises odor gill-attachment gill-spacing gill-size gill-color stalk-shape
    stalk-root stalk-surface-above-ring stalk-surface-below-ring stalk-color-above-ring stalk-color-below-ring
    veil-type veil-color ring-number ring-type spore-print-color population habitat
"""
COLUMN_NAMES = tuple(COLUMNS.split())
CLASS_NAMES = ("e", "p")

DESCRIPTION = Description(
    name="mushroom",
    title="Mushroom: 8,124 rows, 22 categorical attributes, 2 classes",
    publisher="UCI Machine Learning Repository; J. Schlimmer, from the Audubon Society Field Guide",
    terms="CC BY 4.0, as the repository lists it",
    page="https://archive.ics.uci.edu/dataset/73/mushroom",
    downloads=(
        Download(
            "https://archive.ics.uci.edu/static/public/73/mushroom.zip",
            "sha256:face32f32647e0d939f6233f36dd30dd5d619ae9f3f9b8e10bea4ac7e1f60b1a",
        ),
    ),
    files=("agaricus-lepiota.data",),
    anchors=("agaricus-lepiota.data",),
    expected={"rows": 8_124, "rows of class e": 4_208, "rows of class p": 3_916},
)


def load(path: str | os.PathLike[str] | None = None) -> Classification:
    """Read Mushroom from `path` (folder or official zip), else from where data sets are kept.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("mushroom") as path:
    ...     data = load(path)
    >>> data.labels.tolist(), data.levels[4]
    ([1, 0, 0], ('a', 'p'))
    """
    release = find(DESCRIPTION, path)
    table = Table.open(release, "agaricus-lepiota.data", b",")
    columns = list(zip(*table.texts(1 + len(COLUMN_NAMES), "iso-8859-1"), strict=True))
    _, labels = coded(columns[0], CLASS_NAMES)
    if labels.min() < 0:
        line = int(np.argmin(labels))
        problem = f"column 1 is {columns[0][line][:30]!r}, not a class e or p"
        raise table.damaged(problem, line + table.first_line)
    attributes = [coded(column) for column in columns[1:]]
    loaded = Classification(
        name=DESCRIPTION.name,
        numbers=np.empty((labels.size, 0)),
        number_names=(),
        categories=np.stack([codes for _, codes in attributes], axis=1),
        category_names=COLUMN_NAMES,
        levels=tuple(levels for levels, _ in attributes),
        labels=labels,
        class_names=CLASS_NAMES,
        training_rows=labels.size,
    )
    return with_missing(loaded, DESCRIPTION, release)
