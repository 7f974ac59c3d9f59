"""Credentials that expire, connections with TLS that end, and a coordinator with a wrong key."""

from __future__ import annotations

import asyncio
import logging
import time

import nats
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.service.keys.files import Keys
from fedbandit.transport.link import LinkRefused
from fedbandit.transport.nats.address import expiry, security
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.link import NatsLink
from samples.secure_broker import HONEST, HOSTILE
from samples.waiting import soon


@pytest.mark.slow
def test_a_site_ends_its_link_when_its_credential_expires(secure, tmp_path):
    short = Keys(tmp_path)
    for name in ("ca.pem", "ca.key"):
        (tmp_path / name).write_bytes((secure.keys.folder / name).read_bytes())

    async def attempt():
        link = await NatsLink.open(secure.address, HONEST, short.new(f"demo.{HONEST}", days=2.5 / 86400))
        with pytest.raises(LinkRefused, match="credential of this site has expired: ask for a new one"):
            await soon(link.receive())
        await link.close()

    asyncio.run(attempt())


def test_a_credential_that_has_expired_ends_a_link_at_once(secure):
    async def attempt():
        link = NatsLink(secure.address, HONEST)
        link._end_at(0.0)
        assert link._timers["end"].when() <= asyncio.get_running_loop().time()
        await link.close()

    asyncio.run(attempt())


def test_a_site_that_stays_after_its_credential_has_expired_is_sent_away_and_cannot_come_back(secure, tmp_path):
    short = Keys(tmp_path)
    for name in ("ca.pem", "ca.key"):
        (tmp_path / name).write_bytes((secure.keys.folder / name).read_bytes())

    async def what(hub, arrived):
        path = short.new(f"demo.{HOSTILE}", days=2.0 / 86400)
        gone = asyncio.Event()

        async def end():
            gone.set()

        tls = security(secure.broker.url, path)
        await nats.connect(secure.broker.url, tls=tls, allow_reconnect=False, closed_cb=end, error_cb=ignore)
        while time.time() <= expiry(path):
            await asyncio.sleep(0.05)
        assert not gone.is_set(), "the broker alone does not notice"
        assert await hub.end_connections(older_than=3600.0) == 0
        while not gone.is_set():
            await hub.end_connections(older_than=0.0)
            await asyncio.sleep(0.05)
        with pytest.raises(LinkRefused):
            await NatsLink.open(secure.address, HOSTILE, path)
        assert hub.is_connected, "the coordinator sends itself not away"

    secure.run(what)


async def ignore(_):
    pass


def test_the_end_of_a_connection_with_tls_is_silent(secure, caplog):
    async def attempt():
        link = await NatsLink.open(secure.address, HONEST, secure.key(HONEST))
        await link.close()
        await asyncio.sleep(0)

    with caplog.at_level(logging.INFO):
        asyncio.run(attempt(), debug=False)
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_a_coordinator_with_a_wrong_key_is_told_so_and_nothing_else_is_said(secure, tmp_path, caplog):
    strangers = Keys(tmp_path / "strangers")

    async def attempt(path):
        with pytest.raises(InvalidInput, match="cannot be reached"):
            await soon(Hub(secure.broker.url, path).connect())

    wrong = strangers.new("coordinator")
    mixed = tmp_path / "mixed.pem"  # of another authority, but it trusts this one
    mixed.write_bytes(wrong.read_bytes().replace(strangers.authority.read_bytes(), secure.keys.authority.read_bytes()))
    for path in (wrong, mixed):
        asyncio.run(attempt(path))
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []
