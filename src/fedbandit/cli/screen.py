"""What a person sees: tables on standard output, progress on standard error."""

from __future__ import annotations

import os
import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

WIDE = 200  # columns of what is no screen: a file, or another program

PATIENCE = 1.0  # seconds before a bar appears: short work needs none


def as_wide_as_it_can(console: Console) -> Console:
    """Return a console as wide as COLUMNS says or as the screen is; what is no screen is wide.

    What goes into a file or to another program must not be cut as if it were a narrow terminal's.
    """
    if "COLUMNS" not in os.environ and not console.file.isatty():
        console.width = WIDE
    return console


out = as_wide_as_it_can(Console())
err = as_wide_as_it_can(Console(stderr=True))


class Bar:
    """A progress bar that appears on a terminal once work has taken a second."""

    def __init__(self, what: str) -> None:
        """Name the work."""
        self._what = what
        self._began = time.monotonic()
        self._columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        """Begin to wait."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()

    def show(self, done: int, total: int) -> None:
        """Say how far the work is."""
        if not err.is_terminal:
            return
        if self._progress is None:
            if time.monotonic() - self._began < PATIENCE:
                return
            self._progress = Progress(*self._columns, console=err, transient=True)
            self._progress.start()
            self._progress.add_task(self._what)
        self._progress.update(self._progress.task_ids[0], completed=done, total=total)
