"""A site's line to its coordinator: one conversation at a time, in a task of the program or in a thread of its own."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

import numpy as np

from fedbandit.core.errors import InvalidInput
from fedbandit.site.backoff import Backoff
from fedbandit.site.condition import Condition
from fedbandit.site.guard import Guard
from fedbandit.transport.link import Connect

if TYPE_CHECKING:
    from fedbandit.site.conversation import Conversation, Mailbag

MOST_RESEND_SECONDS = 600.0  # between two full exchanges while the coordinator does not answer
MOST_RECONNECT_SECONDS = 120.0  # between two attempts to connect
CLOSE_SECONDS = 10.0  # longer than any farewell: beyond it something hangs that cannot be interrupted


class Line:
    """Carries at most one conversation; when it is closed, what the conversation needed is let go."""

    def __init__(
        self, site: Mailbag, number: int, guard: Guard, lots: np.random.Generator, release: Callable[[], None]
    ) -> None:
        """Take the site with its number and guard, what lengthens waits by lot, and what closes the store."""
        self._site = site
        self._number = number
        self._guard = guard
        self._lots = lots
        self._release = release
        self._conversation: Conversation | None = None
        self._thread: threading.Thread | None = None
        self.condition = Condition()
        self.has_begun = False
        _OPEN.add(self)

    def begin(self, to: str | Connect, credentials: str | Path | None, every: float, patience: float) -> Conversation:
        """Return a conversation that has yet to run, unless there is one already or the site is closed."""
        # What talks is imported when it is needed: a site that decides alone starts without asyncio and TLS.
        from fedbandit.site.conversation import Conversation
        from fedbandit.transport.nats.link import connector

        resend = Backoff(every, MOST_RESEND_SECONDS, self._lots)
        reconnect = Backoff(patience, MOST_RECONNECT_SECONDS, self._lots)
        with self._guard:
            if self._conversation is not None and not self._conversation.has_ended.is_set():
                raise InvalidInput("the site is connected already: close it before you connect it elsewhere")
            connect = connector(to, self._number, credentials) if isinstance(to, str) else to
            self.has_begun = True
            self._conversation = Conversation(self._site, connect, self.condition, resend, reconnect)
            return self._conversation

    async def run(self, conversation: Conversation) -> None:
        """Talk until the site is closed or the task is cancelled."""
        try:
            await conversation.run()
        finally:
            if self._guard.is_closed:
                self._release()

    def run_in_thread(self, conversation: Conversation) -> None:
        """Talk in a thread of its own until the site is closed."""
        import asyncio

        talk = self.run(conversation)
        self._thread = threading.Thread(target=asyncio.run, args=(talk,), name="fedbandit-site", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Say that the site has something to send."""
        if self._conversation is not None:
            self._conversation.wake()

    def close(self) -> None:
        """Let nobody use the site any more, and end the conversation; wait for that unless this is called within it."""
        if os.getpid() != self._guard.process:
            return
        self._guard.is_closed = True
        with self._guard.reading():  # whoever was let in before is done now
            conversation, thread = self._conversation, self._thread
        if conversation is not None:
            conversation.end()
            if conversation.runs_here():
                return
            if conversation.can_end():
                conversation.has_ended.wait(CLOSE_SECONDS)
            if thread is not None:
                thread.join(1.0)
        self._release()


_OPEN: WeakSet[Line] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Close what is open when the program ends, before the interpreter takes apart what sites and threads need."""
    for line in list(_OPEN):
        line.close()
