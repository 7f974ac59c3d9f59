"""One connection to a broker, of a site or of the coordinator; a broker that is too old is refused.

A connection that is lost is not mended by the library, which has many ways of giving up: whoever has it makes another.
"""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.link import LinkRefused
from fedbandit.transport.nats.address import client_library, servers_of

END_SECONDS = 2.0  # for a broker that is to say goodbye; asyncio would wait for 30
PING_SECONDS = 30.0  # each costs a site 12 bytes; one that sends uploads hears of them anyway
SILENT_INTERVALS = 3  # between pings, after which a broker of which nothing was read is taken to be gone
PING, PONG = b"PING\r\n", b"PONG\r\n"
OLDEST_BROKER = (2, 12)  # from here on a broker takes no request that is not one, such as an answer sent astray


async def connect(
    server: str,
    *,
    name: str,
    tls: ssl.SSLContext | None,
    seconds: float,
    on_error: Callable[[str], None],
    on_end: Callable[[str], None],
    ping_seconds: float = PING_SECONDS,
    inbox: str = "_INBOX",
) -> Any:
    """Return a connection to a broker, or to any of several, or raise ConnectionError.

    `on_end` is told why it was lost: that may be no more than that no ping was answered, for a machine that lost its
    power cannot say so.
    """
    is_made = False
    heard: list[Exception] = []

    async def error(problem: Exception) -> None:
        if is_made:
            connection._err = None  # which is why a connection is lost; this one goes on
            on_error(in_words(problem))
        else:
            heard.append(problem)

    def lost(why: str) -> None:
        if is_made:
            on_end(why)

    connection = _client(lost)
    connection._transport = _transport(connection)  # the library takes the one that is there
    try:
        await connection.connect(
            servers_of(server), name=name, tls=tls, inbox_prefix=inbox, allow_reconnect=False, max_reconnect_attempts=1,
            reconnect_time_wait=0, connect_timeout=seconds, error_cb=error, ping_interval=ping_seconds,
            max_outstanding_pings=SILENT_INTERVALS - 1,
        )  # fmt: skip
        check_version(str(connection.connected_server_version))
    except lapses() as problem:
        await end(connection)
        cause = heard[0] if isinstance(problem, client_library().errors.NoServersError) and heard else problem
        raise _why_not(cause, tls is not None) from None
    except BaseException:  # as when the site was closed meanwhile
        await end(connection)
        raise
    connection._err = None  # of brokers that were tried before this one
    is_made = True
    return connection


def lapses() -> tuple[type[Exception], ...]:
    """Return what is to be expected of a broker, which may go away or refuse at any moment."""
    return client_library().errors.Error, InvalidInput, OSError, TimeoutError


@contextmanager
def unless_it_goes(log: logging.Logger) -> Iterator[None]:
    """Give up what is being said when the broker goes away; whoever says it says it again on the next connection."""
    try:
        yield
    except lapses() as error:
        log.info("the broker has not heard everything (%s)", error)


async def end(connection: Any) -> None:
    """End a connection, though the broker may read nothing of what is left to be said."""
    with suppress(OSError, client_library().errors.Error, TimeoutError):
        async with asyncio.timeout(2 * END_SECONDS):
            await connection.close()
    _abort(connection)


def _abort(connection: Any) -> None:
    writer = connection._transport and connection._transport._io_writer
    if writer is not None:
        with suppress(AttributeError):  # early versions of Python 3.11 cannot end a TLS connection that has ended
            writer.transport.abort()


def check_version(version: str) -> None:
    """Refuse a broker that is too old.

    >>> check_version("2.9.25")
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: the broker is a nats-server 2.9.25: use one of version 2.12 or later
    """
    found = re.search(r"(\d+)\.(\d+)[.\w-]*", version)
    if found is None or tuple(map(int, found.groups())) < OLDEST_BROKER:
        told, oldest = found.group() if found else "of an unknown version", ".".join(map(str, OLDEST_BROKER))
        raise InvalidInput(f"the broker is a nats-server {told}: use one of version {oldest} or later")


