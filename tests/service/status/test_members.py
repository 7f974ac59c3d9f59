"""The status page knows sites by name, and does not worry about those that are gone."""

from __future__ import annotations

from fedbandit.durable.coordinator.roster import Roster
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.service.status.members import show_members
from fedbandit.service.status.telemetry import Telemetry


def test_sites_have_the_names_that_they_joined_under_and_whoever_is_gone_is_not_said_to_be_silent():
    roster, telemetry = Roster("demo", 4, MemoryJournal()), Telemetry("demo", "async-linucb", clients=4, now=0.0)
    roster.adopt([2], now=0.0)
    for name in ("north", "south"):
        roster.invite(name, name, until=9.0, days=1.0, now=0.0)
        roster.join(name, "key", now=1.0, sign=lambda _: "certificate")
    roster.invite("east", "token", until=9.0, days=1.0, now=1.0)
    for site in telemetry.sites[:3]:
        site.contact(now=1.0)

    def shown():
        show_members(telemetry.sites, roster)
        sites = telemetry.snapshot(now=1e6)["sites"]
        return {each["site"]: (each["name"], each["state"]) for each in sites}

    assert shown() == {0: ("north", "silent"), 1: ("south", "silent"), 2: ("", "silent"), 3: ("", "new")}
    roster.remove("north", now=2.0)
    roster.revoke("2", now=2.0)
    telemetry.watch.concerns.note("backlog", "site 0 has 1000 uploads", 2.0, 0)
    assert shown() == {0: ("north", "gone"), 1: ("south", "silent"), 2: ("", "gone"), 3: ("", "new")}
    assert telemetry.states(1e6)["gone"] == 2
    roster.invite("north", "again", until=9.0, days=1.0, now=3.0)
    assert shown()[0] == ("north", "gone")
    roster.join("again", "key", now=4.0, sign=lambda _: "certificate")
    assert shown()[0] == ("north", "trouble")
