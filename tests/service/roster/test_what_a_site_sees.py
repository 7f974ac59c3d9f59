"""Whatever is wrong between a site and its coordinator is seen by the program, and logged once."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.service.keys.files import Keys
from fedbandit.site.condition import SiteState
from fedbandit.transport.nats.broker import free_port
from fedbandit.transport.nats.link import NatsLink
from samples.roster import serving
from samples.waiting import until

TABLE = {
    "algorithm": "async-linucb",
    "clients": 8,
    "dimension": 2,
    "set": {"upload_threshold": 1.0, "smallest_upload": 1},
}
SITE = {"dimension": 2, "clients": 8, "upload_threshold": 1.0, "smallest_upload": 1}


@pytest.fixture(scope="module")
def rostered(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("rostered"), {"demo": TABLE}) as made:
        yield made


def strange(rostered, folder):
    """Return a credential of another authority."""
    return Keys(folder).new("demo.7")


def expired(rostered, folder):
    return new_of(rostered, folder, days=1e-9)


def new_of(rostered, folder, **more):
    for each in (rostered.keys.authority, rostered.keys.authority_key):
        (folder / each.name).write_bytes(each.read_bytes())
    return Keys(folder).new("demo.7", **more)


def elsewhere(address):
    return f"tls://127.0.0.1:{free_port()}/demo"


WRONG = {
    "a key of another authority": (strange, str, {}, SiteState.REFUSED, "is not one of this credential's authority"),
    "a credential that has expired": (expired, str, {}, SiteState.REFUSED, "credential of this site has expired"),
    "another port": (new_of, elsewhere, {}, SiteState.CONNECTING, "no connection to the coordinator ("),
    "another charter": (new_of, str, {"ridge": 7.0}, SiteState.REFUSED, "ridge is 7.0 here and 0.1 in the federation"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_seen_by_the_program_and_logged_once(rostered, tmp_path, monkeypatch, caplog, what):
    credential_of, address_of, more, state, sentence = WRONG[what]
    caplog.set_level(logging.INFO, "fedbandit.site")
    attempts, seen, opened = [], [], NatsLink.open
    credential = credential_of(rostered, tmp_path)

    async def counted(*given):
        attempts.append(given)
        return await opened(*given)

    monkeypatch.setattr(NatsLink, "open", counted)
    with fb.Site("async-linucb", number=7, **SITE, **more) as site:
        site.on_change(lambda *told: seen.append(told))
        assert (seen, site.connected) == ([(SiteState.OFFLINE, "")], False)
        address = address_of(f"{rostered.broker.url}/demo")
        site.connect(address, credentials=credential, patience=0.01)
        until(lambda: site.state is state and sentence in site.trouble, what)
        assert not site.connected
        until(lambda: len(attempts) > 2 or what == "another charter", "more attempts")
        trouble = site.trouble
    assert seen == [(SiteState.OFFLINE, ""), (SiteState.CONNECTING, ""), (state, trouble), (SiteState.OFFLINE, "")]
    logged = [(each.levelname, each.getMessage()) for each in caplog.records if each.name.startswith("fedbandit.site")]
    assert logged == [("WARNING", f"{state.value}: {trouble}")]
    assert not any(each.exc_info for each in caplog.records), "no traceback"


def test_a_site_sees_that_it_is_connected_that_it_is_revoked_and_that_it_is_back(rostered, caplog):
    joined, seen = rostered.joined("demo", "north"), []
    with fb.Site.join(joined.address, credentials=joined.credential, patience=0.1) as site:
        site.on_change(lambda state, trouble: seen.append(state))
        until(lambda: site.connected, "the coordinator")
        rostered.operate("demo", "revoke", "north")
        until(lambda: site.state is SiteState.REFUSED, "the end of it")
        assert "its site is not on the roster, or was removed or revoked; ask whoever runs" in site.trouble
        site.learn(site.choose(np.eye(2)).id, 1.0)
        joined.credential.unlink()
        until(lambda: site.state is SiteState.CONNECTING, "a credential that is gone")
        assert "no credential can be read from" in site.trouble
        rostered.joined("demo", "north")
        until(lambda: site.connected and not site.unsent, "the coordinator, with a new credential in the old place")
    assert seen[-1] is SiteState.OFFLINE
    assert not any(each.exc_info for each in caplog.records)


def test_a_program_that_fails_when_it_is_told_does_not_stop_the_site(rostered, caplog):
    joined, seen = rostered.joined("demo", "south"), []

    def fail(state, trouble):
        seen.append(state)
        raise ValueError("not my day")

    with fb.Site.join(joined.address, credentials=joined.credential) as site:
        site.on_change(fail)
        until(lambda: site.connected, "the coordinator")
        site.learn(site.choose(np.eye(2)).id, 1.0)
        until(lambda: not site.unsent, "an acknowledgement")
    assert seen[-1] is SiteState.OFFLINE
    assert {each.getMessage() for each in caplog.records if each.exc_info} == {
        "what the program does when the site's state changes has failed"
    }
