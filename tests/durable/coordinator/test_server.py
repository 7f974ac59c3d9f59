"""A coordinator forgets nothing that it has acknowledged, and takes nothing in twice."""

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.postbox import posted
from fedbandit.durable.journals.journal import MemoryJournal, open_journal
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.state import encode_state
from samples.pair import acknowledgements, charter, exchange, kinds, open_server, open_site, to_server, to_sites, turn

ASYNC = charter()


def uploads(number=0, count=3, of=ASYNC):
    site = open_site(of, number)
    for seed in range(count):
        turn(site, seed)
    return site, site.commit()


def test_an_acknowledgement_names_site_epoch_and_the_highest_number_below_which_nothing_is_missing():
    site, frames = uploads(count=4)
    server, epoch = open_server(ASYNC), site.life.node.epoch
    to_server(server, [frames[1], frames[0], frames[3]])
    assert acknowledgements(server.commit()) == [(0, epoch, 2)]
    to_server(server, [frames[2]])
    assert acknowledgements(server.commit()) == [(0, epoch, 4)]


def test_nothing_leaves_before_the_journal_is_synced():
    journal = MemoryJournal()
    server = open_server(ASYNC, journal)
    to_server(server, uploads()[1])
    journal.crash(survivors=0)
    assert open_server(ASYNC, journal).node.state.uploads == 0
    server = open_server(ASYNC, journal)
    to_server(server, uploads()[1])
    assert "ACKNOWLEDGEMENT" in kinds(server.commit())
    journal.crash(survivors=0)
    assert open_server(ASYNC, journal).node.state.uploads == 3


def test_many_uploads_are_synced_at_once():
    journal = MemoryJournal()
    server = open_server(ASYNC, journal)
    synced = []
    sync, journal.sync = journal.sync, lambda *up_to: (synced.append(1), sync(*up_to))
    to_server(server, uploads(0)[1] + uploads(1)[1])
    server.commit()
    assert len(synced) == 1


def test_an_upload_that_comes_again_changes_nothing_and_is_acknowledged_again():
    server = open_server(ASYNC)
    site, frames = uploads(count=1)
    assert to_server(server, [frames[0], frames[0]]) == ["accepted", "repeated"]
    server.commit()
    state = encode_state(server.node.state)
    assert to_server(server, frames) == ["repeated"]
    assert acknowledgements(server.commit()) == [(0, site.life.node.epoch, 1)]
    assert encode_state(server.node.state) == state


def test_a_site_that_asks_gets_its_latest_download_unless_it_has_it():
    server = open_server(ASYNC)
    site, frames = uploads(0)
    other = open_site(ASYNC, 1)
    turn(other)
    to_server(server, frames + other.commit())
    server.commit()  # all that it sends is lost
    to_server(server, site.resend())
    answers = server.commit()
    assert kinds(answers) == ["ACKNOWLEDGEMENT", "DOWNLOAD"]
    to_sites({0: site}, answers)
    to_server(server, site.resend())
    assert kinds(server.commit()) == ["ACKNOWLEDGEMENT"]


def test_of_several_downloads_to_a_site_only_the_last_is_sent():
    server = open_server(ASYNC)
    to_server(server, uploads(0, count=5)[1] + uploads(1, count=5)[1])
    downloads = [Frame.from_bytes(frame) for _, frame in server.commit()]
    numbers = [each.sequence for each in downloads if each.kind is Kind.DOWNLOAD and each.client == 0]
    assert numbers == [server.node.sent]


@pytest.mark.parametrize("with_snapshot", [False, True])
@pytest.mark.parametrize("url", ["sqlite", "postgresql"])
def test_a_coordinator_that_is_opened_again_is_the_same_bit_for_bit(url, with_snapshot, tmp_path, request):
    place = str(tmp_path) if url == "sqlite" else request.getfixturevalue("postgres_url")
    name = f"bit-for-bit-{with_snapshot}"
    server = open_server(ASYNC, open_journal(place, name))
    sites = [uploads(0)[0], uploads(1)[0]]
    for number, site in enumerate(sites):
        to_server(server, site.resend(), number)
        server.commit()
        if with_snapshot and number == 0:
            server.save()
    before = [server.node.memory, server.accounts, posted(server.postbox.latest_downloads())]
    server.journal.close()
    again = open_server(ASYNC, open_journal(place, name))
    assert encode_state([again.node.memory, again.accounts, posted(again.postbox.latest_downloads())]) == encode_state(
        before
    )
    again.journal.close()


def test_snapshots_are_taken_when_they_are_due():
    server = open_server(ASYNC, snapshot_every=3)
    frames = uploads(count=4)[1]
    taken = []
    for frame in frames:
        to_server(server, [frame])
        server.commit()
        taken.append(server.maintain())
    assert taken == [False, True, False, False], "the record of the beginning counts"
    assert server.journal.snapshot() is not None


def test_a_journal_of_another_federation_is_refused():
    journal = MemoryJournal()
    open_server(ASYNC, journal)
    with pytest.raises(InvalidInput, match="the journal belongs to another federation"):
        open_server(charter(ridge=2.0), journal)


