"""Covertype: terrain of 30 m cells in four forests of Colorado, and the kind of trees, one of seven.

UCI Machine Learning Repository; J. A. Blackard, Colorado State University. Separated by commas, no header.
"""

from __future__ import annotations

import os

import numpy as np

from fedbandit.datasets.classification import Classification
from fedbandit.datasets.description import Description, Download, with_missing
from fedbandit.datasets.files.array_cache import Arrays, remembered
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.release import Release
from fedbandit.datasets.files.tables import Table

CLASS_NAMES = (
    "Spruce/Fir",
    "Lodgepole Pine",
    "Ponderosa Pine",
    "Cottonwood/Willow",
    "Aspen",
    "Douglas-fir",
    "Krummholz",
)
COLUMN_NAMES = (
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
    *(f"Wilderness_Area{index}" for index in range(1, 5)),
    *(f"Soil_Type{index}" for index in range(1, 41)),
)

DESCRIPTION = Description(
    name="covertype",
    title="Covertype: 581,012 rows, 54 attributes, 7 classes",
    publisher="UCI Machine Learning Repository; J. A. Blackard, Colorado State University",
    terms="free, with the copyright notice of J. A. Blackard and Colorado State University; listed CC BY 4.0",
    page="https://archive.ics.uci.edu/dataset/31/covertype",
    downloads=(
        Download(
            "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
            "sha256:614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
        ),
    ),
    files=("covtype.data",),
    anchors=("covtype.data",),
    homes=("covertype.zip", "covtype"),
    expected={
        "rows": 581_012,
        "rows of class Spruce/Fir": 211_840,
        "rows of class Lodgepole Pine": 283_301,
        "rows of class Ponderosa Pine": 35_754,
        "rows of class Cottonwood/Willow": 2_747,
        "rows of class Aspen": 9_493,
        "rows of class Douglas-fir": 17_367,
        "rows of class Krummholz": 20_510,
    },
)


def load(path: str | os.PathLike[str] | None = None) -> Classification:
    """Read Covertype from `path` (folder, official zip or `.gz`), else from where data sets are kept.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("covertype") as path:
    ...     data = load(path)
    >>> data.numbers.shape, data.class_names[data.labels[0]]
    ((2, 54), 'Aspen')
    """
    release = find(DESCRIPTION, path)
    rows = remembered(release, _parse)["rows"]
    loaded = Classification.of_numbers(
        DESCRIPTION.name, rows[:, :54].astype(float), COLUMN_NAMES, rows[:, 54].astype(np.int64), CLASS_NAMES
    )
    return with_missing(loaded, DESCRIPTION, release)


def _parse(release: Release) -> Arrays:
    table = Table.open(release, "covtype.data", b",")
    rows = table.integers(55)
    rows[:, 54] = table.labels(rows[:, 54], column=55, first=1, last=len(CLASS_NAMES))
    # Metres and degrees fit 16 bits: a quarter of the space in the cache, with room to spare.
    small = np.iinfo(np.int16)
    fits = rows.min() >= small.min and rows.max() <= small.max
    return {"rows": rows.astype(np.int16) if fits else rows}
