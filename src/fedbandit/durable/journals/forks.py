"""Connections to SQLite across a fork: a process that has got one so must never close it.

SQLite takes the end of the last connection for the time to empty and delete the write-ahead log. A forked process that
ends closes its copy of the connection, and deletes the log that its parent goes on writing to: what the parent writes
from then on is lost when it is killed. So in a forked process connections that were open are kept for ever.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
from weakref import WeakSet


class JournalConnection(sqlite3.Connection):
    """A connection that is known while it is open, and can be referred to weakly."""

    place = ""

    def close(self) -> None:
        """Close it, and know it no more."""
        super().close()
        _OPEN.discard(self)


_OPEN: WeakSet[JournalConnection] = WeakSet()


def connect(path: os.PathLike[str]) -> JournalConnection:
    """Open a file for this process alone."""
    file = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0.5, factory=JournalConnection)
    file.place = os.path.realpath(path)
    _OPEN.add(file)
    return file


def is_open_here(path: os.PathLike[str]) -> bool:
    """Tell whether this process itself has a file open."""
    return any(file.place == os.path.realpath(path) for file in list(_OPEN))


def _keep_for_ever() -> None:
    for file in list(_OPEN):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(file))  # else the interpreter would close it at the end


if hasattr(os, "register_at_fork"):  # there are systems without forks
    os.register_at_fork(after_in_child=_keep_for_ever)
