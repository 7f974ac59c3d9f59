"""Every data set by its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from fedbandit.core.errors import unknown
from fedbandit.datasets.description import DataSet, Description
from fedbandit.datasets.sets import (
    adult,
    covertype,
    delicious,
    lastfm,
    magic,
    medical_mnist,
    movielens,
    mushroom,
    shuttle,
    warfarin,
)

Loader = Callable[[str | os.PathLike[str] | None], DataSet]

LOADERS: dict[str, tuple[Description, Loader]] = {
    module.DESCRIPTION.name: (module.DESCRIPTION, module.load)
    for module in (
        lastfm,
        delicious,
        shuttle,
        magic,
        covertype,
        mushroom,
        adult,
        warfarin,
        medical_mnist,
    )
} | {
    description.name: (description, partial(movielens.load, release))
    for release, description in movielens.DESCRIPTIONS.items()
}


def catalogue() -> tuple[Description, ...]:
    """Return the descriptions of all data sets, by name.

    >>> [description.name for description in catalogue()][:3]
    ['adult', 'covertype', 'delicious']
    """
    return tuple(LOADERS[name][0] for name in sorted(LOADERS))


def describe(name: str) -> Description:
    """Return what is known about one data set.

    >>> describe("magic").terms
    'CC BY 4.0, as the repository lists it; the files state none'
    >>> describe("magick")
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: unknown data set 'magick': did you mean 'magic'?
    """
    if name not in LOADERS:
        raise unknown("data set", name, LOADERS)
    return LOADERS[name][0]


def load(name: str, path: str | os.PathLike[str] | None = None) -> DataSet:
    """Read a data set by its name; the modules' own `load` functions return the same with a precise type.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("magic") as path:
    ...     load("magic", path).counts()["rows"]
    3
    """
    describe(name)
    return LOADERS[name][1](path)
