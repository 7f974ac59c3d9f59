"""What a federation has agreed on changes while it runs, at the coordinator, at sites that are there, and at others."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.retuning import Retuned, Tuning
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.protocol.changing import changed
from fedbandit.protocol.ending import Ending
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from samples.pair import (
    NO_LOTS,
    asking,
    charter,
    copy_of,
    exchange,
    kinds,
    offer,
    open_server,
    open_site,
    to_server,
    to_sites,
    turn,
)
from samples.revising import EAGER, NEVER, federation, revise, state_of


def test_a_change_reaches_sites_that_are_there_at_once():
    server, sites = federation()
    for site in sites:
        turn(site)
    exchange(server, sites)
    revise(server, NEVER)
    answers = server.commit()
    assert kinds(answers) == ["CHARTER", "CHARTER"]
    to_sites(sites, answers)
    for site in sites:
        assert (site.revisions, site.charter.algorithm.upload_threshold) == (1, 1e9)
        turn(site, seed=2)
        assert not site.unsent
    revise(server, EAGER)
    to_sites(sites, server.commit())
    turn(sites[0], seed=1)
    assert (sites[0].revisions, sites[0].unsent, sites[0].disagreement) == (2, 1, "")


def test_a_site_that_was_away_goes_on_is_heard_and_hears_of_all_changes_when_it_asks():
    server, sites = federation()
    revise(server, EAGER)
    revise(server, {"noise": 0.5})
    server.commit()  # lost
    turn(sites[0], seed=1)
    turn(sites[0], seed=2)
    frames = sites[0].commit()
    assert to_server(server, frames) == ["accepted"] * len(frames)
    asking(server, sites)
    assert [(site.revisions, site.charter.algorithm.noise, site.disagreement) for site in sites] == [(2, 0.5, "")] * 2
    assert [each.kind for each in server.concerns] == []


def test_the_charter_is_in_the_journal_before_anybody_hears_of_it():
    server, _ = federation()
    revise(server, EAGER)
    server.journal.crash(survivors=0)  # before any commit
    assert open_server(server.given, server.journal).charter.algorithm.upload_threshold == 1.0


def test_what_was_agreed_on_last_is_known_after_a_restart_with_and_without_a_snapshot():
    server, sites = federation()
    revise(server, EAGER, **{"limits.reward": 1.0})
    to_sites(sites, server.commit())
    sites[0].commit()
    for has_snapshot in (False, True):
        if has_snapshot:
            server.save()
            sites[0].unchecked = None
            sites[0].save()
        again = open_server(server.given, copy_of(server.journal))
        site = open_site(server.given, 0, copy_of(sites[0].journal))
        assert (again.agreed, again.retuned) == (server.agreed, server.retuned)
        assert again.validation.limits.bounds.reward == 1.0
        assert (site.life.agreed, site.charter.limits) == (sites[0].life.agreed, {"reward": 1.0})


def test_a_file_or_a_program_may_say_what_was_agreed_on_before_or_is_now_and_nothing_else():
    server, sites = federation()
    revise(server, EAGER)
    revise(server, {"noise": 0.5})
    to_sites(sites, server.commit())
    sites[0].commit()
    former = [charter(upload_threshold=2.0), charter(), charter(noise=0.5)]
    for each in former:
        assert open_server(each, copy_of(server.journal)).agreed == server.agreed
        assert open_site(each, 0, copy_of(sites[0].journal)).life.agreed == sites[0].life.agreed
    for other in (charter(upload_threshold=2.0, noise=0.5), charter("sync-linucb")):
        with pytest.raises(InvalidInput, match="the journal belongs to another federation"):
            open_server(other, copy_of(server.journal))
        with pytest.raises(InvalidInput, match="the store belongs to another federation"):
            open_site(other, 0, copy_of(sites[0].journal))


def test_a_file_that_was_read_again_is_known_when_the_coordinator_starts():
    server, _ = federation()
    revise(server, EAGER)
    file = charter(upload_threshold=2.0, noise=0.5)
    server.revise(changed(server.charter, {"noise": 0.5}), server.retuned.with_file(file.fingerprint), 0.0)
    assert open_server(file, copy_of(server.journal)).charter == charter(noise=0.5)


def test_the_log_replayed_gives_the_same_state_through_changes():
    server, sites = federation()
    for number, values in enumerate([EAGER, {"download_threshold": 3.0}, {"exploration": "igw", "noise": 0.3}]):
        for site in sites:
            turn(site, seed=number)
        exchange(server, sites)
        revise(server, values)
        to_sites(sites, server.commit())
    again = replay(server.given, server.journal.records())
    assert encode_state(again.state) == state_of(server) == state_of(open_server(server.given, copy_of(server.journal)))


def test_a_site_is_the_same_after_a_restart_whenever_it_was_changed():
    server, sites = federation()
    for number, values in enumerate([EAGER, {"exploration": "igw"}, {"exploration": "ucb", "alpha": 0.2}]):
        revise(server, values)
        to_sites(sites, server.commit())
        name, _ = sites[0].choose(np.full((1, 2, 3), number / 4), np.zeros((1, sites[0].draws)))
        sites[0].learn(name, 0.5)
        exchange(server, sites)
        sites[0].flush()
        assert state_of(open_site(server.given, 0, copy_of(sites[0].journal))) == state_of(sites[0])


def test_limits_hold_from_a_change_on():
    server, sites = federation(of=charter(upload_threshold=1.0))
    turn(sites[0], reward=5.0)
    revise(server, **{"limits.reward": 1.0})
    frames = sites[0].commit()
    assert "refused" in to_server(server, frames)
    assert server.validation.limits.bounds == Bounds(reward=1.0)
    revise(server, **{"limits.reward": 8.0})
    turn(sites[1], reward=5.0)
    assert set(to_server(server, sites[1].commit())) == {"accepted"}


def test_whichever_of_the_file_and_a_change_is_the_last_holds():
    file = Tuning(Limits(Bounds(reward=1.0)), 30.0, Ending(60.0, 0.5))
    given = {"limits.reward": 2.0, "deadline": 5.0, "expires": 90.0, "default_reward": None, "limits.epochs": 7}
    retuned = Retuned().with_values(given, file)
    assert retuned.on(file) == Tuning(Limits(Bounds(reward=2.0), epochs=7), 5.0, Ending(90.0))
    edited = Tuning(Limits(Bounds(reward=3.0)), None, Ending(70.0, 0.5))
    assert retuned.on(edited) == Tuning(Limits(Bounds(reward=3.0), epochs=7), None, Ending(70.0))


def test_decisions_end_by_what_was_changed_last():
    server, sites = federation()
    site = sites[0]
    name, _ = site.choose(offer(), NO_LOTS, now=100.0)
    site.settle(now=200.0)
    revise(server, expires=60.0, default_reward=0.25)
    to_sites(sites, server.commit())
    assert site.charter.ending == Ending(60.0, 0.25)
    site.settle(now=201.0)
    assert (site.pending, site.learn(name, 1.0)) == (0, False)
    site.flush()
    assert open_site(server.given, 0, copy_of(site.journal)).charter.ending == Ending(60.0, 0.25)


def test_a_lost_change_that_is_made_again_is_the_same_and_another_is_not():
    server, sites = federation()
    backup = copy_of(server.journal)
    revise(server, EAGER)
    to_sites(sites, server.commit())
    turn(sites[0], seed=1)
    restored = open_server(server.given, backup)
    asking(restored, sites, rounds=1)
    assert "has lost a change: make it again" in sites[0].disagreement
    assert sites[0].unsent == 1
    assert "another-charter" in {each.kind for each in restored.concerns}
    revise(restored, EAGER)
    to_sites(sites, restored.commit())
    asking(restored, sites)
    assert (restored.agreed, sites[0].disagreement, sites[0].unsent) == (server.agreed, "", 0)


def test_the_journal_says_what_was_changed_and_when():
    server, _ = federation()
    revise(server, EAGER, now=7.0)
    record = ServerRecord.from_bytes(list(server.journal.records())[-1].data)
    assert (record.what, record.time) == (RecordKind.REVISED, 7.0)
