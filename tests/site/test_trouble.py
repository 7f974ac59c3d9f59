"""What a site makes of trouble: a full disk, refusals, a coordinator that is away; and what it tells of it."""

from __future__ import annotations

import asyncio
import logging

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.site.condition import SiteState
from fedbandit.wire.frame import Frame, Kind, refusal
from fedbandit.wire.state import encode_state
from samples.local_coordinator import LocalCoordinator
from samples.waiting import until

ARMS = np.eye(2)
FEDERATION = {"dimension": 2, "clients": 2, "upload_threshold": 1.0, "smallest_upload": 1}


def site(**more):
    return fb.Site("async-linucb", **{**FEDERATION, **more})


class Disk:
    """The disk of a site's store, which can be full."""

    def __init__(self, one):
        self._file = one.node.journal._file

    def fill(self):
        (pages,) = self._file.execute("PRAGMA page_count").fetchone()
        self._file.execute(f"PRAGMA max_page_count={pages}")

    def free(self):
        self._file.execute("PRAGMA max_page_count=1000000")


def use_up(one):
    """Decide until the store takes no more; return what could be decided."""
    decisions = []

    def on_and_on():
        while True:
            decisions.append(one.choose(ARMS))

    with pytest.raises(fb.InvalidInput, match="full"):
        on_and_on()
    return decisions


def test_a_full_disk_is_told_to_the_caller_and_loses_nothing(tmp_path):
    with site(store=tmp_path / "site.db") as one:
        disk = Disk(one)
        disk.fill()
        decisions = use_up(one)
        pending = one.pending
        for use in (lambda: one.choose(ARMS), lambda: one.learn(decisions[0], 1.0)):
            with pytest.raises(fb.InvalidInput, match="full"):
                use()
        assert one.pending == pending, "nothing changes while nothing can be kept"
        disk.free()
        assert [one.learn(each, 1.0) for each in decisions] == [True] * len(decisions)
    with site(store=tmp_path / "site.db") as again:
        assert [again.learn(each, 1.0) for each in decisions] == [False] * len(decisions)


def test_a_site_in_a_thread_outlives_a_full_disk_and_shows_it(tmp_path, caplog):
    one = site(store=tmp_path / "site.db")
    disk = Disk(one)
    disk.fill()
    decisions = use_up(one)
    coordinator = LocalCoordinator(one.charter)
    one.connect(coordinator.connector(0), every=0.02, patience=0.01)
    until(lambda: one.state is SiteState.FAILING, "the site to show it")
    assert "full" in one.trouble
    until(lambda: coordinator.attempts > 3, "some more attempts")
    disk.free()
    one.learn(decisions[0], 1.0)
    until(lambda: one.state is SiteState.CONNECTED and not one.unsent, "all to be well")
    assert one.trouble == ""
    one.close()
    told = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert len(told) == 1
    assert told[0].startswith("failing: ")
    assert coordinator.server.node.state.uploads == 1


def test_a_reward_beyond_the_limits_costs_no_other():
    one = site(upload_threshold=1e6, limits={"context": 1.0, "reward": 1.0})
    decision = one.choose(ARMS)
    before = encode_state(one.policy()._state)
    with pytest.raises(fb.InvalidInput, match="reward 1000 is farther from 0 than the limit of 1"):
        one.learn(decision, 1000)
    with pytest.raises(fb.InvalidInput, match="more than the limit of 1"):
        one.choose(3 * ARMS)
    assert one.pending == 1
    assert encode_state(one.policy()._state) == before
    assert one.learn(decision, 1)


def test_an_upload_that_is_refused_for_good_is_logged_once_with_its_reason(caplog):
    one = site()
    server = DurableServer(one.charter, MemoryJournal(), epoch=1, now=0.0, limits=Limits(Bounds(1.0, 1.0)))
    one.learn(one.choose(ARMS), 1000)
    for _ in range(3):
        for frame in one.everything():
            server.receive(frame, 0.0, 0)
        for _, answer in server.commit():
            assert one.hear(answer) == ""
    (reason,) = one.refused
    assert "more than 1 observations of length 1 with rewards up to 1" in reason
    told = [each.getMessage() for each in caplog.records]
    assert told == [f"the coordinator refused upload 1 for good, with all it held: {reason}"]


def test_a_refusal_for_now_is_shown_until_the_coordinator_takes_in_something():
    one = site()
    one.learn(one.choose(ARMS), 1.0)
    upload = Frame.from_bytes(one.news()[0])
    assert one.hear(refusal(upload, "more than its rate", for_good=False).to_bytes()) == "more than its rate"
    server = DurableServer(one.charter, MemoryJournal(), epoch=1, now=0.0)
    for frame in one.everything():
        if Frame.from_bytes(frame).kind is Kind.ASK:
            server.receive(frame, 0.0, 0)
    heard = [one.hear(answer) for _, answer in server.commit()]
    assert heard == ["more than its rate"], "that it knows the site does not mean that it has taken in anything"
    for frame in one.everything():
        server.receive(frame, 0.0, 0)
    assert {one.hear(answer) for _, answer in server.commit()} == {""}


def test_a_site_shows_how_it_stands_at_any_time():
    async def program():
        one = site()
        seen = [one.state]
        coordinator = LocalCoordinator(one.charter)
        coordinator.is_up = False
        talk = asyncio.ensure_future(one.run(coordinator.connector(0), patience=0.0))
        while not one.trouble:
            await asyncio.sleep(0)
        seen.append((one.state, one.trouble))
        coordinator.is_up = True
        while one.state is not SiteState.CONNECTED:
            await asyncio.sleep(0)
        one.close()
        await talk
        return [*seen, one.state]

    assert asyncio.run(program()) == [
        SiteState.OFFLINE,
        (SiteState.CONNECTING, "no connection to the coordinator (the coordinator is down)"),
        SiteState.OFFLINE,
    ]