def _why_not(error: BaseException, has_tls: bool) -> ConnectionError:
    """Return why there is no connection; a broker that turns a credential away may just hang up."""
    hung_up = isinstance(error, ConnectionError) or (isinstance(error, ssl.SSLError) and "ALERT" in str(error.reason))
    if has_tls and hung_up and not isinstance(error, ConnectionRefusedError):
        said = "the broker has ended the connection at once: is the credential one of its authority, and still valid?"
        return LinkRefused(said)
    if isinstance(error, ssl.SSLCertVerificationError):
        return LinkRefused(
            "the broker is not one of this credential's authority (certificate verify failed: "
            f"{error.verify_message}): give the credential that was made for it"
        )
    words = in_words(error)
    if "Authorization Violation" in words:
        return LinkRefused(
            f"the broker does not let this credential in ({words}): its site is not on the roster, or was removed or "
            "revoked; ask whoever runs the coordinator"
        )
    if isinstance(error, TimeoutError):
        return ConnectionError("the broker lets nobody in yet: it is busy, or waits for its coordinator")
    return ConnectionError(words)


def in_words(error: BaseException) -> str:
    """Return what an error of the library says."""
    text = str(error) or type(error).__name__
    return text.removeprefix("nats: ").strip()


def _client(on_end: Callable[[str], None]) -> Any:
    """Return a connection of the library that no message can make deaf, and whose end is always told.

    The library reads headers that it cannot make sense of with an error, and then reads no more, but stays connected.
    When a connection is lost it first tries to say what is left to be said; that fails, and it tells nobody of the end.
    """
    plain: Any = client_library().NATS

    async def close(self: Any, status: int, do_cbs: bool = True) -> None:
        if not self.is_closed:
            is_silent = self._pings_outstanding >= SILENT_INTERVALS
            silent = f"it has said nothing for {SILENT_INTERVALS * self.options['ping_interval']:g} seconds"
            on_end(silent if is_silent else "it has ended the connection")
        if self._err is not None:  # nobody is there to hear it
            self._pending, self._pending_data_size = [], 0
            _abort(self)
        await plain._close(self, status, do_cbs)

    async def read_headers(self: Any, headers: bytes) -> dict[str, str] | None:
        try:
            told: dict[str, str] | None = await plain._process_headers(self, headers)
        except (IndexError, ValueError):
            return None
        return told

    async def read(self: Any) -> None:
        await plain._read_loop(self)
        if self.is_connected:
            await self._process_op_err(ConnectionResetError("what the broker sent could not be read"))

    return type("Client", (plain,), {"_process_headers": read_headers, "_read_loop": read, "_close": close})()


class _Ending(asyncio.StreamReaderProtocol):
    """A connection of which one side cannot be ended alone, as is so with TLS; or else asyncio warns at every end."""

    def eof_received(self) -> bool:
        super().eof_received()
        return False


def _transport(client: Any) -> Any:
    """Return what the library talks through; its own leaves the end of a TLS connection to chance.

    Lines are read one by one until the broker has let one in. Whatever is read from then on shows that the broker is
    there, and counts as the answer to a ping: that may have to wait behind much that is on its way here.
    """
    plain: Any = client_library().aio.transport.TcpTransport

    async def connect_tls(self: Any, uri: Any, ssl_context: Any, buffer_size: int, connect_timeout: float) -> None:
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=buffer_size)
        protocol, below = _Ending(reader), self._io_writer.transport
        host = uri if isinstance(uri, str) else uri.hostname
        try:
            upgrade = loop.start_tls(
                below, protocol, ssl_context, server_hostname=host, ssl_shutdown_timeout=END_SECONDS
            )
            transport: Any = await asyncio.wait_for(upgrade, connect_timeout)
        except BaseException:
            below.abort()
            self._io_reader = self._io_writer = None  # nobody would ever be told that it is closed
            raise
        self._io_reader, self._io_writer = reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    async def read_line(self: Any) -> bytes:
        line: bytes = await plain.readline(self)
        while line == PING:  # of a broker that has not said yet whether it lets one in; the library would believe so
            self.write(PONG)
            line = await plain.readline(self)
        return line

    async def read(self: Any, size: int) -> bytes:
        data: bytes = await plain.read(self, size)
        if data:
            client._pings_outstanding = 0
        return data

    # It is always there, or else the library takes one of its own
    own = {"connect_tls": connect_tls, "readline": read_line, "read": read, "__bool__": lambda _: True}
    return type("Transport", (plain,), own)()
