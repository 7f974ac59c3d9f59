"""Large snapshots in an SQLite file: written piece by piece beforehand, so that nobody waits for all of it at once.

The pieces of one snapshot are a series, and `snapshots` has the number of the series in place of the data. A series
that no snapshot names was not finished when its process ended: it goes with the next snapshot.
"""

from __future__ import annotations

import sqlite3

PIECE_BYTES = 128 * 1024  # about a millisecond; a snapshot that is no larger is written whole
_TABLE = "CREATE TABLE IF NOT EXISTS pieces (place INTEGER PRIMARY KEY, series INTEGER NOT NULL, data BLOB NOT NULL)"


class Pieces:
    """The series that is being written to one file.

    >>> file = sqlite3.connect(":memory:", isolation_level=None)
    >>> pieces, snapshot = Pieces(file), bytes(PIECE_BYTES + 7)
    >>> [(pieces.lay_down(snapshot), pieces.series(snapshot)) for _ in range(3)]
    [(131072, None), (7, 1), (0, 1)]
    >>> joined(file, 1) == snapshot
    True
    """

    def __init__(self, file: sqlite3.Connection) -> None:
        """Take the file; nothing is being written yet."""
        self._file = file
        self._snapshot = b""
        self._series = self._laid = 0  # its number, and how many bytes of the snapshot are written

    def lay_down(self, snapshot: bytes) -> int:
        """Write the next piece of a snapshot, or the first of another; return its bytes: none if nothing is left."""
        if len(snapshot) <= PIECE_BYTES:
            return 0
        if snapshot is not self._snapshot:
            self._file.execute(_TABLE)
            (last,) = self._file.execute("SELECT ifnull(max(series), 0) FROM pieces").fetchone()
            self._snapshot, self._series, self._laid = snapshot, last + 1, 0
        piece = snapshot[self._laid : self._laid + PIECE_BYTES]
        if piece:
            self._file.execute("INSERT INTO pieces (series, data) VALUES (?, ?)", (self._series, piece))
            self._laid += len(piece)
        return len(piece)

    def series(self, snapshot: bytes) -> int | None:
        """Return the number of a snapshot's series, if all of it is written."""
        is_whole = snapshot is self._snapshot and self._laid == len(snapshot) > 0
        return self._series if is_whole else None

    def drop_others(self, series: int | None) -> None:
        """Delete all other series, within the transaction that stores a snapshot."""
        self._snapshot, self._laid = b"", 0
        if self._file.execute("SELECT 1 FROM sqlite_master WHERE name = 'pieces'").fetchone():
            self._file.execute("DELETE FROM pieces WHERE series IS NOT ?", (series,))


def joined(file: sqlite3.Connection, series: int) -> bytes:
    """Return the snapshot whose pieces are a series."""
    rows = file.execute("SELECT data FROM pieces WHERE series = ? ORDER BY place", (series,))
    return b"".join(data for (data,) in rows if type(data) is bytes)
