"""A connection between a site and its coordinator: whatever can carry frames."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias


class Link(Protocol):
    """A connection to the coordinator. When it is lost, `send` and `receive` raise ConnectionError."""

    async def send(self, frame: bytes) -> None:
        """Send a frame."""

    async def receive(self) -> bytes:
        """Wait for the next frame."""

    async def close(self) -> None:
        """End the connection."""


Connect: TypeAlias = Callable[[], Awaitable[Link]]
