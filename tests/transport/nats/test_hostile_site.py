"""What a site with a credential can do to others at the broker: nothing, whatever it says and wherever it points."""

from __future__ import annotations

import asyncio

import nats
import pytest

from fedbandit.durable.site.outbox import MOST_WAITING
from fedbandit.transport.link import NotStored
from fedbandit.transport.nats import link as link_module
from fedbandit.transport.nats.link import NatsLink
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.report import Report
from samples.secure_broker import HONEST, HOSTILE, SUBJECTS
from samples.waiting import soon


def upload(site, number):
    return Frame(Kind.UPLOAD, site, 7, number, b"body").to_bytes()


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

        with pytest.raises(NotStored, match="no room for more uploads of this site: is its coordinator serving"):
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
