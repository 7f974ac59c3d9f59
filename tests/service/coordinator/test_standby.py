"""One that stands by: it waits while another has a journal, says so once, and is not active meanwhile."""

from __future__ import annotations

import asyncio
import logging

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.service.coordinator.coordinator import Coordinator
from fedbandit.service.coordinator.settings import FederationPlan, ServicePlan
from fedbandit.service.coordinator.standby import LOOK_SECONDS, RETRY_SECONDS, Standby
from samples.pair import charter


@pytest.fixture
def plan(tmp_path):
    return ServicePlan((FederationPlan("demo", charter()),), journal=str(tmp_path / "journals"), standby=True)


class Held:
    """A journal that another has for some looks."""

    def __init__(self, looks):
        self.looks, self.is_closed = looks, False

    def may_take(self):
        self.looks -= 1
        return self.looks < 0

    def close(self):
        self.is_closed = True


def waited(plan, monkeypatch, held, is_over=lambda: False):
    """The pauses of one that waits for a journal."""
    monkeypatch.setattr("fedbandit.service.coordinator.standby.waiting_for", lambda *where: held)
    pauses, standby = [], Standby(plan)

    async def pause(seconds):
        pauses.append(seconds)

    asyncio.run(standby.wait(pause, is_over))
    standby.close()
    assert held.is_closed
    return pauses


def test_it_waits_until_nobody_has_the_journal_and_says_so_once(plan, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "fedbandit.coordinator")
    assert waited(plan, monkeypatch, Held(looks=3)) == [LOOK_SECONDS] * 3
    assert caplog.messages == [f"standby: another coordinator has the journals in {plan.journal}; waiting"]


def test_it_waits_no_longer_than_it_is_to(plan, monkeypatch):
    is_over = iter([False, True])
    assert waited(plan, monkeypatch, Held(looks=9), lambda: next(is_over)) == [LOOK_SECONDS]


def test_what_is_wrong_at_the_first_start_is_raised_and_later_it_is_shown_and_logged_once(plan, caplog):
    pauses = []

    async def pause(seconds):
        pauses.append(seconds)

    standby, wrong = Standby(plan), InvalidInput("the journal cannot be read")
    with pytest.raises(InvalidInput, match="cannot be read"):
        asyncio.run(standby.failed(wrong, pause))
    standby.has_served()
    for _ in range(2):
        asyncio.run(standby.failed(wrong, pause))
    assert (standby.problem, pauses) == ("the journal cannot be read", [RETRY_SECONDS] * 2)
    assert caplog.messages == ["standby: the journal cannot be read"]
    standby.has_served()
    assert standby.problem == ""


def test_a_coordinator_that_stands_by_is_not_active_before_it_serves(plan):
    coordinator = Coordinator(plan)
    assert not coordinator.is_active
    assert coordinator.problem() == ""
