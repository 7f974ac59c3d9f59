"""The log of a site's decisions: a folder of JSON lines, one file a day, which never leaves the site.

A line is written when a reward has come, or the decision has ended without, after the store has that and before
`learn` returns. What was written before the end of a process is there, but for a last line that is torn: it is cut when
the folder is opened again, and written anew.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from fedbandit.core.errors import InvalidInput
from fedbandit.core.seconds import DAY
from fedbandit.durable.site.decisions import Closed
from fedbandit.logs.site_rows import files_of

MOST_BYTES = 64_000_000  # of a file, after which the day goes on in another
REMEMBERED = 10_000  # decisions that had their reward: when it comes again, nothing is written
_TAIL = 1 << 20  # bytes at a time, in search of the end of a line


class DecisionLog:
    """A folder of JSON lines that one site writes to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = DecisionLog(Path(folder))
    ...     log.write([Closed("64-1", b'"choice":"red"', 1.0, 86400.0, False)])
    ...     log.close()
    ...     (Path(folder) / "1970-01-02.jsonl").read_text()
    '{"id":"64-1","choice":"red","reward":1.0,"rewarded":86400.0,"expired":false}\\n'
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        """Make the folder if it is not there, and cut torn lines."""
        self.folder = folder
        self._most_bytes = most_bytes
        self._midnight = 0.0  # that began the day of the file
        self._file: int | None = None
        self._size = 0
        self._rewarded: dict[str, None] = {}  # the last decisions that had their rewards in time
        self._waiting: list[tuple[float, bytes]] = []  # lines that could not be written yet, with their times
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in files_of(folder):
                _cut_torn_line(path)
        except OSError as error:
            raise self._unusable(error) from error

    def complete(self, closed: Sequence[Closed]) -> None:
        """Write those of some decisions that the log lacks: the process may have ended before it could.

        Lines are written in the order in which decisions are closed, so these are the last ones.
        """
        if closed:
            days = {_day(each.time) for each in closed}
            known = _ids_in([path for path in files_of(self.folder) if path.name[:10] in days])
            last = max((at for at, each in enumerate(closed) if each.decision in known), default=-1)
            self.write(closed[last + 1 :])

    def write(self, closed: Iterable[Closed]) -> None:
        """Add a line for each decision."""
        for decision, row, reward, time, is_expired in closed:
            earned = "null" if reward is None else repr(reward)
            tail = f',"reward":{earned},"rewarded":{time!r},"expired":{"true" if is_expired else "false"}}}\n'
            self._waiting.append((time, f'{{"id":"{decision}",'.encode() + row + tail.encode()))
            if not is_expired:
                self._rewarded[decision] = None
                if len(self._rewarded) > REMEMBERED:
                    del self._rewarded[next(iter(self._rewarded))]
        self.flush()

    def late(self, decision: str, reward: float, now: float) -> None:
        """Add a line that tells the reward of a decision that was closed before, unless that had its reward lately.

        Of decisions long ago it is not known here whether they had: `fb.Log` knows, and leaves the line alone if so.
        """
        if decision in self._rewarded:
            return
        line = f'{{"id":"{decision}","late":{reward!r},"rewarded":{now!r}}}\n'
        self._waiting.append((now, line.encode()))
        self.flush()

    @property
    def is_behind(self) -> bool:
        """Tell whether something could not be written."""
        return bool(self._waiting)

    def flush(self) -> None:
        """Write what could not be written before."""
        while self._waiting:
            time, line = self._waiting[0]
            try:
                file = self._file_of(time, len(line))
                if os.write(file, line) != len(line):
                    os.ftruncate(file, self._size)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError as error:
                raise self._unusable(error) from error
            self._size += len(line)
            del self._waiting[0]

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _file_of(self, time: float, room: int) -> int:
        """Return the file for a line of a time: that of its day, or another of that day if it is full."""
        is_of_day = 0 <= time - self._midnight < DAY
        if self._file is not None and is_of_day and self._size + room <= self._most_bytes:
            return self._file
        self.close()
        day, self._midnight = _day(time), time // DAY * DAY
        number = 1
        while True:
            path = self.folder / (f"{day}.jsonl" if number == 1 else f"{day}.{number}.jsonl")
            size = path.stat().st_size if path.exists() else 0
            if not size or size + room <= self._most_bytes:
                break
            number += 1
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = size
        return self._file

    def _unusable(self, error: OSError) -> InvalidInput:
        return InvalidInput(
            f"the log of decisions in {self.folder} cannot be written ({error.strerror or error}): make room on "
            "the disk, or make the folder writable; what is to be written is tried again"
        )


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).date().isoformat()


def _cut_torn_line(path: Path) -> None:
    """Cut what stands after the last end of a line."""
    with path.open("r+b") as file:
        end = size = file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - _TAIL)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end != size:
            file.truncate(end)


def _ids_in(paths: list[Path]) -> set[str]:
    """Return the decisions that files have a row of."""
    found: set[str] = set()
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                start, _, rest = line.partition(b'","')
                if not rest.startswith(b"late"):
                    found.add(start.removeprefix(b'{"id":"').decode(errors="replace"))
    return found
