"""Signs of life of the process that has a journal in a file open, and how one on the same machine takes its place.

They stand in a file beside the journal, NAME.db-beat: the process, and a number that grows. Who holds the journal is
asked of the system, which knows whose lock is on it; so no other process is ever ended.
"""

from __future__ import annotations

import logging
import os
import signal
import struct
import sys
from pathlib import Path

from fedbandit.durable.journals.lease import Sign

try:
    import fcntl
except ImportError:  # there are systems without such locks: there a holder is waited for until it ends
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger("fedbandit.coordinator")

_BEAT = struct.Struct("<QQ")
_LOCK = struct.Struct("hhqqi")  # struct flock of Linux: type, whence, start, length, process
_LOCKED_BY_SQLITE = (0x40000000, 512)  # the bytes of its file that SQLite locks


def beat_path(journal: Path) -> Path:
    """Return where the signs of life of a journal's holder stand."""
    return journal.with_name(f"{journal.name}-beat")


class FileBeat:
    """The signs of life of this process.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     beat = FileBeat(Path(folder) / "demo.db")
    ...     beat.show(), beat.show()
    ...     read_beat(Path(folder) / "demo.db").beat
    ...     beat.close()
    (None, None)
    2
    """

    def __init__(self, journal: Path) -> None:
        """Begin to show signs of life."""
        self._path = beat_path(journal)
        self._file = self._path.open("wb", buffering=0)
        self._count = 0

    def show(self) -> None:
        """Show one."""
        self._count += 1
        self._file.seek(0)
        self._file.write(_BEAT.pack(os.getpid(), self._count))

    def close(self) -> None:
        """Show no more."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def read_beat(journal: Path) -> Sign | None:
    """Return the last sign of life that is written, of whichever process; None if there is none."""
    try:
        return Sign(*_BEAT.unpack(beat_path(journal).read_bytes()))
    except (OSError, struct.error):
        return None


class FileHolder:
    """Whoever has a journal in a file open. Not to be used by a process that has it open itself."""

    def __init__(self, path: Path) -> None:
        """Take the path of the journal, which need not be there yet."""
        self._path = path
        self._warned = False

    @classmethod
    def in_folder(cls, folder: str, name: str) -> FileHolder:
        """Look at the journal of a name in a folder."""
        return cls(Path(folder) / f"{name}.db")

    def look(self) -> Sign | None:
        """Return what is seen of the holder; None if nobody has the journal open, or if that cannot be told."""
        holder = self._holder()
        if holder is None:
            return None
        shown = read_beat(self._path)
        return shown if shown is not None and shown.holder == holder else Sign(holder, None)

    def end(self, holder: int) -> None:
        """Kill the process, if it still is the one that has the journal open."""
        if not hasattr(os, "pidfd_open"):
            return
        try:
            process = os.pidfd_open(holder)
            try:
                if self._holder() == holder:  # so it is not another that has got the number since
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    log.warning("process %d has shown no sign of life, and was ended", holder)
            finally:
                os.close(process)
        except OSError as error:
            if not self._warned:
                log.error("process %d has %s open, shows no sign of life, and cannot be ended (%s): end it",
                          holder, self._path, error.strerror)  # fmt: skip
            self._warned = True

    def close(self) -> None:
        """Do nothing: no file is kept open."""

    def _holder(self) -> int | None:
        if fcntl is None or sys.platform != "linux" or not self._path.exists():
            return None
        file = os.open(self._path, os.O_RDONLY)
        try:
            asked = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, *_LOCKED_BY_SQLITE, 0)
            kind, *_, holder = _LOCK.unpack(fcntl.fcntl(file, fcntl.F_GETLK, asked))
        finally:
            os.close(file)
        return None if kind == fcntl.F_UNLCK else int(holder)
