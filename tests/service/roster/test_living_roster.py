"""Sites are invited, join, leave and are cut off while a real broker and the coordinator run."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager

import nats
import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.roster import Standing
from fedbandit.service.roster.asking import as_file
from fedbandit.service.roster.joining import join
from fedbandit.service.roster.token import Invitation
from fedbandit.transport.nats import link
from fedbandit.transport.nats.address import security
from fedbandit.transport.nats.subjects import Subjects
from samples.roster import serving
from samples.waiting import PATIENCE, until

EAGER = {"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0}
FEDERATIONS = {
    "demo": {"algorithm": "async-linucb", "clients": 8, "dimension": 2, "set": EAGER},
    "rounds": {
        "algorithm": "sync-linucb",
        "clients": 4,
        "dimension": 2,
        "set": {"sync_threshold": 0.01, "smallest_upload": 1},
    },
}

# The library leaves the transport of a connection that was refused to the garbage collector, which complains.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def rostered(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("rostered"), FEDERATIONS) as made:
        yield made


def opened(rostered, joined, **more):
    table = FEDERATIONS[joined.federation]
    sizes = {"dimension": 2, "clients": table["clients"], "number": joined.number}
    site = fb.Site(table["algorithm"], **sizes, **table["set"], **more)
    site.connect(joined.address, credentials=joined.credential, patience=0.1)
    return site


def learn(site):
    site.learn(site.choose(np.eye(2)).id, 1.0)


def is_acknowledged(site):
    return site.unsent == 0 and site.state.value == "connected"


def test_a_site_joins_takes_part_is_cut_off_and_comes_back_when_it_is_invited_again(rostered):
    with opened(rostered, rostered.joined("demo", "north"), store=rostered.folder / "north.db") as site:
        learn(site)
        until(lambda: is_acknowledged(site), "an acknowledgement")
        rostered.operate("demo", "revoke", "north")
        until(lambda: site.state.value == "refused", "the end of the connection")
        assert "removed or revoked" in site.trouble
        learn(site)
        rewards = rostered.host("demo").server.accounts.observations
        assert (site.unsent, rewards) == (1, {0: 1})
    (rostered.folder / "sites" / "demo.north.pem").unlink()
    with opened(rostered, rostered.joined("demo", "north"), store=rostered.folder / "north.db") as site:
        until(lambda: is_acknowledged(site), "what was learnt meanwhile")
    assert rewards == {0: 2}


def test_a_token_is_refused_to_a_second_key(rostered, tmp_path):
    token = rostered.invited("demo", "twice")
    first = join(token, tmp_path / "first")
    with pytest.raises(InvalidInput, match="this token was used already, with another key"):
        join(token, tmp_path / "second")
    assert [each.name for each in first.credential.parent.iterdir()] == ["demo.twice.pem"]
    assert first.credential.stat().st_mode & 0o777 == 0o600


def test_a_token_that_was_withdrawn_is_refused(rostered, tmp_path):
    token = rostered.invited("demo", "withdrawn")
    rostered.operate("demo", "remove", "withdrawn")
    with pytest.raises(InvalidInput, match=r"does not let this token in: .* ask for a new invitation"):
        join(token, tmp_path)


def test_a_file_of_keys_new_works_on_and_can_be_revoked(rostered):
    credential = rostered.keys.new("demo.7")
    site = fb.Site("async-linucb", dimension=2, clients=8, number=7, **EAGER)
    with site:
        site.connect(f"{rostered.broker.url}/demo", credentials=credential, patience=0.1)
        learn(site)
        until(lambda: is_acknowledged(site), "an acknowledgement")
        assert rostered.host("demo").roster.members["7"].standing is Standing.JOINED
        rostered.operate("demo", "revoke", "7")
        until(lambda: site.state.value == "refused", "the end of the connection")


def test_a_site_that_comes_while_the_coordinator_is_away_waits_and_is_not_said_to_be_refused(rostered, monkeypatch):
    joined = rostered.joined("demo", "early")
    rostered.stop()
    monkeypatch.setattr(link, "CONNECT_SECONDS", 0.5)
    with opened(rostered, joined) as site:
        until(lambda: "waits for its coordinator" in site.trouble, "the door")
        assert site.state.value == "connecting"
        monkeypatch.undo()
        rostered.start()
        until(lambda: is_acknowledged(site), "the coordinator")


async def raw(rostered, credential, **more):
    tls = security(rostered.broker.url, credential)
    return await nats.connect(rostered.broker.url, tls=tls, allow_reconnect=False, connect_timeout=PATIENCE, **more)


async def violation(rostered, credential, act):
    """Return what the broker answers when somebody does something."""
    told = asyncio.get_running_loop().create_future()

    async def tell(error):
        if "permissions violation" in str(error).lower() and not told.done():
            told.set_result(str(error))

    connection = await raw(rostered, credential, error_cb=tell)
    await act(connection)
    try:
        return await asyncio.wait_for(told, PATIENCE)
    finally:
        await connection.close()


def test_sites_with_names_and_the_invited_reach_nobody_elses_subjects(rostered):
    site, invitation = rostered.joined("demo", "hostile"), Invitation.read(rostered.invited("demo", "guest"))
    own, other = Subjects("demo"), (site.number + 1) % 8
    spoken = [own.up(other), own.ask(other), own.down(site.number), own.roster, own.charter, "$JS.API.INFO"]
    spoken += ["$SYS.REQ.USER.AUTH"]
    heard = [own.down(other), f"{own.inbox(other)}.x", "$SYS.REQ.USER.AUTH", f"{own.joining('*')}", ">"]
    with as_file(invitation.credential) as guest:
        for credential, more in ((site.credential, own.joining("x")), (guest, own.up(site.number))):
            for subject in (*spoken, more):
                asyncio.run(violation(rostered, credential, lambda each, to=subject: each.publish(to, b"")))
            for subject in heard:
                asyncio.run(violation(rostered, credential, lambda each, at=subject: each.subscribe(at)))


@contextmanager
def paused(rostered, host):
    """Let what arrives wait."""
    take_group, may_go_on, waits = host._group, threading.Event(), threading.Event()

    async def wait():
        waits.set()
        while not may_go_on.is_set():
            await asyncio.sleep(0.01)
        return await take_group()

    host._group = wait
    rostered.loop.call_soon_threadsafe(host.wake)
    assert waits.wait(PATIENCE)
    try:
        yield
    finally:
        host._group = take_group
        may_go_on.set()


@pytest.mark.parametrize(("end", "counted"), [("remove", 1), ("revoke", 0)])
@pytest.mark.slow
def test_what_the_broker_holds_of_a_site_that_is_removed_is_taken_in_and_of_one_that_is_revoked_is_not(
    rostered, end, counted
):
    joined = rostered.joined("demo", f"late-{end}")
    host = rostered.host("demo")
    with opened(rostered, joined) as site:
        until(lambda: site.state.value == "connected", "the answer to its question")
        with paused(rostered, host):
            learn(site)
            until(lambda: len(host._arrived), "an upload")
            rostered.operate("demo", end, joined.name)
        until(lambda: not len(host._arrived), "what waited")
    with paused(rostered, host):  # the group before is done
        assert host.server.accounts.observations.get(joined.number, 0) == counted


@pytest.mark.slow
def test_a_round_does_not_wait_for_numbers_without_a_site_nor_for_one_that_was_removed(rostered):
    with (
        opened(rostered, rostered.joined("rounds", "one")) as one,
        opened(rostered, rostered.joined("rounds", "two")) as two,
    ):
        learn(one)
        until(lambda: one.version and two.version, "a round of two")
        two.close()
        versions = one.version
        learn(one)
        until(lambda: rostered.host("rounds").server.awaited().size, "a round that is open")
        rostered.operate("rounds", "remove", "two")
        until(lambda: one.version > versions, "a round of one")
