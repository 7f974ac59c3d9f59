"""What a stream may forget: everything up to the first message that the coordinator does not have, and nothing else."""

from __future__ import annotations

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from fedbandit.transport.nats.address import Address
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.link import NatsLink
from fedbandit.transport.nats.settling import REMOVE_MANY, REMOVE_SECONDS, Place, Settling, stream_and_number
from fedbandit.transport.nats.streams import MOST_UNSETTLED
from fedbandit.wire.frame import Frame, Kind
from samples.hubs import opened
from samples.waiting import soon

SITE = 1


def delivered(*numbers):
    settling = Settling("up-0", answers="known")
    for number in numbers:
        settling.came(Place(number, f"ack.{number}"))
    return settling


def removed(said):
    return [json.loads(each.data)["seq"] - 1 for each in said if each.subject == "$JS.API.STREAM.PURGE.up-0"]


def acknowledged(said):
    return [each.subject for each in said if each.data == b"+ACK"]


def answered(settling, said):
    """Have the broker answer whatever it was asked; return what was asked about."""
    about = [stream_and_number(each.answer) for each in said if each.answer]
    for stream, number in about:
        assert stream == "up-0"
        settling.know(number)
    return [number for _, number in about]


@given(st.permutations(range(3, 12)))
def test_whatever_the_order_nothing_unsettled_is_removed_and_all_is_in_the_end(order):
    settling, done, up_to = delivered(*range(3, 12)), set(), 0
    for step, number in enumerate(order, start=1):
        settling.settle(number, SITE)
        done.add(number)
        answered(settling, settling.said(now=float(step)))
        for each in removed(settling.said(now=float(step))):
            up_to = each
        assert {*range(3, up_to + 1)} <= done
        first_open = min({*range(3, 12)} - done, default=12)
        assert up_to == (first_open - 1 if first_open > 3 else 0)
    assert not settling.is_left


@given(st.lists(st.tuples(st.sampled_from(["settle", "answer", "say"]), st.floats(0.0, 0.2)), max_size=60))
def test_nothing_is_removed_that_the_broker_has_not_said_to_know_as_acknowledged(steps):
    settling, asked, known, now, number = delivered(*range(1, 61)), [], 0, 0.0, 0
    for what, seconds in steps:
        now += seconds
        if what == "settle":
            number += 1
            settling.settle(number, SITE)
        elif what == "answer" and asked:
            known = asked.pop(0)
            settling.know(known)
        else:
            said = settling.said(now)
            asked += [stream_and_number(each.answer)[1] for each in said if each.answer]
            assert all(each <= known for each in removed(said))


def test_many_of_one_site_are_removed_at_once_and_few_after_a_moment():
    settling = delivered(*range(1, 60))
    settling.settle(1, SITE)
    assert answered(settling, settling.said(now=5.0)) == [1]
    settling.settle(2, SITE)
    said = settling.said(now=5.0)
    assert (acknowledged(said), answered(settling, said), removed(said)) == (["ack.2"], [], [1])
    assert settling.is_left
    assert answered(settling, settling.said(now=5.0 + REMOVE_SECONDS)) == [2]
    assert removed(settling.said(now=5.0 + REMOVE_SECONDS)) == [2]
    for number in range(3, 3 + REMOVE_MANY):
        settling.settle(number, site=number)
    assert answered(settling, settling.said(now=5.0 + REMOVE_SECONDS)) == []
    for number in range(3 + REMOVE_MANY, 3 + 2 * REMOVE_MANY):
        settling.settle(number, SITE)
    assert answered(settling, settling.said(now=5.0 + REMOVE_SECONDS)) == [2 + 2 * REMOVE_MANY]
    assert removed(settling.said(now=5.0 + REMOVE_SECONDS)) == [2 + 2 * REMOVE_MANY]


def test_one_acknowledgement_stands_for_all_before_it_and_is_said_once():
    settling = delivered(1, 2, 3)
    for number in (2, 1):
        settling.settle(number, SITE)
    assert acknowledged(settling.said(now=1.0)) == ["ack.2"]
    assert settling.said(now=9.0) == []


def test_what_is_delivered_once_more_changes_nothing():
    settling = delivered(1, 2, 1, 2)
    for number in (1, 2, 1, 2):
        settling.settle(number, SITE)
    answered(settling, settling.said(now=1.0))
    assert removed(settling.said(now=1.0)) == [2]
    settling.came(Place(3, "ack.3"))
    assert not settling.is_left


def test_in_the_end_all_that_is_settled_is_removed_without_an_answer():
    settling = delivered(1, 2, 3)
    for number in (1, 2):
        settling.settle(number, SITE)
    assert removed(settling.last_said()) == [2]
    assert settling.last_said() == []


def test_a_broker_forgets_what_is_settled_and_keeps_the_rest(tmp_path):
    async def messages(hub):
        return (await hub._broker.jetstream().stream_info("fedbandit-demo-up-1")).state.messages

    async def attempt(broker):
        hub, arrived = await opened(broker)
        link = await NatsLink.open(Address(broker.url, "demo"), 1)
        for number in range(1, 5):
            await link.send(Frame(Kind.UPLOAD, 1, 7, number, b"body").to_bytes())
        came = [await soon(arrived.get()) for _ in range(4)]
        assert await messages(hub) == 4
        await hub.settle([came[1]])
        await hub.settle([came[0], came[3]])
        while await messages(hub) > 2:
            await asyncio.sleep(0.01)
        await hub.settle([came[2]])
        while await messages(hub):
            await asyncio.sleep(0.01)
        await link.close()
        await hub.close()

    with Broker(BrokerSettings(tmp_path, port=free_port())) as broker:
        asyncio.run(soon(attempt(broker)))


def test_a_stream_goes_on_when_all_that_was_under_way_is_settled_though_nothing_new_is_stored(tmp_path):
    many = 3 * MOST_UNSETTLED

    async def attempt(broker):
        hub, arrived = await opened(broker)
        links = [await NatsLink.open(Address(broker.url, "demo"), site) for site in range(1, 1 + many // 16 * 16, 16)]
        for number in range(1, 1 + many // len(links)):
            for link in links:
                await link.send(Frame(Kind.UPLOAD, link._site, 7, number, b"body").to_bytes())
        for _ in range(3):
            await hub.settle([await soon(arrived.get()) for _ in range(MOST_UNSETTLED)])
        for link in links:
            await link.close()
        await hub.close()

    with Broker(BrokerSettings(tmp_path, port=free_port())) as broker:
        asyncio.run(soon(attempt(broker)))
