"""A site's connection to its federation's broker.

A lost connection is not mended here: `send` and `receive` raise ConnectionError, and whoever keeps the conversation
going opens another and sends everything again. Messages bear ids, so that the broker drops what it has already.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.link import Connect
from fedbandit.transport.nats.address import Address, client_library, security
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.frame import Frame, Kind

log = logging.getLogger("fedbandit.site")

CONNECT_SECONDS = 5


class NatsLink:
    """One connection; make it with `open`."""

    def __init__(self, address: Address, site: int) -> None:
        """Take the address and the site's number; there is no connection yet."""
        self._subjects = Subjects(address.federation)
        self._address = address
        self._site = site
        self._arrived: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._broken = ""
        self._broker: Any = None

    @classmethod
    async def open(cls, address: Address, site: int, credentials: str | Path | None = None) -> NatsLink:
        """Connect as a site, or raise ConnectionError."""
        nats = client_library()
        link = cls(address, site)
        inbox = link._subjects.inbox(site)
        refusals: list[str] = []

        async def on_error(error: Exception) -> None:
            refusals.append(_in_words(error))
            link._break(refusals[-1])

        async def on_end() -> None:
            link._break("the broker has ended the connection")

        try:
            link._broker = await nats.connect(
                address.server, name=f"{address.federation}.{site}", inbox_prefix=inbox, allow_reconnect=False,
                max_reconnect_attempts=1, reconnect_time_wait=0, connect_timeout=CONNECT_SECONDS,
                tls=security(address.server, credentials), error_cb=on_error, disconnected_cb=on_end, closed_cb=on_end,
            )  # fmt: skip
            await link._broker.subscribe(link._subjects.down(site), cb=link._on_frame)
            await link._broker.subscribe(f"{inbox}.stored", cb=link._on_stored)
            await link._broker.flush()
        except (OSError, nats.errors.Error, TimeoutError) as error:
            await link.close()
            raise ConnectionError("; ".join(dict.fromkeys([*refusals, _in_words(error)]))) from None
        return link

    async def send(self, frame: bytes) -> None:
        """Send a frame; that the broker has stored it is not waited for, but if it cannot the link breaks."""
        self._require()
        header = Frame.from_bytes(frame)
        stored = f"{self._subjects.inbox(self._site)}.stored"
        try:
            if header.kind is Kind.REPORT:  # nobody stores it
                await self._broker.publish(self._subjects.report(self._site), frame)
            elif header.kind is Kind.ASK:  # the answer to an earlier one may be lost, so no two are the same
                await self._broker.publish(self._subjects.ask(self._site), frame, reply=stored)
            else:
                name = f"{header.client}.{header.epoch}.{header.sequence}.{header.name}"
                await self._broker.publish(
                    self._subjects.up(self._site), frame, reply=stored, headers={"Nats-Msg-Id": name}
                )
        except client_library().errors.Error as error:
            raise ConnectionResetError(_in_words(error)) from None

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
        if self._broker is not None and not self._broker.is_closed:
            errors = client_library().errors
            try:
                if self._broker.is_connected:
                    await self._broker.flush(timeout=1)
            except (OSError, errors.Error, TimeoutError) as error:
                log.info("what was sent last may not have left (%s)", _in_words(error))
            await self._broker.close()

    async def _on_frame(self, message: Any) -> None:
        self._arrived.put_nowait(message.data)

    async def _on_stored(self, message: Any) -> None:
        """Take in what the broker says of a message: stored, or why not."""
        if message.headers and message.headers.get("Status") == "503":
            self._break(f"the broker knows no federation {self._address.federation!r}: is its coordinator serving?")
        elif b'"error"' in message.data:
            self._break(f"the broker has not stored a message: {message.data.decode(errors='replace')}")

    def _break(self, reason: str) -> None:
        self._broken = self._broken or reason
        self._arrived.put_nowait(None)

    def _require(self) -> None:
        if self._broken:
            raise ConnectionResetError(self._broken)


def _in_words(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text.removeprefix("nats: ").strip()


def connector(url: str, site: int, credentials: str | Path | None = None) -> Connect:
    """Return what connects a site to the federation of an address, again and again; a bad address is refused now."""
    address = Address.parse(url)
    client_library()
    security(address.server, credentials)

    async def connect() -> NatsLink:
        try:
            return await NatsLink.open(address, site, credentials)
        except InvalidInput as error:  # the credential was right when it was given: it may be so again
            raise ConnectionError(str(error)) from None

    return connect
