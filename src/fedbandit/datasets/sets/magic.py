"""MAGIC gamma telescope: ten properties of an air shower, and whether a gamma (g) or a hadron (h) made it.

UCI Machine Learning Repository; owner R. K. Bock, donor P. Savicky (2007). Separated by commas, no header.
"""

from __future__ import annotations

import os

from fedbandit.datasets.classification import Classification
from fedbandit.datasets.description import Description, Download, with_missing
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.tables import Table

COLUMN_NAMES = (
    "fLength",
    "fWidth",
    "fSize",
    "fConc",
    "fConc1",
    "fAsym",
    "fM3Long",
    "fM3Trans",
    "fAlpha",
    "fDist",
)
CLASS_NAMES = ("g", "h")

DESCRIPTION = Description(
    name="magic",
    title="MAGIC gamma telescope: 19,020 rows, 10 attributes, 2 classes",
    publisher="UCI Machine Learning Repository; R. K. Bock (MAGIC project), P. Savicky",
    terms="CC BY 4.0, as the repository lists it; the files state none",
    page="https://archive.ics.uci.edu/dataset/159/magic+gamma+telescope",
    downloads=(Download("https://archive.ics.uci.edu/static/public/159/magic+gamma+telescope.zip"),),
    files=("magic04.data",),
    anchors=("magic04.data",),
    homes=("magic-gamma-telescope", "magic+gamma+telescope", "magic.zip"),
    expected={"rows": 19_020, "rows of class g": 12_332, "rows of class h": 6_688},
)


def load(path: str | os.PathLike[str] | None = None) -> Classification:
    """Read MAGIC from `path` (folder or official zip), else from where data sets are kept.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("magic") as path:
    ...     data = load(path)
    >>> data.numbers.shape, data.labels.tolist()
    ((3, 10), [0, 0, 1])
    """
    release = find(DESCRIPTION, path)
    table = Table.open(release, "magic04.data", b",")
    rows = _numbered(table).decimals(11)
    labels = table.labels(rows[:, 10], column=11, first=0, last=1)
    loaded = Classification.of_numbers(DESCRIPTION.name, rows[:, :10].copy(), COLUMN_NAMES, labels, CLASS_NAMES)
    return with_missing(loaded, DESCRIPTION, release)


def _numbered(table: Table) -> Table:
    """Write the class at the end of each line as a number, so that the whole table can be read at once."""
    body = table.body.replace(b"\r\n", b"\n") + b"\n"
    for index, name in enumerate(CLASS_NAMES):
        body = body.replace(b",%s\n" % name.encode(), b",%d\n" % index)
    return Table(table.dataset, table.file, body, table.separator)
