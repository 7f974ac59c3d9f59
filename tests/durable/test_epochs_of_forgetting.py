"""Which epochs of forgetting a coordinator believes, and what becomes of uploads and downloads of others."""

from __future__ import annotations

import pytest

from fedbandit.core.errors import ProtocolError
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import encode_state
from samples.pair import charter, exchange, introduce, open_server, open_site, to_server, turn

HALF = charter(discount=0.5)


def test_an_upload_from_far_ahead_is_refused_for_now_and_kept():
    site, server = open_site(HALF), open_server(HALF)
    server.tick(7, 0.0)
    site.tick(9)
    turn(site, 1)
    frames = site.commit()
    before = encode_state(server.node.state)
    introduce(server, frames)
    verdict = server.receive(frames[0], 0.0)
    assert verdict.outcome.value == "not yet"
    assert verdict.reason == (
        "site 0 is in epoch 9, more than 1 ahead of the coordinator's 7: set the clock that is wrong"
    )
    for _, answer in server.commit():
        site.receive(answer)
    assert site.refusal == verdict.reason
    assert site.unsent == 1
    assert encode_state(server.node.state) == before
    assert (server.clock, server.node.clock) == (7, 7)
    server.tick(8, 0.0)
    to_server(server, site.resend())
    assert (server.clock, server.node.clock) == (8, 9), "one epoch ahead it ages the server, not its clock"
    assert server.node.state.gram.any()


def test_one_site_cannot_lead_the_coordinator_on_from_epoch_to_epoch():
    site, server = open_site(HALF), open_server(HALF)
    for epoch in (1, 2):
        site.tick(epoch)
        turn(site, epoch)
    assert to_server(server, site.commit()) == ["accepted", "not yet"]


def test_uploads_of_any_age_are_taken_in_and_acknowledged():
    site, server = open_site(HALF), open_server(HALF)
    turn(site, 1)
    server.tick(100_000, 0.0)
    assert to_server(server, site.commit()) == ["accepted"]
    assert not server.node.state.gram.any()
    exchange(server, [site])
    assert site.unsent == 0


def test_an_epoch_that_is_not_later_changes_nothing_and_is_not_written():
    journal = MemoryJournal()
    server, site = open_server(HALF, journal), open_site(HALF)
    for epoch in (4, 4, 2):
        server.tick(epoch, 1.0)
        site.tick(epoch)
    ticks = [ServerRecord.from_bytes(each.data) for each in journal.records(0)]
    assert [each.data for each in ticks if each.what is RecordKind.TICKED] == [b"4"]
    assert (server.clock, site.life.node.clock) == (4, 4)


def test_where_nothing_is_forgotten_a_tick_does_nothing():
    journal = MemoryJournal()
    server = open_server(charter(), journal)
    before = len(list(journal.records(0)))
    server.tick(4, 1.0)
    assert len(list(journal.records(0))) == before


@pytest.mark.parametrize(("ours", "theirs", "told"), [(0.5, 1.0, "no epoch"), (1.0, 0.5, "the epoch 0")])
def test_a_site_with_another_discount_is_refused(ours, theirs, told):
    site, server = open_site(charter(discount=theirs)), open_server(charter(discount=ours))
    turn(site, 1)
    frames = site.commit()
    introduce(server, frames)
    verdict = server.receive(frames[0], 0.0)
    assert verdict.outcome.value == "refused"
    assert verdict.reason == f"site 0 tells {told} of its sums: give it the federation's discount"


def test_a_download_without_an_epoch_is_not_taken_in_where_sums_fade():
    plain = charter()
    server, others = open_server(plain), [open_site(plain, number) for number in range(2)]
    for site in others:
        turn(site, 1)
        to_server(server, site.commit())
    download = next(frame for _, frame in server.commit() if Frame.from_bytes(frame).kind is Kind.DOWNLOAD)
    site = open_site(HALF, Frame.from_bytes(download).client)
    before = site.encoded_state(), site.life.version
    with pytest.raises(ProtocolError, match="tells no epoch, but this federation forgets"):
        site.receive(download)
    assert (site.encoded_state(), site.life.version) == before
