"""A connection between a site and its coordinator: whatever can carry frames."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

RESEND = 30.0  # seconds after which a site sends again what was not acknowledged; longer if it hears nothing


class LinkRefused(ConnectionError):
    """The other end does not let this site in: its credential is wrong or has expired, or is that of another site."""


class NotStored(ConnectionError):
    """What was sent has not been stored: there is no room for it, or nobody who keeps it."""


class Link(Protocol):
    """A connection to the coordinator. When it is lost, `send` and `receive` raise ConnectionError."""

    async def send(self, frame: bytes) -> None:
        """Send a frame."""

    async def receive(self) -> bytes:
        """Wait for the next frame."""

    async def close(self) -> None:
        """End the connection."""


Connect: TypeAlias = Callable[[], Awaitable[Link]]
