"""Who may say what at a broker with TLS, against the real nats-server: strangers are refused, and it is logged."""

from __future__ import annotations

import asyncio
import gc
import ssl

import nats
import numpy as np
import pytest

from fedbandit.service.keys.files import Keys
from fedbandit.transport.nats.address import Address, security
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings, Security
from fedbandit.transport.nats.link import NatsLink
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.frame import Frame, Kind, with_numbers
from samples.deployed import Coordinator, all_is_sent, open_sites
from samples.waiting import PATIENCE, until

TABLE = {
    "algorithm": "async-linucb",
    "clients": 2,
    "dimension": 2,
    "set": {"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0},
}
SUBJECTS = Subjects("demo")

# The library leaves the transport of a connection that was refused to the garbage collector, which complains.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Secure:
    """A broker with TLS, its coordinator, and credentials of all kinds."""

    def __init__(self, folder):
        self.keys, strangers = Keys(folder / "keys"), Keys(folder / "strangers")
        for name in ("broker", "coordinator", "demo.0", "demo.1", "demo.7", "other.0"):
            self.keys.new(name)
        self.expired = Keys(folder / "old")
        self.expired.folder.mkdir()
        for name in ("ca.pem", "ca.key"):
            (self.expired.folder / name).write_bytes((self.keys.folder / name).read_bytes())
        self.expired.new("demo.0", days=1e-6)
        strangers.new("demo.0")
        strangers.new("broker")
        self.strangers = strangers
        secured = Security(self.keys.path("broker"), self.keys.authority, {"demo": 2})
        self.broker = Broker(BrokerSettings(folder / "broker", port=free_port(), security=secured))
        self.coordinator = Coordinator(
            folder, self.broker.url, {"demo": TABLE}, credentials=self.keys.path("coordinator")
        )
        self.coordinator.start().wait()
        self.address = Address(self.broker.url, "demo")

    def logged(self, words):
        return words in self.broker.log.read_text()

    def connect(self, credential, **more):
        tls = security(self.broker.url, credential)
        return nats.connect(self.broker.url, tls=tls, allow_reconnect=False, connect_timeout=5, **more)


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    made = Secure(tmp_path_factory.mktemp("secure"))
    yield made
    assert made.coordinator.stop() == 0
    made.broker.stop()
    gc.collect()


def refused(secure, credential):
    async def attempt():
        with pytest.raises(ConnectionError):
            await NatsLink.open(secure.address, 0, credential)

    asyncio.run(attempt())


def test_a_site_with_its_credential_takes_part(secure):
    sites = open_sites(TABLE)
    for number, site in enumerate(sites):
        site.connect(f"{secure.broker.url}/demo", credentials=secure.keys.path(f"demo.{number}"))
        site.learn(site.choose(np.eye(2)).id, 1.0)
    until(lambda: all_is_sent(sites) and all(site.version for site in sites), "acknowledgements and downloads")
    for site in sites:
        site.close()


def assert_refused(secure, context):
    async def attempt():
        with pytest.raises((nats.errors.Error, OSError)):
            await nats.connect(
                secure.broker.url, tls=context, allow_reconnect=False, max_reconnect_attempts=0, error_cb=ignore
            )

    asyncio.run(attempt())


def test_a_certificate_of_another_authority_is_refused_and_logged(secure):
    context = security(secure.broker.url, secure.strangers.path("demo.0"))
    context.load_verify_locations(secure.keys.authority)  # this stranger trusts the broker
    assert_refused(secure, context)
    until(lambda: secure.logged("TLS handshake error"))
    until(lambda: secure.logged("certificate signed by unknown authority"))


def test_nobody_without_a_certificate_is_let_in(secure):
    context = ssl.create_default_context(cafile=secure.keys.authority)
    assert_refused(secure, context)
    until(lambda: secure.logged("client didn't provide a certificate"))


def test_an_expired_credential_is_refused_and_logged(secure):
    refused(secure, secure.expired.path("demo.0"))  # by the site itself, which can read it
    assert_refused(secure, security(secure.broker.url, secure.expired.path("demo.0")))
    until(lambda: secure.logged("certificate has expired"))


@pytest.mark.parametrize("name", ["demo.7", "other.0"])
def test_a_name_that_is_on_no_roster_is_refused_and_logged(secure, name):
    refused(secure, secure.keys.path(name))
    until(lambda: secure.logged("authentication error"))


def test_a_site_does_not_talk_to_a_broker_of_another_authority(tmp_path, secure):
    theirs = Security(secure.strangers.path("broker"), secure.strangers.authority, {"demo": 2})
    with Broker(BrokerSettings(tmp_path, port=free_port(), security=theirs)) as impostor:

        async def attempt():
            with pytest.raises(ConnectionError, match="certificate verify failed"):
                await NatsLink.open(Address(impostor.url, "demo"), 0, secure.keys.path("demo.0"))

        asyncio.run(attempt())


async def ignore(_):
    pass


async def violation(secure, act):
    """Return what the broker answers when site 0 does something."""
    told = asyncio.get_running_loop().create_future()

    async def tell(error):
        if "permissions violation" in str(error).lower() and not told.done():
            told.set_result(str(error))

    connection = await secure.connect(secure.keys.path("demo.0"), error_cb=tell)
    await act(connection)
    try:
        return await asyncio.wait_for(told, PATIENCE)
    finally:
        await connection.close()


@pytest.mark.parametrize(
    "subject",
    [SUBJECTS.up(1), SUBJECTS.ask(1), SUBJECTS.report(1), SUBJECTS.down(1), SUBJECTS.delivery, "fedbandit.other.up.0.0",
     "$JS.API.STREAM.DELETE.fedbandit-demo-up-0", "$JS.ACK.fedbandit-demo-up-0.coordinator.1.1.1.1.0"],
)  # fmt: skip
def test_a_site_may_publish_only_as_itself_and_attempts_are_logged(secure, subject):
    frame = Frame(Kind.VOID, 1, 1, 1).to_bytes()
    answer = asyncio.run(violation(secure, lambda connection: connection.publish(subject, frame)))
    assert "permissions violation" in answer.lower()
    until(lambda: secure.logged(f'user:CN=demo.0" - Publish Violation - Subject "{subject}"'))


@pytest.mark.parametrize(
    "subject", [SUBJECTS.down(1), f"{SUBJECTS.inbox(1)}.stored", SUBJECTS.delivery, "fedbandit.>", ">"]
)
def test_a_site_may_listen_only_to_what_is_for_it(secure, subject):
    answer = asyncio.run(violation(secure, lambda connection: connection.subscribe(subject)))
    assert "permissions violation" in answer.lower()


def test_a_frame_in_the_name_of_another_site_is_refused_and_logged(secure):
    async def send():
        link = await NatsLink.open(secure.address, 0, secure.keys.path("demo.0"))
        await link.send(with_numbers(Kind.CLOSE, 1, 1, 1, 2).to_bytes())
        await link.close()

    asyncio.run(send())
    until(lambda: secure.coordinator.said("refused from site 0: site 0 sent a frame in the name of site 1"))
