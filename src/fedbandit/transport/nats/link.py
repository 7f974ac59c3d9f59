"""A site's connection to its federation's broker.

A lost connection is not mended here: `send` and `receive` raise ConnectionError, and whoever keeps the conversation
going opens another and sends everything again.

The broker tells of each upload whether it has stored it, under a subject that nobody can guess. It keeps a number of
uploads of a site for the coordinator and refuses more: then `send` waits until there is room.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.link import Connect, LinkRefused, NotStored
from fedbandit.transport.nats.address import Address, client_library, expiry, owner, security
from fedbandit.transport.nats.connection import connect, end, in_words
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.transport.nats.unstored import NO_ANSWER_SECONDS, Unstored
from fedbandit.transport.traces import FrameHeaders
from fedbandit.wire.frame import Kind, read_header

log = logging.getLogger("fedbandit.site")

CONNECT_SECONDS = 5
AWAY = "is its coordinator serving?"
EXPIRED = "the credential of this site has expired: ask for a new one (`fedbandit invite`, or `fedbandit keys new`)"
NO_ROOM = (10077, 10167)  # of JetStream: as many messages as a site may have there; too many on their way
NO_ROOM_SECONDS = 8.0  # after which a link that may send nothing says so


class NatsLink:
    """One connection; make it with `open`."""

    def __init__(self, address: Address, site: int, beside: FrameHeaders | None = None) -> None:
        """Take the address, the site's number, and what travels beside frames; there is no connection yet."""
        self._beside = beside
        self._subjects = Subjects(address.federation)
        self._address = address
        self._site = site
        inbox = f"{self._subjects.inbox(site)}.{secrets.token_hex(16)}"
        self._stored, self._asked = f"{inbox}.stored", f"{inbox}.asked"  # where the broker answers uploads, questions
        self._arrived: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._unstored = Unstored()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._trying: asyncio.Future[None] | None = None
        self._broken: ConnectionError | None = None
        self._broker: Any = None

    @classmethod
    async def open(
        cls, address: Address, site: int, credentials: str | Path | None = None, beside: FrameHeaders | None = None
    ) -> NatsLink:
        """Connect as a site, or raise ConnectionError."""
        link, tls = cls(address, site, beside), security(address.server, credentials)
        ends = None if credentials is None else expiry(credentials)
        if ends is not None and ends <= time.time():
            raise LinkRefused(EXPIRED)
        link._broker = await connect(
            address.server, name=link._subjects.name(site), tls=tls, seconds=CONNECT_SECONDS, on_error=link._break,
            on_end=lambda why: link._break(f"the broker is gone: {why}"),
        )  # fmt: skip
        try:
            await link._broker.subscribe(link._subjects.down(site), cb=link._on_frame)
            await link._broker.subscribe(link._stored, cb=link._on_stored)
            await link._broker.subscribe(link._asked, cb=link._on_asked)
            await link._broker.flush()
            link._require()
        except (OSError, client_library().errors.Error, TimeoutError) as error:
            why = link._broken or ConnectionError(in_words(error))  # before it hears of its own end
            await link.close()
            raise why from None
        link._end_at(ends)
        link._look()
        return link

    async def send(self, frame: bytes) -> None:
        """Send a frame, when there is room for it; that the broker has stored it is not waited for."""
        self._require()
        kind = read_header(frame).kind
        try:
            if kind is Kind.REPORT:  # a later one says the same and more
                await self._broker.publish(self._subjects.report(self._site), frame)
            elif kind in (Kind.ASK, Kind.JOIN):  # the answer to an earlier one may be lost, so no two are the same
                await self._broker.publish(self._subjects.ask(self._site), frame, reply=self._asked)
            else:
                await self._wait_for_room()
                await self._publish(frame)
        except client_library().errors.Error as error:
            raise ConnectionResetError(in_words(error)) from None

    async def receive(self) -> bytes:
        """Wait for the next frame."""
        frame = await self._arrived.get()
        if frame is None:
            self._arrived.put_nowait(None)
            self._require()
        assert frame is not None
        return frame

    async def close(self) -> None:
        """End the connection, after what was sent has left."""
        for timer in self._timers.values():
            timer.cancel()
        if self._trying is not None:
            self._trying.cancel()
        if self._broker is not None and not self._broker.is_closed:
            try:
                if self._broker.is_connected:
                    await self._broker.flush(timeout=1)
            except (OSError, client_library().errors.Error, TimeoutError) as error:
                log.info("what was sent last may not have left (%s)", in_words(error))
            await end(self._broker)

    async def _publish(self, frame: bytes) -> None:
        self._unstored.add(frame)
        headers = None if self._beside is None else self._beside.headers(frame)
        await self._broker.publish(self._subjects.up(self._site), frame, reply=self._stored, headers=headers)

    async def _wait_for_room(self) -> None:
        while not self._unstored.has_room:
            await self._unstored.change(1.0)
            self._require()

    async def _try_again(self) -> None:
        """Send again what the broker had no room for, until it has; break the link if it never has."""
        clock = asyncio.get_running_loop().time
        since, pause, stored = clock(), 0.02, self._unstored.count
        while self._unstored.is_refused and self._broken is None:
            if self._unstored.count != stored:
                since, pause, stored = clock(), 0.02, self._unstored.count
            elif clock() > since + NO_ROOM_SECONDS:
                self._break(f"the broker has no room for more uploads of this site: {AWAY}", NotStored)
            await asyncio.sleep(pause)
            pause = min(2 * pause, 1.0)
            with suppress(client_library().errors.Error, OSError):  # then the link is broken anyway
                for frame in self._unstored.take_refused():
                    await self._publish(frame)
            while self._unstored.is_under_way and self._broken is None:
                await self._unstored.change(1.0)

    async def _on_frame(self, message: Any) -> None:
        if self._beside is not None:
            self._beside.came(message.data, message.headers)
        self._arrived.put_nowait(message.data)

    async def _on_stored(self, message: Any) -> None:
        """Take in what the broker says of an upload: stored, or why not. What is no such answer means nothing."""
        told = _told(message)
        if "error" in told and told["error"].get("err_code") in NO_ROOM:
            self._unstored.refuse()
            if self._trying is None or self._trying.done():
                self._trying = asyncio.ensure_future(self._try_again())
        elif "seq" in told and "error" not in told:
            self._unstored.stored()
        else:
            await self._on_asked(message)

    async def _on_asked(self, message: Any) -> None:
        """Take in what the broker says of a question. That it is stored is of no interest, and another may come."""
        error = _told(message).get("error")
        if message.headers and message.headers.get("Status") == "503":
            self._break(f"the broker knows no federation {self._address.federation!r}: {AWAY}", NotStored)
        elif error is not None and error.get("err_code") not in NO_ROOM:
            self._break(f"the broker has not stored a message: {error.get('description', '')}", NotStored)

    def _look(self) -> None:
        """Look now and then whether the broker has gone silent, as one does whose disk is full."""
        if self._unstored.age() > NO_ANSWER_SECONDS:
            self._break(
                f"the broker has stored no message for {NO_ANSWER_SECONDS:g} seconds: is its disk full?", NotStored
            )
        elif self._broken is None:
            self._timers["look"] = asyncio.get_running_loop().call_later(NO_ANSWER_SECONDS / 4, self._look)

    def _end_at(self, moment: float | None) -> None:
        """End the link when the credential expires: the broker looks at it only when a connection is made."""
        if moment is not None:
            left = max(0.0, moment - time.time())
            self._timers["end"] = asyncio.get_running_loop().call_later(
                min(left, 1e6), self._break, EXPIRED, LinkRefused
            )

    def _break(self, reason: str, kind: type[ConnectionError] = ConnectionResetError) -> None:
        self._broken = self._broken or kind(reason)
        self._arrived.put_nowait(None)
        self._unstored.wake()

    def _require(self) -> None:
        if self._broken is not None:
            raise type(self._broken)(str(self._broken))


def _told(message: Any) -> dict[str, Any]:
    """Return the answer of a broker, or nothing if it is none."""
    try:
        told = json.loads(message.data)
    except ValueError:
        return {}
    is_answer = isinstance(told, dict) and isinstance(told.get("error", {}), dict)
    return told if is_answer else {}


def connector(
    url: str, site: int, credentials: str | Path | None = None, beside: FrameHeaders | None = None
) -> Connect:
    """Return what connects a site to the federation of an address, again and again; a bad address is refused now."""
    address = Address.parse(url)
    client_library()
    security(address.server, credentials)
    owned = None if credentials is None else owner(credentials)
    if owned is not None and owned != (address.federation, site):
        raise InvalidInput(
            f"{str(credentials)!r} is the credential of site {owned[1]} of {owned[0]}, not of site {site} of "
            f"{address.federation}: open the site with its number, or give it its own credential"
        )

    async def open_link() -> NatsLink:
        try:
            return await NatsLink.open(address, site, credentials, beside)
        except InvalidInput as error:  # the credential was right when it was given: it may be so again
            raise ConnectionError(str(error)) from None

    return open_link
