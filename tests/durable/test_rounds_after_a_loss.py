"""Rounds go on after a coordinator has lost a part of them, and whenever it begins a new epoch of downloads."""

import numpy as np
import pytest

from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.state import encode_state
from samples.pair import asking, charter, copy_of, exchange, kinds, open_server, open_site, to_server, to_sites, turn

ASYNC = charter(sites=3)
ROUNDS = [charter("fldb-ogd"), charter("fedglb-ucb", sync_threshold=0.01), charter("fedego-lasso")]


@pytest.mark.parametrize("of", ROUNDS, ids=lambda of: of.algorithm.id)
@pytest.mark.parametrize("lost", ["all", "the end"])
def test_rounds_go_on(of, lost):
    """Wherever in a round the journal was lost, also before the first download, the next rounds come to an end."""
    server = open_server(of)
    sites = [open_site(of, number) for number in range(2)]
    asking(server, sites, 1)
    backup = copy_of(server.journal)
    for seed in range(3):
        turn_of_any(sites[0], seed)
        exchange(server, sites)
        if seed == 1 and lost == "the end":
            backup = copy_of(server.journal)
        if seed < 2:
            turn_of_any(sites[1], seed)
            exchange(server, sites)
    again = open_server(of, backup)
    asking(again, sites)
    for seed in range(3, 9):
        for site in sites:
            if not site.life.in_exchange:
                turn_of_any(site, seed)
        exchange(again, sites)
        asking(again, sites, 2)
        if seed > 5 and not any(site.life.in_exchange for site in sites):
            break
    assert not any(site.life.in_exchange or site.life.waiting for site in sites)
    assert not any(site.life.outbox.frames for site in sites)
    for number, site in enumerate(sites):
        latest = again.postbox.latest[number][-1]
        assert site.life.version == (latest.epoch, int(latest.sequence))


def turn_of_any(site, seed):
    shares = site.charter.algorithm.shares_context
    features = np.random.default_rng(seed).integers(-16, 17, (1, 3) if shares else (1, 2, 3)) / 32
    draws = np.random.default_rng(seed).standard_normal((1, site.draws))
    name, _ = site.choose(features, draws)
    site.learn(name, float(seed % 2))


def test_a_site_waits_no_longer_for_what_an_earlier_coordinator_was_to_send():
    of = ROUNDS[0]
    server, site = open_server(of), open_site(of, journal=MemoryJournal())
    turn_of_any(site, 0)
    turn_of_any(site, 1)
    exchange(server, [site])
    assert site.life.in_exchange
    assert len(site.life.waiting) == 1
    anew = open_server(of)
    to_server(anew, site.resend())
    answers = anew.commit()
    assert "RENEWED" in kinds(answers)
    to_sites({0: site}, answers)
    assert not site.life.waiting
    assert "UPLOAD" in kinds(site.commit()), "its next part of a round"
    again = open_site(of, journal=site.journal)
    assert again.life.version == site.life.version == (1, 0)
    assert encode_state(again.life.node.state) == encode_state(site.life.node.state)
    to_sites({0: site}, answers)
    assert site.life.in_exchange, "a repeated word changes nothing"
    to_server(anew, site.resend())
    assert "RENEWED" not in kinds(anew.commit()), "it is told once that it has heard"
    assert not anew.accounts.stranded


def test_a_site_of_the_first_version_is_not_sent_what_it_does_not_know():
    of = ROUNDS[0]
    server = open_server(of)
    ask = with_numbers(Kind.ASK, 0, 0, 0, 7, 3, 7, is_old=True)
    server.receive(ask.to_bytes(), 0.0, 0)
    assert [Frame.from_bytes(data).kind for _, data in server.commit()] == [Kind.ACKNOWLEDGEMENT]


def test_what_is_left_of_an_earlier_epoch_is_acknowledged_though_the_journal_lacks_what_was_before_it():
    server, site = open_server(ASYNC), open_site(ASYNC)
    asking(server, [site], 1)
    backup = copy_of(server.journal)
    turn(site)
    exchange(server, [site])
    turn(site, 1)
    site.commit()
    left = site.life.last_upload
    assert left[1] > 1
    site.life.begin_epoch(left[0] + 1, anew=False)
    server = open_server(ASYNC, backup)
    asking(server, [site])
    assert not site.life.outbox.frames
    assert server.node.seen.look(0, left[0]).up_to == left[1]


def test_a_site_whose_last_upload_alone_was_lost_goes_on():
    """It has no later download than the coordinator, but waits for the end of a round that nobody knows of."""
    of = ROUNDS[0]
    server, sites = open_server(of), [open_site(of, number) for number in range(2)]
    for site in sites:
        turn_of_any(site, 0)
    exchange(server, sites)
    again = open_server(of, copy_of(server.journal))
    turn_of_any(sites[0], 1)
    exchange(server, sites)
    assert sites[0].life.in_exchange
    assert sites[0].life.version == (again.node.epoch, again.node.sent)
    asking(again, sites)
    assert not sites[0].life.in_exchange
    for site in sites:
        turn_of_any(site, 2)
    exchange(again, sites)
    assert not any(site.life.in_exchange for site in sites)
    assert {site.life.version for site in sites} == {(again.node.epoch, again.node.sent)}


def test_who_has_answered_in_an_open_round_is_not_asked_once_more():
    of = charter("sync-linucb", sites=3, sync_threshold=0.0)
    server, sites = open_server(of), [open_site(of, number) for number in range(3)]
    turn(sites[0])
    to_server(server, sites[0].commit())
    calls = dict(server.commit())
    sites[1].receive(calls[1])
    to_server(server, sites[1].commit())
    server.commit()
    assert server.awaited().tolist() == [2]
    lie = with_numbers(Kind.ASK, 0, server.node.epoch, server.node.sent + 1, 7, 0, 7)
    server.receive(lie.to_bytes(), 0.0, 0)
    frames = [(site, Frame.from_bytes(data)) for site, data in server.commit()]
    assert [site for site, frame in frames if frame.kind is Kind.DOWNLOAD] == [2]
