"""How a site keeps talking to its coordinator, over one connection after the other."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Protocol

from fedbandit.core.errors import ProtocolError
from fedbandit.transport.link import Connect, Link

log = logging.getLogger("fedbandit.site")


class Mailbag(Protocol):
    """What the loop needs of a site. None of it waits for the network."""

    def hear(self, frame: bytes) -> None:
        """Take in a frame from the coordinator."""

    def news(self) -> list[bytes]:
        """Return what is to be sent for the first time."""

    def everything(self) -> list[bytes]:
        """Return all that the coordinator may lack, and a question for what the site may lack."""


class Conversation:
    """Keeps a site and its coordinator up to date, over one connection after the other."""

    def __init__(self, site: Mailbag, connect: Connect, every: float, patience: float) -> None:
        """Take the site, what makes a connection, and the seconds between two full exchanges and two attempts."""
        self._site = site
        self._connect = connect
        self._every = every
        self._patience = patience
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._end = asyncio.Event()
        self._trouble = ""  # the last that was told
        self.is_over = False

    def wake(self) -> None:
        """Say, from any thread, that the site has something to send."""
        self._call(self._news.set)

    def end(self) -> None:
        """Say, from any thread, that the conversation is over, once what is to be sent has been."""
        self.is_over = True
        self._call(self._end.set)
        self._call(self._news.set)

    async def run(self) -> None:
        """Talk until it is over; a connection that is lost or cannot be had is made again after some time."""
        self._loop = asyncio.get_running_loop()
        while not self.is_over:
            try:
                link = await self._connect()
            except OSError as error:
                self._tell(f"no connection to the coordinator ({error})")
            else:
                await self._talk(link)
            if not self.is_over:
                await _happens(self._end, self._patience)

    async def _talk(self, link: Link) -> None:
        tasks = [asyncio.ensure_future(work) for work in (self._listen(link), self._send(link))]
        done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        try:
            for task in done:
                task.result()
        except OSError as error:
            self._tell(f"the connection to the coordinator was lost ({error})")
        finally:
            await link.close()

    async def _listen(self, link: Link) -> None:
        while not self.is_over:
            frame = await link.receive()
            self._trouble = ""
            try:
                self._site.hear(frame)
            except ProtocolError as error:
                log.warning("a frame from the coordinator was refused: %s", error)
            self._news.set()

    async def _send(self, link: Link) -> None:
        clock = asyncio.get_running_loop().time
        frames, due = self._site.everything(), clock() + self._every
        while True:
            for frame in frames:
                await link.send(frame)
            if self.is_over:
                return
            await _happens(self._news, max(0.0, due - clock()))
            self._news.clear()
            if clock() < due:
                frames = self._site.news()
            else:  # also when there is news all the time, which must not put off what was lost on its way
                frames, due = self._site.everything(), clock() + self._every

    def _tell(self, trouble: str) -> None:
        """Tell of trouble once, however often it comes."""
        if trouble != self._trouble:
            self._trouble = trouble
            log.warning(trouble)

    def _call(self, action: Callable[[], None]) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(action)


async def _happens(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but no longer than so many seconds."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
