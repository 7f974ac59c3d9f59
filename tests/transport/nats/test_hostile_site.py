"""What a site with a credential can do to others at the broker: nothing, whatever it says and wherever it points."""

from __future__ import annotations

import asyncio
import logging
import time

import nats
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.service.keys.files import Keys
from fedbandit.transport.link import LinkRefused, NotStored
from fedbandit.transport.nats import link as link_module
from fedbandit.transport.nats.address import expiry, security
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.link import NatsLink
from fedbandit.transport.nats.streams import MOST_WAITING
from fedbandit.transport.nats.subjects import SHARDS
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.report import Report
from samples.secure_broker import SUBJECTS, SecureBroker
from samples.waiting import PATIENCE

CLIENTS = SHARDS + 1
HOSTILE, HONEST = 0, SHARDS  # both in one stream


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    made = SecureBroker(tmp_path_factory.mktemp("secure"), CLIENTS, (HOSTILE, HONEST))
    yield made
    made.broker.stop()


def upload(site, number):
    return Frame(Kind.UPLOAD, site, 7, number, b"body").to_bytes()


async def soon(awaitable):
    return await asyncio.wait_for(awaitable, PATIENCE)


@pytest.mark.parametrize(
    "reply",
    [f"{SUBJECTS.inbox(HONEST)}.stored", SUBJECTS.up(HONEST), SUBJECTS.down(HONEST), SUBJECTS.delivery,
     "$JS.API.STREAM.PURGE.fedbandit-demo-up-0", "$JS.API.STREAM.DELETE.fedbandit-demo-up-1"],
)  # fmt: skip
def test_the_answer_to_a_site_reaches_nobody_else_whatever_subject_it_names(secure, reply):
    async def what(hub, arrived):
        heard = []

        async def hear(message):
            heard.append(message.data)

        honest, hostile = await secure.raw(HONEST), await secure.raw(HOSTILE)
        await honest.subscribe(f"{SUBJECTS.inbox(HONEST)}.>", cb=hear)
        await honest.subscribe(SUBJECTS.down(HONEST), cb=hear)
        await honest.publish(SUBJECTS.up(HONEST), upload(HONEST, 1))
        await honest.flush()
        await hostile.publish(SUBJECTS.up(HOSTILE), upload(HOSTILE, 1), reply=reply)
        await hostile.publish(SUBJECTS.up(HOSTILE), upload(HOSTILE, 2))
        came = [await soon(arrived.get()) for _ in range(3)]
        await hub.settle(came)
        assert sorted(each.data for each in came) == sorted([upload(HONEST, 1), upload(HOSTILE, 1), upload(HOSTILE, 2)])
        await hub.send(SUBJECTS, [(HONEST, b"the last word")])
        while b"the last word" not in heard:
            await asyncio.sleep(0.01)
        assert heard == [b"the last word"]
        assert arrived.empty()
        for connection in (honest, hostile):
            await connection.close()

    secure.run(what)


def test_a_site_cannot_use_up_the_ids_of_another(secure):
    async def what(hub, arrived):
        hostile = await secure.raw(HOSTILE)
        for number in range(1, 4):
            for name in (f"{HONEST}.7.{number}.upload", f"{HONEST}.7.{number}.UPLOAD", f"7.{number}.UPLOAD"):
                await hostile.publish(SUBJECTS.up(HOSTILE), b"spent", headers={"Nats-Msg-Id": name})
        await hostile.flush()
        link = await NatsLink.open(secure.address, HONEST, secure.key(HONEST))
        frames = [upload(HONEST, number) for number in range(1, 4)]
        for frame in frames:
            await link.send(frame)
        came = [await soon(arrived.get()) for _ in range(9 + len(frames))]
        await hub.settle(came)
        assert sorted(frames) == sorted(each.data for each in came if each.sender == HONEST)
        await link.close()
        await hostile.close()

    secure.run(what)


def test_what_is_no_answer_of_the_broker_does_not_break_a_link(secure):
    async def what(hub, arrived):
        link = await NatsLink.open(secure.address, HONEST, secure.key(HONEST))
        for data in (b"", b"{", b"[]", b'{"error": 1}x', b"\xff"):
            message = nats.aio.msg.Msg(link._broker, subject=link._stored, data=data)
            await link._on_stored(message)
        await link.send(upload(HONEST, 1))
        came = await soon(arrived.get())
        await hub.settle([came])
        assert came.data == upload(HONEST, 1)
        await link.close()

    secure.run(what)


def test_the_broker_keeps_a_number_of_uploads_of_a_site_and_others_have_room(secure):
    async def what(hub, arrived):
        hostile = await secure.raw(HOSTILE)
        for number in range(10 * MOST_WAITING):
            await hostile.publish(SUBJECTS.up(HOSTILE), upload(HOSTILE, number))
        await hostile.flush()
        link = await NatsLink.open(secure.address, HONEST, secure.key(HONEST))
        await link.send(upload(HONEST, 1))
        came = []
        while not came or came[-1].sender != HONEST:
            came.append(await soon(arrived.get()))
        assert len(came) <= MOST_WAITING + 1
        await hub.settle(came)
        await link.close()
        await hostile.close()

    secure.run(what)


def test_a_site_with_more_to_send_than_there_is_room_for_sends_it_all(secure):
    async def what(hub, arrived):
        link = await NatsLink.open(secure.address, HONEST, secure.key(HONEST))
        frames = [upload(HONEST, number) for number in range(1, 3 * MOST_WAITING)]

        async def send():
            for frame in frames:
                await link.send(frame)

        sending = asyncio.ensure_future(send())
        came = set()
        while not came >= set(frames):
            arrival = await soon(arrived.get())
            came.add(arrival.data)
            await hub.settle([arrival])
        await soon(sending)
        await link.close()

    secure.run(what)


def test_a_site_for_which_there_is_no_room_says_so(secure, monkeypatch):
    monkeypatch.setattr(link_module, "NO_ROOM_SECONDS", 0.2)

    async def what(hub, arrived):
        link = await NatsLink.open(secure.address, HONEST, secure.key(HONEST))

        async def send():
            for number in range(1, 3 * MOST_WAITING):
                await link.send(upload(HONEST, number))

        with pytest.raises(NotStored, match="keeps as much of this site as it may: is its coordinator serving"):
            await soon(send())
        await link.close()
        for _ in range(MOST_WAITING):
            await hub.settle([await soon(arrived.get())])

    secure.run(what)


def test_of_a_flood_of_reports_few_reach_the_coordinator_and_the_last_is_among_them(secure):
    async def what(hub, arrived):
        hostile = await secure.raw(HOSTILE)
        frames = [Report(number, 0, 0.0, {}).to_frame(HOSTILE, 1).to_bytes() for number in range(2000)]
        for frame in frames:
            await hostile.publish(SUBJECTS.report(HOSTILE), frame)
        await hostile.flush()
        await hostile.publish(SUBJECTS.up(HOSTILE), upload(HOSTILE, 1))
        count, last = 0, None
        while last != frames[-1]:
            arrival = await soon(arrived.get())
            if arrival.source.subject == SUBJECTS.report(HOSTILE):
                count, last = count + 1, arrival.data
            await hub.settle([arrival])
        assert count < len(frames) / 2
        await hostile.close()

    secure.run(what)


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
