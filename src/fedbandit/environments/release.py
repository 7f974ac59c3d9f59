"""The files of the data set behind a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedbandit.datasets.files.release import Release


def release_of(dataset: str, path: str) -> Release:
    """Return the release of a data set: at the path, or without one in the usual places."""
    from fedbandit.datasets import describe  # SciPy is imported only by those who read data
    from fedbandit.datasets.files.folders import find

    return find(describe(dataset), path or None)
