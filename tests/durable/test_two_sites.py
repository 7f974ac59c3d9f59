"""Two sites with one number: nothing is acknowledged that was not taken in, and an operator is told."""

from dataclasses import replace

import numpy as np
import pytest

from fedbandit.core.seconds import HOUR
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.site_epochs import KEPT_DIGESTS
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.site.outbox import MOST_WAITING
from fedbandit.site.opening import fresh_number
from fedbandit.wire.frame import Frame, Kind, Standing
from samples.pair import charter, exchange, introduce, offer, open_server, open_site, to_server, to_sites, turn

ASYNC = charter()


def concerns(server):
    return [(each.kind, each.site) for each in server.concerns]


def clones(count=2, uploads=1):
    """A site with a store that has uploaded something, as often as somebody has copied the store since."""
    server, journal = open_server(ASYNC), MemoryJournal()
    first = open_site(ASYNC, journal=journal)
    for seed in range(uploads):
        turn(first, seed)
    exchange(server, [first])
    copies = []
    for _ in range(count):
        copy = MemoryJournal()
        copy.fill_from(journal)
        copies.append(open_site(ASYNC, journal=copy))
    for site in copies:
        to_server(server, site.resend())
        to_sites({0: site}, server.commit())
    return server, copies


def hear(sites, frames):
    """All that have one number listen to the same subject."""
    for _, frame in frames:
        for site in sites:
            site.receive(frame)


@pytest.mark.parametrize("with_snapshot", [False, True])
def test_other_content_under_a_number_that_was_taken_in_is_refused_and_told(with_snapshot):
    server, sites = clones()
    frames = []
    for seed, site in enumerate(sites):
        turn(site, seed=10 + seed)
        frames += [frame for frame in site.commit() if Frame.from_bytes(frame).kind is Kind.UPLOAD]
    assert len({Frame.from_bytes(frame).sequence for frame in frames}) == 1, "both give the same number"
    assert to_server(server, frames[:1]) == ["accepted"]
    server.commit()  # which is lost on its way
    if with_snapshot:
        server.save()
        server = open_server(ASYNC, server.journal)
    verdict = server.receive(frames[1], 0.0, 0)
    assert verdict.outcome is Outcome.REFUSED
    assert verdict.reason.startswith("two sites use number 0: ")
    assert concerns(server) == [("two-sites-one-number", 0)]
    assert to_server(server, frames[:1]) == ["repeated"], "and what was taken in is not"
    refusals = [each for each in server.commit() if Frame.from_bytes(each[1]).kind is Kind.REFUSAL]
    hear(sites, refusals)
    assert [len(site.life.outbox.refused) for site in sites] == [0, 1], "the one whose upload it was keeps it aside"


def test_the_site_that_was_refused_goes_on_in_an_epoch_of_its_own_and_loses_no_more():
    server, sites = clones()
    taken = []
    for seed in range(6):
        turn(sites[seed % 2], seed=20 + seed)
        taken.append(offer(20 + seed)[0, 0])
        for site in sites:
            to_server(server, site.commit())
        hear(sites, server.commit())
    for _ in range(2):
        for site in sites:
            to_server(server, site.resend())
        hear(sites, server.commit())
    aside = [each for site in sites for each in site.life.outbox.refused]
    assert not any(site.life.outbox.frames for site in sites)
    assert len({site.life.node.epoch for site in sites}) == 2
    assert server.node.state.uploads + len(aside) == 1 + len(taken)
    assert concerns(server) == [("two-sites-one-number", 0)]


def test_an_upload_that_comes_again_long_after_is_acknowledged():
    """Digests of the last uploads are kept, and no more."""
    server, site = open_server(ASYNC), open_site(ASYNC)
    for seed in range(KEPT_DIGESTS + 5):
        turn(site, seed)
    frames = site.commit()
    to_server(server, frames)
    assert set(to_server(server, frames)) == {"repeated"}
    assert sum(known.nbytes for known in server.accounts.look(0).known.values()) == 2 * 8 * KEPT_DIGESTS
    assert not list(server.concerns)


def test_two_sites_that_ask_by_turns_in_one_name_are_noticed_and_lose_nothing():
    server = open_server(ASYNC)
    sites = [open_site(ASYNC), open_site(ASYNC)]
    for seed, site in enumerate(sites):
        turn(site, seed)
        to_server(server, site.resend())
    hear(sites, server.commit())
    assert not concerns(server), "a site that is opened anew is nothing strange"
    assert server.node.state.uploads == 2
    to_server(server, sites[0].resend())
    assert concerns(server) == [("two-sites-one-number", 0)]
    wanted = sum(np.outer(offer(seed)[0, 0], offer(seed)[0, 0]) for seed in range(2))
    assert (server.node.state.gram == wanted).all()


def test_the_concern_is_over_when_only_one_site_has_asked_for_an_hour():
    server = open_server(ASYNC)
    sites = [open_site(ASYNC), open_site(ASYNC)]
    for each in (0, 1, 0):
        server.receive(sites[each].resend()[0], 10.0, 0)
    server.receive(sites[0].resend()[0], 10.0 + HOUR, 0)
    assert concerns(server) == [("two-sites-one-number", 0)]
    server.receive(sites[0].resend()[0], 11.0 + HOUR, 0)
    assert not concerns(server)


