"""Many sites' connections that say just enough NATS: what is measured is the broker and the coordinator, not these.

A thousand connections of the Site SDK would take more of two cores than all else. These have one socket each, as sites
do, publish what was made before, and read of what comes back only what it is: the broker's word that a message is
stored, the coordinator's acknowledgement, a download.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import urlsplit

from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.header import NEW
from fedbandit.wire.question import Question

STORED, DOWN = b"1", b"2"  # the subscriptions of a site
_SEQUENCE = struct.Struct("<Q")
_AT = 13  # of the sequence number in the header of a frame


class RawSite(asyncio.Protocol):
    """One site's socket: `moved` is called whenever something that it sent has come to its end."""

    def __init__(
        self, subjects: Subjects, number: int, bodies: Sequence[bytes], moved: Callable[[RawSite], None]
    ) -> None:
        """Take the site, what it sends, and whom to tell; with `ends_with_storing`, the broker's word is the end."""
        self.number, self._moved = number, moved
        self.ends_with_storing = False
        self.sent: list[float] = []
        self.waits: list[float] = []
        self.stored = 0
        self.introduced = asyncio.get_running_loop().create_future()
        self._inbox = f"{subjects.inbox(number)}.raw"
        self._up, self._ask, self._down = subjects.up(number), subjects.ask(number), subjects.down(number)
        self._uploads = [self._upload(body) for body in bodies]
        self._heard = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say hello, and listen."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._say('CONNECT {"verbose":false,"pedantic":false,"protocol":1}')
        self._say(f"SUB {self._inbox} {STORED.decode()}")
        self._say(f"SUB {self._down} {DOWN.decode()}")

    def introduce(self) -> None:
        """Ask what the coordinator has, as a site does before it sends anything."""
        ask = with_numbers(Kind.ASK, self.number, 0, 0, *Question(1, 0, mark=1)).to_bytes()
        self._say(f"PUB {self._ask} {len(ask)}", ask)

    def send(self) -> None:
        """Send the next upload."""
        said, place = self._uploads[len(self.sent) % len(self._uploads)]
        _SEQUENCE.pack_into(said, place, len(self.sent) + 1)
        self._transport.write(bytes(said))
        self.sent.append(time.perf_counter())

    def _upload(self, body: bytes) -> tuple[bytearray, int]:
        """Return what is said to publish an upload, and where its number stands in that."""
        frame = Frame(Kind.UPLOAD, self.number, 1, 0, body).to_bytes()
        head = f"PUB {self._up} {self._inbox} {len(frame)}\r\n".encode()
        return bytearray(head + frame + b"\r\n"), len(head) + _AT

    def close(self) -> None:
        """End the connection."""
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take in what the broker says."""
        heard, at = self._heard + data, 0
        while (end := heard.find(b"\r\n", at)) >= 0:
            line = heard[at:end]
            if line.startswith(b"MSG"):
                words = line.split()
                begin, size = end + 2, int(words[-1])
                if len(heard) < begin + size + 2:
                    break
                self._take_in(words[2], heard[begin : begin + size])
                at = begin + size + 2
            else:
                self._answer(line)
                at = end + 2
        self._heard = heard[at:]

    def _say(self, line: str, data: bytes | None = None) -> None:
        self._transport.write(line.encode() + b"\r\n" + (b"" if data is None else data + b"\r\n"))

    def _answer(self, line: bytes) -> None:
        if line == b"PING":
            self._say("PONG")
        elif line.startswith(b"-ERR"):
            raise RuntimeError(f"the broker says {line.decode()} to site {self.number}")

    def _take_in(self, subscription: bytes, data: bytes) -> None:
        if subscription == STORED:
            if b'"error"' in data:
                raise RuntimeError(f"the broker has not stored an upload of site {self.number}: {data.decode()}")
            self.stored += 1
            if self.ends_with_storing:
                self._up_to(self.stored)
        elif data[0] == Kind.ACKNOWLEDGEMENT + NEW:
            if not self.introduced.done():
                self.introduced.set_result(None)
            self._up_to(_SEQUENCE.unpack_from(data, _AT)[0])
        elif data[0] != Kind.DOWNLOAD + NEW:
            raise RuntimeError(f"the coordinator says {data!r} to site {self.number}")

    def _up_to(self, number: int) -> None:
        now = time.perf_counter()
        while len(self.waits) < number:
            self.waits.append(now - self.sent[len(self.waits)])
            self._moved(self)


async def raw_sites(
    server: str, federation: str, count: int, bodies: Sequence[bytes], moved: Callable[[RawSite], None]
) -> list[RawSite]:
    """Connect so many sites to a broker."""
    place, subjects, loop = urlsplit(server), Subjects(federation), asyncio.get_running_loop()
    found: list[RawSite] = []
    for number in range(count):
        make = partial(RawSite, subjects, number, bodies, moved)
        _, site = await loop.create_connection(make, str(place.hostname), int(place.port or 0))
        found.append(site)
    return found
