"""The files of one data set, wherever they lie: in a folder, a zip, a tar, or alone."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from fedbandit.datasets.files import lzw
from fedbandit.datasets.files.errors import MissingData, damaged

UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
)


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


class Release:
    """The files of a data set by their bare names; packed ones (`.gz`, `.Z`) are unpacked on the way.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "toy.csv.gz").write_bytes(gzip.compress(b"1,2"))
    ...     Release.open("toy", Path(folder)).read("toy.csv")
    b'1,2'
    """

    def __init__(self, dataset: str, location: Path, container: Container) -> None:
        """Take stock of the container's files."""
        self.dataset = dataset
        self.location = location
        self._container = container
        try:
            self.paths = [path for path in container.paths() if not _is_litter(path)]
        except UNREADABLE as error:
            raise damaged(dataset, location.name, f"cannot be opened ({_reason(error)})") from error
        self._by_name: dict[str, str] = {}
        for path in sorted(self.paths, key=lambda path: (path.count("/"), path)):
            self._by_name.setdefault(PurePosixPath(path).name, path)

    @classmethod
    def open(cls, dataset: str, location: Path, subfolders: tuple[str, ...] = ()) -> Release:
        """Open a folder, a zip, a tar or a single file."""
        if location.is_dir():
            return cls(dataset, location, Folder(location, subfolders))
        name = location.name.lower()
        if name.endswith(".zip"):
            return cls(dataset, location, Zip(location))
        if name.endswith((".tar", ".tar.gz", ".tgz")):
            return cls(dataset, location, Tar(location))
        return cls(dataset, location, Folder(location.parent, only=location.name))

    def has(self, name: str) -> bool:
        """Whether the file is here, packed or not, or a folder of that name."""
        return self._find(name) is not None or any(name in PurePosixPath(path).parts[:-1] for path in self.paths)

    def read(self, name: str) -> bytes:
        """Return the file's bytes, unpacked."""
        path = self._find(name)
        if path is None:
            raise MissingData(
                f"{name} is not in {self.location}: get the data set {self.dataset} again with "
                f"`fedbandit data fetch {self.dataset}`"
            )
        for found, content in self.stream([path]):
            try:
                return _unpacked(found, content)
            except UNREADABLE as error:
                raise damaged(self.dataset, found, f"cannot be unpacked ({_reason(error)})") from error
        raise damaged(self.dataset, path, "vanished while it was read")

    def stream(self, paths: list[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (path, bytes as stored) for each of `paths`, in the cheapest order."""
        try:
            yield from self._container.stream(frozenset(paths))
        except UNREADABLE as error:
            raise damaged(self.dataset, self.location.name, f"cannot be read ({_reason(error)})") from error

    def size(self) -> int:
        """Return the bytes that the release takes on disk."""
        return sum(path.stat().st_size for path in self._container.stamp())

    def fingerprint(self) -> str:
        """Return a digest that changes when any file of the release is replaced or edited."""
        digest = hashlib.sha256(str(self.location.resolve()).encode())
        for path in self._container.stamp():
            facts = path.stat()
            digest.update(f"{path.name}|{facts.st_size}|{facts.st_mtime_ns}\n".encode())
        return digest.hexdigest()

    def content(self) -> str:
        """Return a digest of the bytes of the release, wherever it lies and whenever it was written."""
        digest = hashlib.sha256()
        try:
            for path in self._container.stamp():
                with path.open("rb") as file:
                    digest.update(f"{path.name}|{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        except UNREADABLE as error:
            raise damaged(self.dataset, self.location.name, f"cannot be read ({_reason(error)})") from error
        return digest.hexdigest()

    def _find(self, name: str) -> str | None:
        for packed in (name, f"{name}.gz", f"{name}.Z"):
            if packed in self._by_name:
                return self._by_name[packed]
        return None


def _unpacked(path: str, content: bytes) -> bytes:
    if path.endswith(".gz"):
        return gzip.decompress(content)
    return lzw.unpack(content) if path.endswith(".Z") else content


def _is_litter(path: str) -> bool:
    # What Finder and Explorer leave in folders and zips, with the names of the real files.
    return path.startswith("__MACOSX/") or PurePosixPath(path).name.startswith(".")


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
