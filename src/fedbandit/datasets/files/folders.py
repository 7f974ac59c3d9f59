"""Where data sets are looked for: the path given, the folder FEDBANDIT_DATA names, the user's cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fedbandit.datasets.description import Description
from fedbandit.datasets.files.errors import MissingData
from fedbandit.datasets.files.release import Release
from fedbandit.files.cache_folder import cache_folder

DATA_VARIABLE = "FEDBANDIT_DATA"


def download_folder() -> Path:
    """Return the folder that downloads go to unless the caller names another.

    >>> download_folder().name
    'data'
    """
    return cache_folder() / "data"


def find(description: Description, path: str | os.PathLike[str] | None = None) -> Release:
    """Return the release of a data set, from `path` if given, else from the first place that holds it.

    >>> toy = Description("toy", "A toy", "nobody", "none", "https://example.org", anchors=("toy.csv",))
    >>> find(toy, "/nowhere")
    Traceback (most recent call last):
    ...
    fedbandit.datasets.files.errors.MissingData: the data set toy (A toy) is not in /nowhere: get it with \
`fedbandit data fetch toy`
    """
    roots = _roots(path)
    for root in roots:
        for place in _candidates(description, root):
            if not place.exists():
                continue
            release = Release.open(description.name, place, description.subfolders)
            if any(release.has(anchor) for anchor in description.anchors):
                return release
    hint = "" if path is not None or DATA_VARIABLE in os.environ else f" ({DATA_VARIABLE} is not set)"
    places = " or ".join(str(root) for root in roots)
    raise MissingData(
        f"the data set {description.name} ({description.title}) is not in {places}{hint}: "
        f"get it with `{description.fetch_command}`"
    )


def _roots(path: str | os.PathLike[str] | None) -> list[Path]:
    if path is not None:
        return [Path(path).expanduser()]
    named = os.environ.get(DATA_VARIABLE)
    return [*([Path(named).expanduser()] if named else []), download_folder()]


def _candidates(description: Description, root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for base in (root, root / description.name):
        yield base
        for home in (*description.homes, *(download.filename for download in description.downloads)):
            yield base / home