def test_two_federations_do_not_touch_each_other(tmp_path):
    """The same uploads, at a coordinator of one federation and at one of two that share a folder."""
    sync = charter("sync-linucb")
    alone = open_server(ASYNC)
    to_server(alone, uploads()[1])
    alone.commit()
    one = open_server(ASYNC, open_journal(str(tmp_path), "one"))
    other = open_server(sync, open_journal(str(tmp_path), "other"))
    site = uploads()[0]
    strangers = uploads(of=sync)[1]
    to_server(other, strangers)
    to_server(one, site.resend(), 0)
    other.commit()
    one.commit()
    untouched = encode_state(other.node.state)
    assert encode_state(one.node.state) == encode_state(alone.node.state)
    to_server(one, uploads(1)[1])
    one.commit()
    assert encode_state(other.node.state) == untouched


def test_memory_is_proportional_to_the_sites():
    """A thousand sites with an epoch of their own take a thousand windows, not a thousand times a thousand numbers."""
    of = charter(sites=1000)
    server = open_server(of)
    for number in range(0, 1000, 20):
        to_server(server, uploads(number, count=1, of=of)[1])
    assert len(server.node.seen.windows) == 50
    assert sum(len(window.early) for window in server.node.seen.windows.values()) == 0


SYNC = charter("sync-linucb", sites=3, sync_threshold=0.0)


def test_a_round_waits_for_those_who_have_not_answered():
    server = open_server(SYNC)
    assert server.awaited().tolist() == []
    to_server(server, uploads(0, 1, SYNC)[1])
    assert server.awaited().tolist() == [1, 2]


def test_a_deadline_closes_the_round_with_those_who_answered():
    server = open_server(SYNC)
    sites = [open_site(SYNC, number) for number in range(3)]
    turn(sites[0])
    turn(sites[1], seed=1)
    to_server(server, sites[0].commit() + sites[1].commit())
    server.commit()
    assert server.deadline(now=1.0).tolist() == [2]
    frames = server.commit()
    assert kinds(frames) == ["DOWNLOAD"] * 3
    assert server.node.state.attendance.missed.tolist() == [0, 0, 1]
    assert server.deadline(now=2.0).tolist() == [], "no round is open"
    to_sites(sites, frames)
    for site in sites:
        assert site.life.version == (1, server.node.sent)


def test_whoever_was_left_out_keeps_its_data_and_its_late_answer_is_harmless():
    server = open_server(SYNC)
    sites = [open_site(SYNC, number) for number in range(3)]
    turn(sites[0])
    to_server(server, sites[0].commit())
    call = server.commit()
    late = open_site(SYNC, 2)
    name, _ = late.choose(np.ones((1, 2, 3)), np.empty((1, 0)))
    late.life.side.thresholds[:] = np.inf  # it has something to tell, and waits to be called
    late.learn(name, 1.0)
    server.deadline(now=1.0)
    server.commit()
    before = server.node.state.version
    late.receive(next(frame for number, frame in call if number == 2))
    answer = late.commit()
    gram = server.node.state.gram.copy()
    assert to_server(server, answer) == ["accepted"]
    assert (server.node.state.gram - gram == np.ones((3, 3))).all(), "what it had is merged"
    assert server.node.state.version == before
    assert server.awaited().tolist() == [], "a late answer opens no round"
    assert kinds(server.commit()) == ["ACKNOWLEDGEMENT"]


def test_a_deadline_is_journalled():
    journal = MemoryJournal()
    server = open_server(SYNC, journal)
    to_server(server, uploads(0, 1, SYNC)[1])
    server.deadline(now=1.0)
    server.commit()
    assert encode_state(open_server(SYNC, journal).node.memory) == encode_state(server.node.memory)


def test_without_rounds_there_is_nothing_to_close():
    server = open_server(ASYNC)
    to_server(server, uploads()[1])
    assert server.deadline(now=1.0).tolist() == server.awaited().tolist() == []


def test_a_site_that_was_acknowledged_by_a_journal_that_is_lost_goes_on():
    """What the old journal had is lost, but what comes after it is taken in and acknowledged."""
    site, frames = uploads()
    server = open_server(ASYNC)
    to_server(server, frames)
    to_sites({0: site}, [frame for frame in server.commit() if frame[0] == 0])
    lost = open_server(ASYNC)
    verdict = lost.receive(site.resend()[0], 0.0, 0)
    assert "this journal has 0: it is not whole" in verdict.reason
    turn(site, seed=9)
    exchange(lost, [site])
    assert not site.life.outbox.frames


def test_the_ledger_counts_what_is_taken_in_and_what_is_sent():
    server = open_server(ASYNC)
    to_server(server, uploads()[1])
    frames = server.commit()
    assert server.ledger.uploads == 3
    assert server.ledger.downloads == kinds(frames).count("DOWNLOAD")
    to_server(server, [with_numbers(Kind.ASK, 0, 0, 0, 7, 0, 1).to_bytes()])
    server.commit()
    assert server.ledger.signals == 0
