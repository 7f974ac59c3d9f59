"""The federations of one file, spread over coordinators at one broker: each lets in its own sites, and no others."""

from __future__ import annotations

import asyncio
import json
from copy import copy

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.site.condition import SiteState
from fedbandit.transport.nats import link, site_connections
from fedbandit.transport.nats.broker import free_port
from samples.roster import Rostered
from samples.waiting import until

EAGER = {"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0}
TABLE = {"algorithm": "async-linucb", "clients": 4, "dimension": 2, "set": EAGER}

# The library leaves the transport of a connection that was refused to the garbage collector, which complains.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def clinics(tmp_path):
    """All that two federations share, and a coordinator that serves one of them."""
    made = Rostered(tmp_path, {"clinics": TABLE, "shops": TABLE})
    try:
        made.start("clinics")
        yield made
        made.stop()
    finally:
        made.broker.kill()  # it would wait for answers about whoever knocked while nobody could answer


@pytest.fixture
def shops(clinics):
    """A coordinator that serves the other one, not yet started; a test that fails leaves no thread behind."""
    made = copy(clinics)
    yield made
    if made.serving is not clinics.serving and made.thread.is_alive():
        made.stop()


def learn(site):
    site.learn(site.choose(np.eye(2)).id, 1.0)


def is_acknowledged(site):
    return site.connected and not site.unsent


def site_of(joined):
    return fb.Site.join(joined.address, credentials=joined.credential, patience=0.1)


def counted(rostered, federation):
    return rostered.host(federation).server.accounts.observations


def connections_ended_by(clinics, at_once):
    """Let a coordinator end the connections that are its own to end, and look at so many of all at a time."""
    ending = clinics.host("clinics")._hub.end_connections(-1.0, spared=clinics.serving.plan.elsewhere)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_connections, "AT_ONCE", at_once)
        return asyncio.run_coroutine_threadsafe(ending, clinics.loop).result()


def test_each_coordinator_lets_in_the_sites_of_its_own_federations_and_leaves_those_of_others_alone(
    clinics, shops, monkeypatch
):
    north = site_of(clinics.joined("clinics", "north"))
    with north, fb.Site("async-linucb", dimension=2, clients=4, number=3, **EAGER) as market:
        monkeypatch.setattr(link, "CONNECT_SECONDS", 0.5)
        market.connect(f"{clinics.broker.url}/shops", credentials=clinics.keys.new("shops.3"), patience=0.1)
        learn(market)
        until(lambda: "waits for its coordinator" in market.trouble or market.state is SiteState.REFUSED, "the door")
        assert market.state is SiteState.CONNECTING
        monkeypatch.undo()
        shops.start("shops")
        until(lambda: is_acknowledged(market), "the coordinator that serves it")
        with site_of(shops.joined("shops", "corner")) as corner:
            for site in (north, corner):
                learn(site)
                until(lambda site=site: is_acknowledged(site), "an acknowledgement")
        shops.stop()
        for site in (north, market):
            learn(site)
        until(lambda: is_acknowledged(north), "an acknowledgement while the other coordinator is away")
        for at_once in (256, 1):
            assert connections_ended_by(clinics, at_once) == 1, "that of north, and not that of market"
            learn(north)
            until(lambda: is_acknowledged(north), "a new connection")  # it is younger than that of market now
        assert market.unsent == 1
        shops.start("shops")
        until(lambda: is_acknowledged(market), "an acknowledgement after the other coordinator is back")
        assert (counted(clinics, "clinics"), counted(shops, "shops")) == ({0: 4}, {0: 1, 3: 2})
        assert [clinics.serving.problem(), shops.serving.problem()] == ["", ""]


@pytest.mark.slow
def test_a_coordinator_that_is_killed_and_started_again_does_not_disturb_the_other(clinics):
    shops = copy(clinics.process)
    shops.port = free_port()
    address = f"127.0.0.1:{shops.port}"
    shops.command = [*shops.command, "--only", "shops", "--http", address, "--standby"]  # waits for its own journals
    try:
        shops.start().wait()
        with site_of(clinics.joined("clinics", "north")) as north, site_of(clinics.joined("shops", "market")) as market:
            for site in (north, market):
                learn(site)
                until(lambda site=site: is_acknowledged(site), "an acknowledgement")
            shops.kill()
            for site in (north, market):
                learn(site)
            until(lambda: is_acknowledged(north), "an acknowledgement while the other coordinator is killed")
            assert market.unsent == 1
            shops.start().wait(times=2)
            with site_of(clinics.joined("shops", "corner")):
                until(lambda: is_acknowledged(market), "an acknowledgement after it was started again")
            assert is_acknowledged(north)
        assert {each["name"] for each in json.loads(shops.asked("status.json"))["federations"]} == {"shops"}
        assert shops.said("left to other coordinators: clinics") == 2
        assert counted(clinics, "clinics") == {0: 2}
        assert clinics.serving.problem() == ""
        assert shops.stop() == 0
    finally:
        shops.end()
