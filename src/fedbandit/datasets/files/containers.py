"""Where the files of a data set may lie: in a folder, a zip, a tar, or alone."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Container(Protocol):
    """A place that holds files, by paths relative to it.

    >>> place: Container = Folder(Path("data"), only="toy.csv")
    >>> [path.name for path in place.stamp()]
    ['toy.csv']
    """

    def paths(self) -> list[str]:
        """Every file in it."""

    def stream(self, wanted: frozenset[str]) -> Iterator[tuple[str, bytes]]:
        """The wanted files, in the container's own order, which is the cheap one."""

    def stamp(self) -> list[Path]:
        """The files on disk whose change means that the contents changed."""


@dataclass(frozen=True)
class Folder:
    """A folder, or one file of it.

    >>> Folder(Path("data"), only="toy.csv").paths()
    ['toy.csv']
    """

    folder: Path
    subfolders: tuple[str, ...] = ()
    only: str | None = None

    def paths(self) -> list[str]:
        """Every file in it, and in the sub-folders that belong to the set."""
        if self.only is not None:
            return [self.only]
        direct = [entry.name for entry in self.folder.iterdir() if entry.is_file()]
        nested = [
            f"{name}/{entry.name}"
            for name in self.subfolders
            if (self.folder / name).is_dir()
            for entry in (self.folder / name).iterdir()
        ]
        return sorted(direct + nested)

    def stream(self, wanted: frozenset[str]) -> Iterator[tuple[str, bytes]]:
        """The wanted files, sorted."""
        for path in sorted(wanted):
            yield path, (self.folder / path).read_bytes()

    def stamp(self) -> list[Path]:
        """Each file counts."""
        return [self.folder / path for path in self.paths()]


@dataclass(frozen=True)
class Zip:
    """A zip archive.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with zipfile.ZipFile(Path(folder) / "toy.zip", "w") as archive:
    ...         archive.writestr("toy/toy.csv", b"1,2")
    ...     Zip(Path(folder) / "toy.zip").paths()
    ['toy/toy.csv']
    """

    path: Path

    def paths(self) -> list[str]:
        """Every member that is a file."""
        with zipfile.ZipFile(self.path) as archive:
            return [name for name in archive.namelist() if not name.endswith("/")]

    def stream(self, wanted: frozenset[str]) -> Iterator[tuple[str, bytes]]:
        """The wanted members, in archive order."""
        with zipfile.ZipFile(self.path) as archive:
            for name in archive.namelist():
                if name in wanted:
                    yield name, archive.read(name)

    def stamp(self) -> list[Path]:
        """The archive counts as one."""
        return [self.path]


@dataclass(frozen=True)
class Tar:
    """A tar archive, packed or not.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with tarfile.open(Path(folder) / "toy.tar.gz", "w:gz") as archive:
    ...         archive.addfile(tarfile.TarInfo("toy/toy.csv"))
    ...     Tar(Path(folder) / "toy.tar.gz").paths()
    ['toy/toy.csv']
    """

    path: Path

    def paths(self) -> list[str]:
        """Every member that is a file."""
        with tarfile.open(self.path) as archive:
            return [member.name for member in archive if member.isfile()]

    def stream(self, wanted: frozenset[str]) -> Iterator[tuple[str, bytes]]:
        """The wanted members in one pass: a packed tar is dear to read in any other order."""
        with tarfile.open(self.path) as archive:
            for member in archive:
                opened = archive.extractfile(member) if member.name in wanted and member.isfile() else None
                if opened is not None:
                    yield member.name, opened.read()

    def stamp(self) -> list[Path]:
        """The archive counts as one."""
        return [self.path]