def test_two_sites_that_are_opened_in_one_second_are_told_apart(monkeypatch):
    """Without a store, or with one number given twice: each has an epoch of its own."""
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.5)
    numbers = {fresh_number() for _ in range(100)}
    assert len(numbers) == 100
    assert {number >> 30 for number in numbers} == {1_800_000_000}
    assert max(numbers) < 1 << 62
    server = open_server(ASYNC)
    sites = [type(open_site(ASYNC))(ASYNC, 0, fresh=fresh_number()) for _ in range(2)]
    for seed, site in enumerate(sites):
        turn(site, seed)
        frames = site.commit()
        introduce(server, frames)
        assert to_server(server, frames) == ["accepted"]


def test_a_refusal_of_a_number_is_heard_by_the_site_that_it_is_about():
    server, (one, other) = clones()
    turn(one, seed=1)
    turn(other, seed=2)
    to_server(server, one.commit() + other.commit())
    refusal = next(
        each for each in (Frame.from_bytes(data) for _, data in server.commit()) if each.kind is Kind.REFUSAL
    )
    assert refusal.standing is Standing.NUMBER_TAKEN
    for site in (one, other):
        site.receive(refusal.to_bytes())
    assert (len(one.life.outbox.refused), len(other.life.outbox.refused)) == (0, 1)


@pytest.mark.parametrize("is_sent", [True, False], ids=["under way", "not yet sent"])
def test_an_acknowledgement_that_was_meant_for_a_copy_costs_no_upload(is_sent):
    server, (one, other) = clones()
    turn(one, seed=50)
    to_server(server, one.commit())
    acknowledged = server.commit()
    turn(other, seed=51)
    under_way = other.commit() if is_sent else []
    hear([one, other], acknowledged)
    assert not other.life.outbox.frames, "it takes the acknowledgement for its own"
    other.save()
    assert other.has_news is not is_sent
    to_server(server, under_way + other.commit())
    assert other.commit() == []
    hear([one, other], server.commit())
    assert (len(one.refused), len(other.refused)) == (0, 1), "the copy has its own aside"
    turn(other, seed=52)
    to_server(server, other.commit())
    assert server.node.state.uploads == 3, "and goes on in an epoch of its own"
    again = open_site(ASYNC, journal=other.journal)
    assert (again.refused, again.life.last_upload) == (other.refused, other.life.last_upload)


def test_an_upload_that_was_acknowledged_in_the_place_of_anothers_is_sent_by_the_next_resend():
    server, (one, other) = clones()
    turn(one, seed=50)
    to_server(server, one.commit())
    turn(other, seed=51)
    hear([other], server.commit())
    to_server(server, other.resend())
    hear([other], server.commit())
    assert len(other.refused) == 1


def test_what_is_remembered_of_acknowledged_uploads_is_bounded():
    server, (one, other) = clones()
    for seed in range(MOST_WAITING + 3):
        turn(one, seed)
        turn(other, seed=1000 + seed)
        to_server(server, one.commit() + other.commit())
    frames = server.commit()
    refusals = [each for each in frames if Frame.from_bytes(each[1]).kind is Kind.REFUSAL]
    hear([other], [each for each in frames if each not in refusals])
    hear([other], refusals)
    assert len(other.refused) == MOST_WAITING


def test_what_a_clone_has_heard_outlives_its_restart():
    server, sites = clones()
    for seed, site in enumerate(sites):
        turn(site, seed=30 + seed)
        to_server(server, site.commit())
    hear(sites[1:], [each for each in server.commit() if Frame.from_bytes(each[1]).kind is Kind.REFUSAL])
    clone = sites[1]
    turn(clone, seed=40)
    clone.commit()
    again = open_site(ASYNC, journal=clone.journal)
    assert again.life.node.epoch == clone.life.node.epoch
    assert again.life.outbox.refused == clone.life.outbox.refused
    assert again.life.outbox.frames == clone.life.outbox.frames


@pytest.mark.parametrize("journal", [None, MemoryJournal()], ids=["without a store", "with a store"])
def test_what_a_site_seals_after_it_has_met_its_own_numbers_is_sent_in_a_new_epoch(journal):
    """Another process has gone on under this site's epoch; what is held back meanwhile is this site's alone."""
    server, site = open_server(ASYNC), open_site(ASYNC, journal=journal)
    turn(site, seed=1)
    exchange(server, [site])
    epoch = site.life.node.epoch
    other = open_site(ASYNC)
    turn(other, seed=2)
    stranger = replace(Frame.from_bytes(other.commit()[0]), epoch=epoch, sequence=2)
    assert to_server(server, [stranger.to_bytes()]) == ["accepted"]
    to_sites({0: site}, [each for each in server.commit() if Frame.from_bytes(each[1]).kind is Kind.ACKNOWLEDGEMENT])
    assert site.is_closing
    turn(site, seed=3)
    turn(site, seed=4)
    assert site.commit() == [], "they are held back"
    for _ in range(3):
        to_server(server, site.resend())
        to_sites({0: site}, server.commit())
        to_server(server, site.commit())
    assert site.life.node.epoch > epoch
    assert not site.life.outbox.frames
    wanted = sum(np.outer(offer(seed)[0, 0], offer(seed)[0, 0]) for seed in (1, 2, 3, 4))
    assert (server.node.state.gram == wanted).all(), "nothing is lost, and nothing counts twice"
    if journal is not None:
        again = open_site(ASYNC, journal=journal)
        assert again.life.last_upload == site.life.last_upload
