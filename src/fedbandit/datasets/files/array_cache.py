"""Keep parsed arrays in the user's cache, so that the second load of a large set is instant.

An entry is one npz file (no pickles) named by the data set and a digest of the source files' places, sizes
and times. It is written beside its final name and renamed, so that readers and other writers never see half
a file; where the folder cannot be written, nothing is kept and nothing fails. It may be emptied at any time.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedbandit.datasets.files.release import Release
from fedbandit.files.cache_folder import cache_folder

# Raise it when a reader's arrays change their meaning: old entries are then never read again.
FORMAT = 1
# Smaller sources are parsed in a moment: an entry would only fill the folder.
SMALLEST_BYTES = 1 << 20

Arrays = Mapping[str, NDArray[Any]]


def remembered(release: Release, parse: Callable[[Release], Arrays]) -> Arrays:
    """Return `parse(release)`, or what it returned the last time for the same files.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "toy.txt").write_text("7")
    ...     toy = Release.open("toy", Path(folder))
    ...     arrays = remembered(toy, lambda release: {"all": np.array([int(release.read("toy.txt"))])})
    >>> arrays["all"].tolist()
    [7]
    """
    if release.size() < SMALLEST_BYTES:
        return parse(release)
    return kept(entry_path(release), lambda: parse(release))


def kept(entry: Path, make: Callable[[], Arrays]) -> Arrays:
    """Return what an entry of the cache holds, or make it and keep it there.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     entry = Path(folder) / "deep" / "toy.npz"
    ...     first = kept(entry, lambda: {"all": np.array([7])})
    ...     again = kept(entry, lambda: {"all": np.array([8])})
    >>> again["all"].tolist()
    [7]
    """
    found = read_entry(entry)
    if found is not None:
        return found
    arrays = make()
    write_entry(entry, arrays)
    return arrays


def entry_path(release: Release) -> Path:
    """Return the file in the cache that belongs to a release as it is on disk now.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     entry_path(Release.open("toy", Path(folder))).name.startswith("toy-")
    True
    """
    digest = hashlib.sha256(f"{FORMAT}|{release.fingerprint()}".encode()).hexdigest()
    return cache_folder() / "parsed" / f"{release.dataset}-{digest[:24]}.npz"


def read_entry(entry: Path) -> Arrays | None:
    """Return the arrays of an entry, or None where there is none that can be read.

    >>> read_entry(Path("/nowhere/toy.npz")) is None
    True
    """
    try:
        # Opened here, not by NumPy, which forgets to close what turns out to be no archive.
        with entry.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
        return None


def write_entry(entry: Path, arrays: Arrays) -> None:
    """Write an entry so that a reader sees all of it or nothing; where the folder cannot be written, do nothing.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_entry(Path(folder) / "toy.npz", {"all": np.array([7])})
    ...     read_entry(Path(folder) / "toy.npz")["all"].tolist()
    [7]
    """
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=entry.parent, prefix=entry.stem, suffix=".part")
    except OSError:
        return
    unfinished, contents = Path(name), dict[str, Any](arrays)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **contents)
        unfinished.replace(entry)
    except OSError:
        unfinished.unlink(missing_ok=True)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
