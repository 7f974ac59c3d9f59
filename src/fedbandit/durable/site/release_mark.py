"""How far a private site has come with its releases, beside its store and not in it: so an old store is known as old.

    {"stream": 8123, "release": 17}

The file is written, and synced, before each release leaves, and belongs into no backup. A store that is behind it, or
of another stream, or without it, is a restored one or a copy: the site then begins a new stream.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple, Protocol

from fedbandit.core.errors import InvalidInput


class Marked(NamedTuple):
    """The stream of a site, and the number of its last release."""

    stream: int
    release: int


class ReleaseMark(Protocol):
    """What remembers the last release."""

    def read(self) -> Marked | None:
        """Return what was last written; None if there is nothing that can be believed."""

    def write(self, marked: Marked) -> None:
        """Remember it, whatever happens to this machine."""


class MarkInMemory:
    """A mark for simulations and tests."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._marked: Marked | None = None

    def read(self) -> Marked | None:
        """Return what was last written."""
        return self._marked

    def write(self, marked: Marked) -> None:
        """Remember it."""
        self._marked = marked


class MarkInFile:
    """A mark in a file of its own.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mark = MarkInFile.beside(Path(folder) / "site.db")
    ...     before = mark.read()
    ...     mark.write(Marked(8123, 17))
    ...     before, mark.read(), mark.path.name
    (None, Marked(stream=8123, release=17), 'site.db-releases')
    """

    def __init__(self, path: Path) -> None:
        """Take the file."""
        self.path = path

    @classmethod
    def beside(cls, store: str | Path) -> MarkInFile:
        """Return the mark of a store."""
        place = Path(store)
        return cls(place.with_name(f"{place.name}-releases"))

    def read(self) -> Marked | None:
        """Return what the file says."""
        try:
            said = json.loads(self.path.read_bytes())
            return Marked(int(said["stream"]), int(said["release"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, marked: Marked) -> None:
        """Write a file in its place, and wait for the disk."""
        new = self.path.with_name(f"{self.path.name}-new")
        try:
            with new.open("w") as file:
                json.dump(marked._asdict(), file)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise InvalidInput(
                f"{self.path} cannot be written ({error}), so nothing is released: see to its folder"
            ) from error
