"""The mark beside a journal in a file: up to which record it must reach. It proves that an end was lost.

    "FM" | version u8 | 0 u8 | the journal's number, 16 bytes | the machine's start, 16 bytes | synced u64 | flushed u64
    | crc32 of all before it u32

A write-ahead log that is damaged or cut short ends, for SQLite, at its last good page, and it says nothing of the rest.
So the position of the last record that was synced is written here after each sync, and that of the last one that was
flushed after each flush, without waiting for the disk: it is never ahead of the journal. After a power cut only what
was synced can be asked for; a machine that has not been started since holds what was flushed as well. A mark that is
lost, damaged, or of another journal proves nothing.
"""

from __future__ import annotations

import mmap
import struct
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

_HEAD = b"FM\x01\x00"
_POSITIONS = struct.Struct("<QQ")
_CHECKSUM = struct.Struct("<I")
_AT = 36
_SIZE = _AT + _POSITIONS.size + _CHECKSUM.size
_NEVER = bytes(16)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Marked(NamedTuple):
    """What a mark says."""

    journal: bytes
    start: bytes
    synced: int
    flushed: int

    @property
    def must_reach(self) -> int:
        """Return the last record that must be there."""
        is_same_start = self.start == machine_start() != _NEVER
        return max(self.synced, self.flushed) if is_same_start else self.synced


@cache
def machine_start() -> bytes:
    """Return a number that the machine has had since it was started; zeros where it does not tell."""
    try:
        return bytes.fromhex(_BOOT.read_text().strip().replace("-", ""))[:16].ljust(16, b"\0")
    except (OSError, ValueError):
        return _NEVER


class Mark:
    """The mark of one journal: a file of one page that is mapped into memory, so that setting it costs next to nothing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "demo.db-mark"
    ...     mark = Mark(path, journal=bytes(range(16)))
    ...     mark.set(synced=3, flushed=5)
    ...     read_mark(path).synced
    3
    """

    def __init__(self, path: Path, journal: bytes) -> None:
        """Begin, or begin anew, for the journal of a number."""
        head = _HEAD + journal + machine_start()
        self._before = crc32(head)
        with path.open("w+b") as file:
            file.write(head.ljust(_SIZE, b"\0"))
            file.flush()
            self._map = mmap.mmap(file.fileno(), _SIZE)

    def set(self, synced: int, flushed: int) -> None:
        """Say up to where all is on the disk, and up to where it survives the end of this process."""
        data = _POSITIONS.pack(synced, flushed)
        self._map[_AT:_SIZE] = data + _CHECKSUM.pack(crc32(data, self._before))

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()


def mark_path(journal: Path) -> Path:
    """Return where the mark of a journal in a file stands."""
    return journal.with_name(f"{journal.name}-mark")


def read_mark(path: Path) -> Marked | None:
    """Return what a mark says; None if there is none that can be believed."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) != _SIZE or data[:4] != _HEAD or crc32(data[:-4]) != _CHECKSUM.unpack(data[-4:])[0]:
        return None
    return Marked(data[4:20], data[20:_AT], *_POSITIONS.unpack(data[_AT:-4]))
