"""Is a data set here, whole, and the publisher's own file?"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from fedbandit.datasets.description import Download
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.registry import describe, load


@dataclass(frozen=True)
class Count:
    """One count of a data set, here and in the full release (None where its publisher states none).

    >>> Count("rows", found=3, expected=4).agrees
    False
    """

    name: str
    found: int
    expected: int | None

    @property
    def agrees(self) -> bool:
        """Whether nothing is amiss with it."""
        return self.expected is None or self.found == self.expected


@dataclass(frozen=True)
class Report:
    """What `check` found: where the set is, its counts, what it lacks, and remarks that are no fault.

    >>> Report("toy", Path("toy.zip"), (), missing=("half of it",), remarks=()).complete
    False
    """

    name: str
    location: Path
    counts: tuple[Count, ...]
    missing: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether everything of the release is here."""
        return not self.missing


def check(name: str, path: str | os.PathLike[str] | None = None) -> Report:
    """Load a data set, count it, and say what is missing, partial or different from the publisher's file.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("magic") as path:
    ...     report = check("magic", path)
    >>> report.complete, report.counts[0]
    (False, Count(name='rows', found=3, expected=19020))
    """
    description = describe(name)
    location = find(description, path).location
    loaded = load(name, path)
    counts = tuple(Count(key, n, description.expected.get(key)) for key, n in loaded.counts().items())
    remarks = [
        remark
        for download in description.downloads
        for file in (location, location / download.filename)
        if file.is_file() and file.name == download.filename and (remark := _difference(file, download))
    ]
    return Report(name, location, counts, loaded.missing, tuple(remarks))


def digest(file: Path, algorithm: str) -> str:
    """Return a file's checksum in hexadecimal.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "empty"
    ...     file.touch()
    ...     digest(file, "md5")
    'd41d8cd98f00b204e9800998ecf8427e'
    """
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, algorithm).hexdigest()


def _difference(file: Path, download: Download) -> str | None:
    if download.checksum is None:
        return None
    algorithm, _, wanted = download.checksum.partition(":")
    found = digest(file, algorithm)
    if found == wanted:
        return None
    return (
        f"{file.name} is not the publisher's own file ({algorithm} {found[:12]}... instead of "
        f"{wanted[:12]}...): a repacked or partial copy, which the counts judge"
    )
