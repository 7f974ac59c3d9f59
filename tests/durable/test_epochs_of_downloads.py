"""Whatever becomes of its journal, a coordinator sends nothing under a number that it has given to something else."""

import itertools

from fedbandit.durable.coordinator.renewal import FARTHEST_AHEAD, NO_EARLIER, SPREAD
from fedbandit.wire.frame import Frame, Kind, with_numbers
from samples.pair import asking, charter, copy_of, exchange, open_server, open_site, to_server, to_sites, turn

ASYNC = charter(sites=3)


def draws():
    """Numbers as different coordinators draw them."""
    numbers = itertools.count(5, 7)
    return lambda _: next(numbers)


def federation(**more):
    """A coordinator and sites that all share with each other."""
    server, sites = open_server(ASYNC, **more), [open_site(ASYNC, number) for number in range(3)]
    asking(server, sites, 1)
    for seed, site in enumerate(sites):
        turn(site, seed)
    exchange(server, sites)
    return server, sites


def downloads(frames):
    return [(site, data) for site, data in frames if Frame.from_bytes(data).kind is Kind.DOWNLOAD]


def numbers(frames):
    return {(frame.epoch, frame.sequence) for frame in (Frame.from_bytes(data) for _, data in downloads(frames))}


def after_a_turn(server, site, seed):
    """What a coordinator sends when a site has learnt something; nothing of it has arrived anywhere."""
    turn(site, seed)
    to_server(server, site.commit())
    return downloads(server.commit())


def test_a_download_of_a_lost_life_that_comes_late_is_not_taken_for_the_present_one():
    """No site can show that the journal is an old one: none has heard of what was lost."""
    draw = draws()
    server, sites = federation(random_below=draw)
    backup = copy_of(server.journal)
    late = after_a_turn(server, sites[0], seed=5)
    again = open_server(ASYNC, backup, random_below=draw)
    present = after_a_turn(again, sites[2], seed=6)
    assert numbers(late)
    assert numbers(present)
    assert not numbers(late) & numbers(present)
    to_sites(dict(enumerate(sites)), [*late, *present])
    asking(again, sites)
    latest = again.postbox.latest[1][-1]
    assert sites[1].life.version == (latest.epoch, int(latest.sequence))


def test_two_lives_from_one_backup_begin_different_epochs_though_they_hear_the_same():
    draw = draws()
    ask = with_numbers(Kind.ASK, 0, 9, 3, 7, 0, 7).to_bytes()
    begun = set()
    backup = open_server(ASYNC, random_below=draw).journal
    for _ in range(3):
        server = open_server(ASYNC, copy_of(backup), random_below=draw)
        server.receive(ask, 0.0, 0)
        begun.add(server.node.epoch)
    assert len(begun) == 3
    assert min(begun) > 9


def test_a_download_that_the_journal_does_not_know_is_noticed_though_its_epoch_is_passed():
    server, sites = federation()
    backup = copy_of(server.journal)
    turn(sites[0], 5)
    exchange(server, sites)
    again = open_server(ASYNC, backup, random_below=lambda _: 50)
    assert sites[1].life.version < (again.node.epoch, again.node.sent)
    to_server(again, sites[1].resend())
    to_sites(sites, again.commit())
    assert [each.kind for each in again.concerns] == ["coordinator-went-back"]
    assert [site.life.version[0] for site in sites] == [again.node.epoch] * 3


def test_the_epoch_of_a_start_is_in_the_journal_and_numbers_go_on():
    server, _ = federation()
    sent = server.node.sent
    again = open_server(ASYNC, server.journal, random_below=lambda _: 50)
    assert (again.node.epoch, again.node.sent) == (server.node.epoch + 50, sent)
    assert open_server(ASYNC, again.journal).node.epoch == again.node.epoch
    again.save()
    assert open_server(ASYNC, again.journal).node.epoch == again.node.epoch


def test_a_start_does_not_alarm_anybody_and_sends_nothing_anew():
    server, sites = federation()
    again = open_server(ASYNC, server.journal, random_below=lambda _: 50)
    for site in sites:
        to_server(again, site.resend())
    assert not downloads(again.commit())
    assert not list(again.concerns)


def test_no_number_of_starts_takes_epochs_farther_ahead_than_a_site_is_believed():
    farthest = NO_EARLIER + FARTHEST_AHEAD
    journal = open_server(ASYNC, epoch=farthest - SPREAD).journal
    for _ in range(20):
        epoch = open_server(ASYNC, journal, random_below=lambda most: most - 1).node.epoch
    assert epoch == farthest - 1
