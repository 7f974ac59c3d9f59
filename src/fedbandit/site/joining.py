"""What a site needs to know to take part: told by the coordinator at first, by the site's own store after that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.durable.journals.sqlite_rows import reading_only
from fedbandit.features.features import Features
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.charter_fields import require_agreed
from fedbandit.transport.link import Connect, LinkRefused
from fedbandit.transport.nats.address import Address, owner, security
from fedbandit.transport.nats.link import connector
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import field_of

ANSWER_SECONDS = 20.0
ASK_SECONDS = 2.0  # between two questions


def terms(
    to: str,
    credentials: str | Path | None,
    number: int | None,
    store: str | Path | None,
    features: Features | None,
    said: dict[str, Any],
) -> tuple[Charter, int, bytes]:
    """Return what the federation has agreed on, with its limits, and the site's number; refuse anything else.

    Last comes what the coordinator has said of it, b"" if it was not asked: a new site is to hear it before it begins,
    or it would not know which of the federation's revisions it has.
    """
    address = Address.parse(to)
    security(address.server, credentials)
    owned = None if credentials is None else owner(credentials)
    site = owned[1] if number is None and owned is not None else number
    if site is None:
        raise InvalidInput(f"nothing tells which site of {to} this is: give its number, or a credential with tls://")
    connect = connector(to, site, credentials)
    agreed, told = None if store is None else kept_in(Path(store)), b""
    if agreed is None:
        frame = told_by(connect, site, to)
        agreed, told = Charter.from_text(frame.body.decode()), frame.to_bytes()
    require_agreed(agreed, said)
    if agreed.features != (None if features is None else features.fingerprint):
        raise InvalidInput(f"{_misfit(agreed, features)}: give those of the federation's file")
    return agreed, site, told


def _misfit(agreed: Charter, features: Features | None) -> str:
    if agreed.features is None:
        return "features are given, and the federation has none"
    if features is None:
        return "the federation has features, and none are given"
    return f"the features have the fingerprint {features.fingerprint}, and those of the federation {agreed.features}"


def kept_in(store: Path) -> Charter | None:
    """Return what a store says that the federation has agreed on, None if there is no store yet."""
    if not store.exists():
        return None
    with reading_only(store) as rows:
        snapshot = None if rows.is_empty else rows.snapshot()
        after = snapshot.position if snapshot else 0
        found = [] if rows.is_empty else [each.data for each in (snapshot, *rows.records(after)) if each is not None]
    if not found:
        return None
    texts = [field_of(data, "charter") if data.startswith(b"FS") else None for data in found]
    if texts[0] is None:
        raise InvalidInput(f"{store} is not the store of a site: give another")
    return Charter.from_text(str([text for text in texts if text is not None][-1]))  # as it was revised last


def told_by(connect: Connect, number: int, to: str) -> Frame:
    """Return what the coordinator says that the federation has agreed on: a frame with a charter that can be read."""
    with ThreadPoolExecutor(1) as thread:  # the program may have a loop of its own, which cannot wait here
        try:
            return thread.submit(asyncio.run, _asked(connect, number)).result()
        except LinkRefused as error:
            raise InvalidInput(f"this site cannot join {to}: {error}") from None
        except (OSError, TimeoutError) as error:
            why = str(error) or f"no answer for {ANSWER_SECONDS:g} seconds"
            raise InvalidInput(
                f"the coordinator of {to} does not say what its federation has agreed on ({why}): join when it is "
                "there; from then on the store knows"
            ) from None
        except ProtocolError as error:
            raise InvalidInput(f"what the coordinator of {to} says is not understood ({error}): is it newer?") from None


async def _asked(connect: Connect, number: int) -> Frame:
    async with asyncio.timeout(ANSWER_SECONDS):
        link = await connect()
        asking = asyncio.create_task(_keep_asking(link.send, number))
        try:
            while True:
                frame = Frame.from_bytes(await link.receive())
                if frame.kind is Kind.CHARTER:
                    Charter.from_text(frame.body.decode(errors="replace"))
                    return frame
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await link.close()


async def _keep_asking(send: Callable[[bytes], Awaitable[None]], number: int) -> None:
    """Ask again and again: a coordinator that is being started may have missed it."""
    while True:
        await send(Frame(Kind.JOIN, number, 0, 0).to_bytes())
        await asyncio.sleep(ASK_SECONDS)
