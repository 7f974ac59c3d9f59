"""Machines that fail: a node, its disk, and the moment at which the power goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import numpy as np

from fedbandit.durable.journals.journal import Entry, MemoryJournal

Node = TypeVar("Node")


class PowerCut(BaseException):
    """The power goes in the middle of something: nothing that a node does can keep it."""


class FusedJournal(MemoryJournal):
    """A journal whose machine loses power at one of its next operations, before or after it takes effect."""

    def __init__(self, keep_log: bool = False) -> None:
        """Begin empty, with no power cut ahead."""
        super().__init__(keep_log)
        self.fuse = 0  # the power goes at the fuse-th boundary of an operation from now on; 0: not at all

    def append(self, record: bytes, *, keep: bool = False) -> int:
        """Add a record."""
        self._burn()
        position = super().append(record, keep=keep)
        self._burn()
        return position

    def sync(self, up_to: int | None = None) -> None:
        """Make records safe."""
        self._burn()
        super().sync(up_to)
        self._burn()

    def save(
        self, snapshot: bytes, released: Iterable[int] = (), replaced: Iterable[Entry] = (), up_to: int | None = None
    ) -> None:
        """Store a snapshot."""
        self._burn()
        fuse, self.fuse = self.fuse, 0
        super().save(snapshot, released, replaced, up_to)  # one transaction
        self.fuse = fuse
        self._burn()

    def _burn(self) -> None:
        if self.fuse:
            self.fuse -= 1
            if not self.fuse:
                raise PowerCut


class Host(Generic[Node]):
    """A machine that runs one node on its disk, when it is up."""

    def __init__(self, start: Callable[[FusedJournal, bool], Node], number: int = -1, keep_log: bool = False) -> None:
        """Take what starts the node from a disk, which may be a restored one; and the number, if it is a site."""
        self._start = start
        self.number = number
        self._keep_log = keep_log
        self.disk = FusedJournal(keep_log)
        self.backups: list[MemoryJournal] = []
        self.is_doubtful: list[bool] = []  # of each backup: was the node on it still unsure of its past?
        self.doubts = False  # the same, of what is safe on the disk
        self.node: Node | None = None

    def boot(self, *, restored: bool = False) -> None:
        """Start the node."""
        self.disk.fuse = 0
        self.node = self._start(self.disk, restored)

    def crash(self, rng: np.random.Generator) -> None:
        """Lose the node, and of what it wrote and did not sync all but the first few records."""
        self.node = None
        self.disk.fuse = 0
        self.disk.crash(survivors=int(rng.integers(3)))

    def back_up(self) -> None:
        """Keep a copy of what is safe on the disk."""
        copy = MemoryJournal()
        copy.fill_from(self.disk)
        copy.crash(survivors=0)
        self.backups.append(copy)
        self.is_doubtful.append(self.doubts)

    def replace_disk(self, backup: int | None) -> None:
        """Put in an empty disk, or one with the contents of a backup; later backups are of a life that is lost."""
        self.node = None
        self.disk = FusedJournal(self._keep_log)
        if backup is not None:
            self.disk.fill_from(self.backups[backup])
            del self.backups[backup + 1 :], self.is_doubtful[backup + 1 :]
