"""A cluster of three real brokers: any one of them may be lost."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress

import nats
import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.protocol.charter import Charter
from fedbandit.service.keys.files import Keys
from fedbandit.transport.nats.address import Address, servers_of
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings, Cluster, Security
from fedbandit.transport.nats.door import Door
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.link import NatsLink
from fedbandit.transport.nats.subjects import Subjects
from samples.cluster import Brokers, until_it_has_a_leader
from samples.deployed import Coordinator, all_is_sent, open_sites
from samples.hubs import upload
from samples.waiting import PATIENCE, soon, until

TABLE = {
    "algorithm": "async-linucb", "clients": 2, "dimension": 2, "arms": 2, "horizon": 1,
    "set": {"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0},
}  # fmt: skip


@pytest.fixture
def brokers(tmp_path):
    made = Brokers(tmp_path)
    try:
        until_it_has_a_leader(made.url)
        yield made
    finally:
        made.end()


def play(sites, rounds):
    for turn in range(rounds):
        for site in sites:
            site.learn(site.choose(np.eye(2)), float(turn % 2))


def replicas_of(url):
    async def ask():
        connection = await nats.connect(servers_of(url))
        told = await connection.jetstream().streams_info()
        await connection.close()
        return {each.config.name: each.config.num_replicas for each in told}

    return asyncio.run(ask())


@pytest.mark.slow  # elections take seconds
def test_whichever_broker_is_killed_rewards_flow_and_each_counts_once(tmp_path, brokers):
    coordinator = Coordinator(tmp_path, brokers.url, {"demo": TABLE}, replicas=3)
    sites = open_sites(TABLE)
    try:
        coordinator.start().wait()
        assert set(replicas_of(brokers.url).values()) == {3}
        for site in sites:
            site.connect(f"{brokers.url}/demo", every=0.3, patience=0.1)
        play(sites, 5)
        until(lambda: all_is_sent(sites), "acknowledgements")
        for which in range(3):
            brokers.kill(which)
            play(sites, 5)
            until(lambda: all_is_sent(sites), f"acknowledgements without broker {which}")
            brokers.start(which)
        for site in sites:
            site.close()
        assert coordinator.stop() == 0, coordinator.log.read_text()
    finally:
        coordinator.end()
    sizes = sites[0].charter.setting
    journal = open_journal(str(tmp_path / "journals"), "demo")
    server = DurableServer(Charter.named("async-linucb", sizes, **TABLE["set"]), journal, epoch=1, now=0.0)
    assert server.accounts.observations == {0: 20, 1: 20}
    journal.close()


@pytest.mark.slow  # it takes as long as three pings
def test_a_broker_of_which_nothing_is_heard_any_more_is_left_for_another(brokers):
    """As when its machine loses its power: nobody says that the connection has ended."""

    async def attempt():
        hub, arrived = Hub(brokers.url, replicas=3), asyncio.Queue()
        await hub.connect()
        await hub.open(Door(Subjects("demo"), 1, 1000, arrived.put_nowait))
        at = hub._broker.connected_url.port
        silent = next(each for each in brokers.running if each.settings.port == at)
        silent.process.send_signal(signal.SIGSTOP)
        async with asyncio.timeout(PATIENCE):
            while hub._returning is None or not hub._returning.done():
                await asyncio.sleep(0.01)
        assert hub._broker.connected_url.port != at
        others = ",".join(each.settings.url.removeprefix("nats://") for each in brokers.running if each is not silent)
        link = await NatsLink.open(Address(f"nats://{others}", "demo"), 0)
        await link.send(upload(0))
        assert (await soon(arrived.get())).data == upload(0)
        await link.close()
        await hub.close()

    asyncio.run(attempt())


@pytest.mark.slow  # elections take seconds
def test_streams_that_store_nothing_for_want_of_brokers_are_not_removed(brokers):
    """They could not be made again before all are back, and what they hold would be gone."""
    name, subjects = "fedbandit-demo-up-0", Subjects("demo")

    async def remove_without_a_majority():
        hub = Hub(brokers.url, replicas=3)
        await hub.connect()
        await hub.open(Door(subjects, 1, 1000, lambda _: None))
        await hub._broker.jetstream().publish(subjects.up(0), b"kept")
        port = hub._broker.connected_url.port
        others = [which for which, each in enumerate(brokers.running) if each.settings.port != port]
        for which in others:
            brokers.kill(which)
        is_removed = await hub._streams.remove(name)
        await hub.close()
        return is_removed, others

    async def kept():
        connection = await nats.connect(servers_of(brokers.url))
        while True:
            with suppress(nats.errors.Error):
                info = await connection.jetstream().stream_info(name)
                await connection.close()
                return info.state.messages

    is_removed, others = asyncio.run(soon(remove_without_a_majority()))
    assert not is_removed
    for which in others:
        brokers.start(which)
    until_it_has_a_leader(brokers.url)
    assert asyncio.run(soon(kept())) == 1


@pytest.mark.slow  # elections take seconds
def test_streams_get_more_replicas_when_that_is_said_and_keep_what_they_hold(brokers):
    async def attempt():
        subjects = Subjects("demo")
        for replicas in (1, 3):
            hub = Hub(brokers.url, replicas=replicas)
            await hub.connect()
            await hub.open(Door(subjects, 1, 1000, lambda _: None))
            await hub._broker.jetstream().publish(subjects.up(0), f"with {replicas}".encode())
            info = await hub._broker.jetstream().stream_info("fedbandit-demo-up-0")
            found = info.config.num_replicas, info.state.messages
            await hub.close()
        return found

    assert asyncio.run(attempt()) == (3, 2)


def test_more_replicas_than_brokers_are_refused_and_nothing_is_changed(tmp_path):
    async def attempt(url):
        hub = Hub(url)
        await hub.connect()
        await hub.open(Door(Subjects("demo"), 1, 1000, lambda _: None))
        await hub.close()
        hub = Hub(url, replicas=3)
        await hub.connect()
        with pytest.raises(InvalidInput, match=r"replicas is 3, but the brokers at .* cannot keep so many copies"):
            await hub.open(Door(Subjects("demo"), 1, 1000, lambda _: None))
        await hub.close()

    with Broker(BrokerSettings(tmp_path, port=free_port())) as broker:
        asyncio.run(attempt(broker.url))
        assert set(replicas_of(broker.url).values()) == {1}


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """Three brokers with TLS, and the keys of all."""
    folder = tmp_path_factory.mktemp("secured")
    keys = Keys(folder / "keys")
    for name in ("broker", "coordinator", "demo.0"):
        keys.new(name)
    made = Brokers(folder, Security(keys.path("broker"), keys.authority, {"demo": 1}))
    yield made, keys
    made.end()


@pytest.mark.slow
def test_a_site_at_one_broker_with_tls_is_heard_by_a_coordinator_at_another(secured):
    brokers, keys = secured

    async def attempt():
        arrived = asyncio.Queue()
        one, two, _ = servers_of(brokers.url)
        hub = Hub(one, keys.path("coordinator"), replicas=3)
        hub.server = brokers.url  # so that it asks all of them who is there
        await hub.connect()
        await hub.open(Door(Subjects("demo"), 1, 1000, arrived.put_nowait))
        link = await NatsLink.open(Address(two, "demo"), 0, keys.path("demo.0"))
        await link.send(upload(0))
        assert (await soon(arrived.get())).data == upload(0)
        assert await hub.end_connections(-1.0, "demo.0") == 1, "it is ended where it is"
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(link.receive(), PATIENCE)
        await link.close()
        await hub.close()

    asyncio.run(attempt())


def test_a_site_is_not_taken_for_a_broker(secured, tmp_path):
    """Its certificate is of the same authority, but has no broker's name in it."""
    brokers, keys = secured
    one = brokers.settings[0]
    port = free_port()
    stranger = Cluster("stranger", free_port(), one.cluster.routes)
    pretended = Security(keys.path("demo.0"), keys.authority, {"demo": 1})
    with Broker(BrokerSettings(tmp_path, port=port, security=pretended, cluster=stranger)):
        until(lambda: "authentication error" in brokers.running[0].log.read_text(), "a refusal")
        assert "stranger" not in brokers.running[0].log.read_text()
