"""A coordinator that went back in time is heard again by all its sites, and an operator is told."""

import pytest

from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.postbox import posted, version
from fedbandit.durable.coordinator.renewal import FARTHEST_AHEAD, NO_EARLIER, RENEWAL_SECONDS, RENEWALS
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.state import encode_state
from samples.pair import asking, charter, copy_of, exchange, open_server, open_site, turn

ASYNC = charter(sites=3)


def concerns(server):
    return [(each.kind, each.site) for each in server.concerns]


def restored(of=ASYNC, turns=6, snapshot=False, ahead=0):
    """A federation whose coordinator's journal was restored from a backup, and what the sites had before."""
    server = open_server(of)
    sites = [open_site(of, number) for number in range(of.setting.clients)]
    asking(server, sites, 1)
    for seed in range(2):
        for site in sites:
            turn(site, seed)
        exchange(server, sites)
    if snapshot:
        server.save()
    backup = copy_of(server.journal)
    for seed in range(2, 2 + turns):
        for site in sites:
            turn(site, seed)
        exchange(server, sites)
    return open_server(of, backup, random_below=lambda _: ahead), sites, server


@pytest.mark.parametrize("ahead", [0, 1000])
@pytest.mark.parametrize("snapshot", [False, True])
def test_after_a_backup_of_the_journal_is_restored_every_site_ends_with_the_newest_model(snapshot, ahead):
    server, sites, lost = restored(snapshot=snapshot, ahead=ahead)
    known = [site.life.version for site in sites]
    assert all(known[site] > version(some[-1]) for site, some in server.postbox.latest.items())
    asking(server, sites)
    turn(sites[0], seed=50)
    exchange(server, sites)
    assert server.node.epoch > lost.node.epoch
    for number, site in enumerate(sites):
        latest = server.postbox.latest[number][-1]
        assert site.life.version == (latest.epoch, int(latest.sequence)) > known[number]
    again = open_server(ASYNC, copy_of(server.journal))
    assert encode_state([again.node.memory, posted(again.postbox.latest_downloads())]) == encode_state(
        [server.node.memory, posted(server.postbox.latest_downloads())]
    ), "the new epoch is in the journal"


def test_an_operator_is_told_what_was_lost():
    server, sites, _ = restored()
    asking(server, sites)
    assert concerns(server) == [("coordinator-went-back", None)] + [("uploads-missing", site) for site in range(3)]
    texts = [each.text for each in server.concerns]
    assert texts[0].startswith("the coordinator went back in time: site 0 has download ")
    assert "site 1 has acknowledgements up to 8, this journal has 2: it is not whole; what was in 6 uploads" in texts[2]


def test_one_new_epoch_does_for_all_sites():
    server, sites, lost = restored()
    asking(server, sites)
    assert server.node.epoch == lost.node.epoch + 1


def test_a_site_that_has_no_download_yet_shows_it_too():
    """Else the first download after the loss would bear the number of one that may be under way still."""
    of = charter(sites=3)
    server, site = open_server(of), open_site(of, 0)
    backup = copy_of(server.journal)
    asking(server, [site], 1)
    turn(site, seed=0)
    for data in site.commit():
        server.receive(data, now=0.0)
    for _, data in server.commit():
        if Frame.from_bytes(data).kind is not Kind.DOWNLOAD:
            site.receive(data)
    assert site.life.version == (0, 0)
    again = open_server(of, backup)
    asking(again, [site])
    assert again.node.epoch == server.node.epoch + 1


def test_a_journal_that_is_begun_anew_with_an_earlier_clock_is_heard():
    _, sites, lost = restored()
    server = open_server(ASYNC, epoch=0)
    asking(server, sites)
    for site in sites:
        turn(site, seed=60)
    exchange(server, sites)
    assert server.node.epoch > lost.node.epoch
    assert {site.life.version for site in sites} == {(server.node.epoch, server.node.sent)}


@pytest.mark.parametrize("now", [0.0, 1.9e9])
def test_what_no_coordinator_can_have_sent_is_refused(now):
    server = open_server(ASYNC)
    farthest = int(max(now, NO_EARLIER) + FARTHEST_AHEAD)
    for epoch, outcome in ((farthest + 1, Outcome.REFUSED), (2**63, Outcome.REFUSED), (farthest, Outcome.ACCEPTED)):
        ask = with_numbers(Kind.ASK, 0, epoch, 1, 7, 0, 7)
        assert server.receive(ask.to_bytes(), now, 0).outcome is outcome
    assert server.node.epoch == farthest + 1


def test_a_site_that_lies_again_and_again_is_heard_now_and_then():
    server = open_server(ASYNC)
    begun = []

    def lie(now):
        before = server.node.epoch
        ask = with_numbers(Kind.ASK, 0, server.node.epoch, server.node.sent + 1, 7, 0, 7)
        assert server.receive(ask.to_bytes(), now, 0).outcome is Outcome.ACCEPTED
        begun.append(server.node.epoch - before)

    for _ in range(10):
        lie(now=0.0)
    assert begun == [1] * RENEWALS + [0] * (10 - RENEWALS)
    assert ("site-ahead-too-often", 0) in concerns(server)
    lie(now=RENEWAL_SECONDS)
    lie(now=RENEWAL_SECONDS)
    assert begun[-2:] == [1, 0]
    other = with_numbers(Kind.ASK, 1, server.node.epoch, server.node.sent + 1, 8, 0, 8)
    server.receive(other.to_bytes(), RENEWAL_SECONDS, 1)
    assert server.node.epoch == RENEWALS + 3, "what one site has used up, another has"
