"""Two sites with one number, and sites with another charter beside right ones, as a coordinator tells them apart."""

from __future__ import annotations

from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.site.client import DurableClient
from fedbandit.wire.frame import Frame, Kind, with_numbers
from samples.pair import charter, exchange, open_server, open_site, to_sites, turn

OURS = charter()
OTHERS = charter(ridge=0.7)


def concerns(server):
    return {(each.site, each.kind) for each in server.concerns}


def send(server, frames):
    return [server.receive(frame, 0.0, 0) for frame in frames]


def test_two_sites_that_ask_in_turns_under_one_number_are_noticed():
    server, first, second = open_server(OURS), open_site(OURS), open_site(OURS)
    for site in (first, second):
        send(server, site.resend())
    assert concerns(server) == set(), "a site that was opened again looks the same"
    send(server, first.resend())
    assert concerns(server) == {(0, "two-sites-one-number")}


def test_no_frame_opens_a_way_for_the_uploads_of_a_site_with_another_charter():
    server, site = open_server(OURS), open_site(OTHERS)
    turn(site)
    ask, *uploads = site.resend()
    epoch = Frame.from_bytes(uploads[0]).epoch
    assert uploads
    for frame in (
        with_numbers(Kind.CLOSE, 0, epoch, 9, epoch + 1).to_bytes(),
        with_numbers(Kind.VOID, 0, epoch, 5).to_bytes(),
    ):
        send(server, [ask, frame])
        assert {verdict.outcome for verdict in send(server, uploads)} == {Outcome.NOT_YET}
    assert concerns(server) == {(0, "another-charter")}
    assert not server.node.state.gram.any()


def test_a_site_with_another_charter_beside_one_with_the_right_one_keeps_its_uploads():
    server, strange, right = open_server(OURS), open_site(OTHERS), open_site(OURS)
    for site in (strange, right):
        turn(site)
    frames = strange.resend(), right.resend()
    for asks in (frames[0][:1], frames[1][:1]):  # the site whose epoch is later introduces itself last
        send(server, asks)
    assert {verdict.outcome for verdict in send(server, frames[0][1:])} == {Outcome.NOT_YET}
    assert {verdict.outcome for verdict in send(server, frames[1][1:])} == {Outcome.ACCEPTED}


def test_two_strange_sites_with_one_number_are_not_asked_for_ever():
    server, sites = open_server(OURS), [open_site(OTHERS), open_site(OTHERS)]
    for site in sites:
        turn(site)
        send(server, site.resend()[:1])
    server.commit()
    for site in sites:
        send(server, site.resend()[1:])
    answers = server.commit()
    for site in sites:
        to_sites([site], answers)
        assert not site.has_news, "told to wait, it does not ask at once"


def test_of_two_sites_with_one_number_that_ask_at_once_the_one_that_lacks_more_is_sent_it():
    server, sites = open_server(OURS), [open_site(OURS, 0), open_site(OURS, 1)]
    for seed in range(6):
        for site in sites:
            turn(site, seed)
        exchange(server, sites)
    version = sites[0].life.version
    assert version > (0, 0)
    send(server, [with_numbers(Kind.ASK, 0, 0, 0, 7, 0, 7).to_bytes()])
    send(server, [with_numbers(Kind.ASK, 0, *version, 8, 0, 8).to_bytes()])
    assert Kind.DOWNLOAD in {Frame.from_bytes(data).kind for _, data in server.commit()}


def test_a_restored_site_whose_clock_was_set_back_gets_a_life_of_its_own():
    disk, backup = MemoryJournal(), MemoryJournal()
    lives = [DurableClient(OURS, 0, fresh=2**40, journal=disk).life.decisions.life]
    backup.fill_from(disk)
    for fresh, journal in ((2**39 + 1, disk), (2**39 + 2, backup)):
        lives.append(DurableClient(OURS, 0, fresh=fresh, journal=journal).life.decisions.life)
    assert len(set(lives)) == 3, "to count on from the life before would give two lives one number"
    assert min(lives) == lives[0]
