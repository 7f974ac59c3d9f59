"""The files of one data set, by their names, wherever they lie and however they are packed."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from fedbandit.datasets.files import lzw
from fedbandit.datasets.files.containers import Container, Folder, Tar, Zip
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
