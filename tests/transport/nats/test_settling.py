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
from fedbandit.transport.nats.settling import REMOVE_MANY, REMOVE_SECONDS, Place, Settling
from fedbandit.wire.frame import Frame, Kind
from samples.hubs import opened
from samples.waiting import soon


def delivered(*numbers):
    settling = Settling("up-0")
    for number in numbers:
        settling.came(Place(number, f"ack.{number}"))
    return settling


def removed(said):
    return [json.loads(data)["seq"] - 1 for subject, data in said if subject == "$JS.API.STREAM.PURGE.up-0"]


def acknowledged(said):
    return [subject for subject, data in said if data == b"+ACK"]


@given(st.permutations(range(3, 12)))
def test_whatever_the_order_nothing_unsettled_is_removed_and_all_is_in_the_end(order):
    settling, done, up_to = delivered(*range(3, 12)), set(), 0
    for step, number in enumerate(order, start=1):
        settling.settle(number)
        done.add(number)
        for each in removed(settling.said(now=float(step))):
            up_to = each
        assert {*range(3, up_to + 1)} <= done
        first_open = min({*range(3, 12)} - done, default=12)
        assert up_to == (first_open - 1 if first_open > 3 else 0)
    assert not settling.is_left


def test_many_are_removed_at_once_and_few_after_a_moment():
    settling = delivered(*range(1, 40))
    settling.settle(1)
    assert removed(settling.said(now=5.0)) == [1]
    settling.settle(2)
    assert settling.said(now=5.0) == [("ack.2", b"+ACK")]
    assert settling.is_left
    assert removed(settling.said(now=5.0 + REMOVE_SECONDS)) == [2]
    for number in range(3, 3 + REMOVE_MANY):
        settling.settle(number)
    assert removed(settling.said(now=5.0 + REMOVE_SECONDS)) == [2 + REMOVE_MANY]


def test_one_acknowledgement_stands_for_all_before_it_and_is_said_once():
    settling = delivered(1, 2, 3)
    for number in (2, 1):
        settling.settle(number)
    assert acknowledged(settling.said(now=1.0)) == ["ack.2"]
    assert settling.said(now=9.0) == []


def test_what_is_delivered_once_more_changes_nothing():
    settling = delivered(1, 2, 1, 2)
    for number in (1, 2, 1, 2):
        settling.settle(number)
    assert removed(settling.said(now=1.0)) == [2]
    settling.came(Place(3, "ack.3"))
    assert not settling.is_left


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
