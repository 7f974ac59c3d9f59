"""A site keeps what it has until the coordinator has it, across restarts, and never gives a number twice."""

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.site.outbox import KEPT_REFUSED, KEPT_REFUSED_BYTES, Outbox
from fedbandit.wire.frame import Frame, Kind, read_header, refusal
from fedbandit.wire.state import encode_state
from samples.pair import NO_LOTS, charter, exchange, kinds, offer, open_server, open_site, to_server, to_sites, turn

ASYNC = charter()


def numbers(frames):
    read = [Frame.from_bytes(frame) for frame in frames]
    return [(each.epoch, each.sequence) for each in read if each.kind is Kind.UPLOAD]


def backup(journal):
    copy = MemoryJournal()
    copy.fill_from(journal)
    return copy


def test_an_upload_is_sent_until_it_is_acknowledged():
    site, server = open_site(ASYNC), open_server(ASYNC)
    turn(site)
    first = site.commit()
    assert site.commit() == [], "it is new only once"
    assert numbers(site.resend()) == numbers(site.resend()) == numbers(first)
    exchange(server, [site])
    to_server(server, site.resend())
    to_sites({0: site}, server.commit())
    assert numbers(site.resend()) == []


def test_nothing_leaves_before_the_store_is_synced():
    journal = MemoryJournal()
    site = open_site(ASYNC, journal=journal)
    turn(site)
    journal.crash(survivors=0)
    assert open_site(ASYNC, journal=journal).life.node.sent.tolist() == [0]
    site = open_site(ASYNC, journal=journal)
    turn(site)
    site.commit()
    journal.crash(survivors=0)
    assert open_site(ASYNC, journal=journal).life.node.sent.tolist() == [1]


@pytest.mark.parametrize("with_snapshot", [False, True])
def test_a_site_that_restarts_from_its_store_goes_on_with_its_epoch_and_numbers(with_snapshot):
    journal, server = MemoryJournal(), open_server(ASYNC)
    site = open_site(ASYNC, journal=journal)
    for seed in range(3):
        turn(site, seed)
    waiting, _ = site.choose(offer(8), NO_LOTS)
    sent = site.commit()
    if with_snapshot:
        site.save()
    state = encode_state(site.life.node.state)
    again = open_site(ASYNC, journal=journal)
    assert encode_state(again.life.node.state) == state
    assert numbers(again.resend()) == numbers(sent)
    assert again.learn(waiting, 1.0), "a decision from before the restart can still be rewarded"
    exchange(server, [again])
    to_server(server, again.resend())
    to_sites({0: again}, server.commit())
    epoch = site.life.node.epoch
    assert numbers(again.commit()) == [(epoch, 4)]


def test_what_a_reopened_site_seals_is_held_until_the_coordinator_has_told_what_it_has():
    journal, server = MemoryJournal(), open_server(ASYNC)
    site = open_site(ASYNC, journal=journal)
    turn(site)
    site.commit()
    site = open_site(ASYNC, journal=journal)
    turn(site, seed=1)
    assert numbers(site.commit()) == []
    assert [number for _, number in numbers(site.resend())] == [1]
    to_server(server, site.resend())
    to_sites({0: site}, server.commit())
    assert [number for _, number in numbers(site.commit())] == [2]


def test_a_site_that_restarts_from_nothing_begins_a_new_epoch():
    first, second = open_site(ASYNC), open_site(ASYNC)
    turn(first)
    turn(second)
    assert numbers(first.commit())[0][0] != numbers(second.commit())[0][0]


def restored_after(told):
    """A site that uploads twice, of which a backup from between the two is then restored; what server and site have."""
    journal, server = MemoryJournal(), open_server(ASYNC)
    site = open_site(ASYNC, journal=journal)
    turn(site, seed=1)
    exchange(server, [site])
    old = backup(journal)
    turn(site, seed=2)
    exchange(server, [site])
    again = open_site(ASYNC, journal=old, restored=told)
    turn(again, seed=3)
    for _ in range(3):
        to_server(server, again.resend())
        to_sites({0: again}, server.commit())
    return server, site, again


