"""How a site keeps talking to its coordinator, over one connection after the other.

Whatever goes wrong, it is tried again: after a lost connection, a full disk, an error that nobody has thought of. Waits
double until the coordinator is heard of, so that a site does not fill the broker while the coordinator is away.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, Protocol

from fedbandit.core.errors import FedbanditError, ProtocolError
from fedbandit.site.backoff import Backoff
from fedbandit.site.condition import Condition, SiteState
from fedbandit.transport.link import Connect, Link, LinkRefused, NotStored

FAREWELL_SECONDS = 2.0  # what a site that is closed waits at most for a connection, and for its last words to leave
SILENT = "the coordinator does not answer: what the site sends waits at the broker, and the site sends it again later"


class Mailbag(Protocol):
    """What the loop needs of a site. None of it waits for the network."""

    def hear(self, frame: bytes) -> str:
        """Take in a frame from the coordinator; return why it does not take in what the site sends, if so."""

    def news(self) -> list[bytes]:
        """Return what is to be sent for the first time."""

    def everything(self) -> list[bytes]:
        """Return all that the coordinator may lack, and a question for what the site may lack."""


class Conversation:
    """Keeps a site and its coordinator up to date, over one connection after the other."""

    def __init__(
        self, site: Mailbag, connect: Connect, condition: Condition, resend: Backoff, reconnect: Backoff
    ) -> None:
        """Take the site, what makes a connection, where to note how it goes, and the waits.

        `resend` lies between two full exchanges over one connection, `reconnect` between two connections.
        """
        self._site = site
        self._connect = connect
        self._condition = condition
        self._resend = resend
        self._reconnect = reconnect
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._end = asyncio.Event()
        self._due = 0.0  # when everything is sent again
        self._has_heard = False  # since everything was sent
        self.is_over = False
        self.has_ended = threading.Event()

    def wake(self) -> None:
        """Say, from any thread, that the site has something to send."""
        self._call(self._news.set)

    def end(self) -> None:
        """Say, from any thread, that the conversation is over, once what is to be sent has been."""
        self.is_over = True
        self._call(self._end.set)
        self._call(self._news.set)

    def runs_here(self) -> bool:
        """Tell whether it runs in the thread that asks, which then cannot wait for its end."""
        with contextlib.suppress(RuntimeError):  # no loop runs here
            return self._loop is not None and asyncio.get_running_loop() is self._loop
        return False

    def can_end(self) -> bool:
        """Tell whether it still can come to its end, which it cannot in a loop that was stopped."""
        return self._loop is None or self._loop.is_running()

    async def run(self) -> None:
        """Talk until it is over."""
        self._loop = asyncio.get_running_loop()
        self._condition.become(SiteState.CONNECTING)
        try:
            while not self.is_over:
                await self._try_to_talk()
                if not self.is_over:
                    await _wait_for(self._end, self._reconnect.next())
        finally:
            self._condition.become(SiteState.OFFLINE)
            self.has_ended.set()

    async def _try_to_talk(self) -> None:
        """Connect, and talk for as long as it goes well."""
        is_lost = False
        try:
            link = await self._connected()
            if link is not None:
                is_lost = True
                await self._talk(link)
        except LinkRefused as error:
            self._meets(SiteState.REFUSED, str(error))
        except NotStored as error:
            self._meets(SiteState.FAILING, str(error))
        except OSError as error:
            what = "the connection to the coordinator was lost" if is_lost else "no connection to the coordinator"
            self._meets(SiteState.CONNECTING, f"{what} ({error})")
        except FedbanditError as error:
            self._meets(SiteState.FAILING, str(error))
        except Exception as error:  # noqa: BLE001 - a site that falls silent for good is worse than any error
            self._meets(SiteState.FAILING, f"{type(error).__name__}: {error}", error)

    def _meets(self, state: SiteState, trouble: str, error: BaseException | None = None) -> None:
        """Note trouble, unless the site is closed: then it is in nobody's way."""
        if not self.is_over:
            self._condition.become(state, trouble, error)

    async def _connected(self) -> Link | None:
        """Return a connection; when it is over one that comes soon, if any."""
        connecting: asyncio.Future[Link] = asyncio.ensure_future(self._connect())
        ending = asyncio.ensure_future(self._end.wait())
        try:
            await asyncio.wait((connecting, ending), return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                await asyncio.wait((connecting,), timeout=FAREWELL_SECONDS)
            return connecting.result() if connecting.done() else None
        finally:
            await _dropped(connecting, ending)

    async def _talk(self, link: Link) -> None:
        listening, sending = asyncio.ensure_future(self._listen(link)), asyncio.ensure_future(self._send(link))
        ending = asyncio.ensure_future(self._end.wait())
        try:
            done, _ = await asyncio.wait((listening, sending, ending), return_when=asyncio.FIRST_COMPLETED)
            if done == {ending}:
                await asyncio.wait((listening, sending), timeout=FAREWELL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            for task in (listening, sending):
                if task.done():
                    task.result()
        finally:
            await _dropped(listening, sending, ending)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL_SECONDS):
                    await link.close()

    async def _listen(self, link: Link) -> None:
        while True:
            frame = await link.receive()
            try:
                refusal = self._site.hear(frame)
            except ProtocolError as error:
                self._has_heard = True
                self._condition.become(SiteState.FAILING, f"a frame from the coordinator cannot be read: {error}")
                continue
            self._hears(refusal)
            self._news.set()

    def _hears(self, refusal: str) -> None:
        """Note that the coordinator is there: what is due is due no later than if it had always been."""
        self._condition.become(SiteState.REFUSED if refusal else SiteState.CONNECTED, refusal)
        self._has_heard = True
        self._reconnect.reset()
        self._resend.reset()
        self._due = min(self._due, asyncio.get_running_loop().time() + self._resend.first)

    async def _send(self, link: Link) -> None:
        clock = asyncio.get_running_loop().time
        frames = self._say_everything()
        while True:
            for frame in frames:
                await link.send(frame)
            if self.is_over:
                return
            await _wait_for(self._news, max(0.0, self._due - clock()))
            self._news.clear()
            if clock() < self._due:
                frames = self._site.news()
            else:  # also when there is news all the time, which must not put off what was lost on its way
                if not self._has_heard:
                    self._condition.become(SiteState.CONNECTING, SILENT)
                frames = self._say_everything()

    def _say_everything(self) -> list[bytes]:
        self._has_heard = False
        self._due = asyncio.get_running_loop().time() + self._resend.next()
        return self._site.everything()

    def _call(self, action: Callable[[], None]) -> None:
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is there to be told
                loop.call_soon_threadsafe(action)


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but no longer than so many seconds. (`wait_for` of Python 3.11 can miss a cancellation.)"""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def _dropped(*tasks: asyncio.Future[Any]) -> None:
    """End tasks that nobody needs any more, whatever they say to that."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
