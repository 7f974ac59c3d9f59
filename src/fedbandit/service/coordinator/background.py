"""One piece of work that goes on while the next begins, and what becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine


class Background:
    """At most one piece of work at a time."""

    def __init__(self, failed: Callable[[], None]) -> None:
        """Take what is called when the work fails, so that somebody waits for it soon, and hears why."""
        self._failed = failed
        self._task: asyncio.Task[None] | None = None

    async def begin(self, work: Coroutine[None, None, None]) -> None:
        """Begin a piece of work when the one before is done."""
        try:
            await self.finish()
        except BaseException:
            work.close()
            raise
        self._task = asyncio.create_task(work)
        self._task.add_done_callback(self._look)

    async def finish(self) -> None:
        """Wait until the work is done; raise what has gone wrong with it."""
        if self._task is not None:
            task, self._task = self._task, None
            await task

    def _look(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._failed()