@pytest.mark.parametrize("told", [True, False])
def test_a_site_that_restarts_from_an_old_backup_begins_a_new_epoch(told):
    server, site, again = restored_after(told)
    assert again.life.node.epoch > site.life.node.epoch
    assert server.node.state.uploads == 3
    wanted = sum(np.outer(offer(seed)[0, 0], offer(seed)[0, 0]) for seed in (1, 2, 3))
    assert (server.node.state.gram == wanted).all(), "nothing is lost and nothing counts twice"


def test_a_refused_upload_is_put_aside_and_its_number_is_made_void():
    site, server = open_site(ASYNC), open_server(ASYNC)
    for seed in range(2):
        turn(site, seed)
    frames = site.commit()
    first = Frame.from_bytes(frames[0])
    site.receive(refusal(first, "too large", for_good=True).to_bytes())
    assert [each.reason for each in site.life.outbox.refused] == ["too large"]
    assert kinds(site.commit()) == ["VOID"]
    to_server(server, site.resend())
    to_sites({0: site}, server.commit())
    assert not site.life.outbox.frames
    assert server.node.state.uploads == 1


@pytest.mark.parametrize(("size", "kept"), [(10, KEPT_REFUSED), (KEPT_REFUSED_BYTES // 3, 2), (KEPT_REFUSED_BYTES, 1)])
def test_of_refused_uploads_the_last_are_kept_and_all_are_counted(size, kept):
    outbox, count = Outbox(), KEPT_REFUSED + 5
    for number in range(1, count + 1):
        upload = Frame(Kind.UPLOAD, 0, 7, number, bytes(size))
        outbox.put(upload)
        assert outbox.refuse(refusal(upload, "too large", for_good=True))
    assert [each.sequence for each in outbox.refused] == list(range(count - kept + 1, count + 1))
    assert outbox.forgotten == count - kept
    assert len(outbox.frames) == count, "every number is made void"


def test_an_upload_that_is_refused_for_now_is_sent_again():
    site = open_site(ASYNC)
    turn(site)
    first = Frame.from_bytes(site.commit()[0])
    site.receive(refusal(first, "too many", for_good=False).to_bytes())
    assert numbers(site.resend()) == [(first.epoch, 1)]


@pytest.mark.parametrize("kind", [Kind.UPLOAD, Kind.ASK, Kind.VOID, Kind.CLOSE])
def test_a_coordinator_may_not_send_what_sites_send(kind):
    bodies = {Kind.ASK: bytes(36), Kind.CLOSE: bytes(8)}
    with pytest.raises(ProtocolError, match="a coordinator may not send"):
        open_site(ASYNC).receive(Frame(kind, 0, 1, 1, bodies.get(kind, b"")).to_bytes())


def test_a_frame_for_another_site_is_refused():
    with pytest.raises(ProtocolError, match="a frame for site 1 with number 1 came to 0"):
        open_site(ASYNC).receive(Frame(Kind.DOWNLOAD, 1, 1, 1).to_bytes())


def test_a_download_that_is_not_right_changes_nothing():
    site, server = open_site(ASYNC), open_server(ASYNC)
    other = open_site(ASYNC, 1)
    turn(site)
    turn(other)
    to_server(server, site.commit() + other.commit())
    download = next(
        frame for number, frame in server.commit() if number == 0 and read_header(frame).kind is Kind.DOWNLOAD
    )
    state = encode_state(site.life.node.state)
    for wrong in (download[:-3], download[:40] + b"\xff" * 8 + download[48:]):
        with pytest.raises(ProtocolError):
            site.receive(wrong)
    assert encode_state(site.life.node.state) == state
    assert site.life.version == (0, 0)


def test_a_store_belongs_to_one_site_of_one_federation():
    journal = MemoryJournal()
    open_site(ASYNC, 0, journal)
    with pytest.raises(InvalidInput, match="the store belongs to site 0, not to 1"):
        open_site(ASYNC, 1, journal)
    with pytest.raises(InvalidInput, match="the store belongs to another federation"):
        open_site(charter(ridge=3.0), 0, journal)


def test_a_store_that_is_opened_for_a_few_turns_at_a_time_does_not_grow():
    journal, of = MemoryJournal(), charter()
    most = 0
    for opening in range(40):
        site = open_site(of, journal=journal, snapshot_every=50)
        for number in range(8):
            turn(site, 8 * opening + number)
            site.commit()
            site.maintain()
        snapshot = journal.snapshot()
        most = max(most, len(list(journal.records(snapshot.position if snapshot else 0))))
    assert most < 60, "records since the last snapshot"
