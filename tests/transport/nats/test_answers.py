"""What others ask a coordinator at the broker: it answers on every connection that it makes."""

from __future__ import annotations

import asyncio

import nats

from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from samples.hubs import opened
from samples.waiting import PATIENCE, meanwhile


def test_whoever_asks_is_answered_unless_there_is_nothing_to_say(tmp_path, caplog):
    async def answer(subject, data):
        return data if data != b"of another" else None

    async def attempt():
        with Broker(BrokerSettings(tmp_path)) as broker:
            hub, _ = await opened(broker)
            await hub.answer("asked", answer)
            heard, asking = [], await nats.connect(broker.url)

            async def hear(message):
                heard.append(message.data)

            await asking.subscribe("told", cb=hear)
            for question in (b"of another", b"", b"of ours"):
                await asking.publish("asked", question, reply="told")
            await meanwhile(lambda: b"of ours" in heard)
            await asking.close()
            await hub.close()
            return heard

    assert asyncio.run(attempt()) == [b"", b"of ours"]
    assert not caplog.records, "nothing has failed"


def test_what_is_to_be_answered_while_the_broker_is_away_is_when_it_is_back(tmp_path):
    settings = BrokerSettings(tmp_path, port=free_port())

    async def answer(subject, data):
        return b"yes"

    async def attempt():
        with Broker(settings) as broker:
            hub, _ = await opened(broker)
        await meanwhile(lambda: not hub.is_connected)
        await hub.answer("asked", answer)
        with Broker(settings) as again:
            await meanwhile(lambda: hub._returning.done())
            asking = await nats.connect(again.url)
            assert (await asking.request("asked", b"", timeout=PATIENCE)).data == b"yes"
            await asking.close()
            await hub.close()

    asyncio.run(attempt())
