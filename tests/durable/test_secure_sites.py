"""Secure aggregation between durable nodes: the sums of a plain federation, the same bytes again, and an end to it."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.errors import ProtocolError
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.site.events import Drew
from fedbandit.protocol.envelope import Envelope
from fedbandit.secure.messages import Keys, Masked, Present, Result, Unmask
from fedbandit.simulation.replay import replay
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import decode_state, encode_state
from samples import pair
from samples.purses import KeyedIdentity
from samples.secure_pair import PLAIN, SECURE, SITES, open_site, until, uploads


def play(server, sites, turns=16):
    """Let sites have their turns, and talk when each has had one."""
    for seed in range(turns):
        pair.turn(sites[seed % SITES], seed, reward=seed / 16)
        if seed % SITES == SITES - 1:
            pair.exchange(server, sites)


def sums_left(sites, within):
    rows = [within(site).rows for site in sites]
    return sum(each.new_gram[0] for each in rows), sum(each.new_moment[0] for each in rows)


def test_the_sums_are_those_of_a_federation_without_it():
    found = []
    for charter, within in ((PLAIN, lambda node: node.state), (SECURE, lambda node: node.state.within)):
        server = pair.open_server(charter)
        sites = [pair.open_site(charter, number) for number in range(SITES)]
        for number, site in enumerate(sites):
            site.identity = KeyedIdentity(number)
        play(server, sites)
        state = within(server.node)
        gram, moment = sums_left(sites, lambda site, within=within: within(site.life.node))
        assert state.version > 0
        found.append((state.gram + gram, state.moment + moment))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_a_site_with_fewer_observations_than_the_smallest_upload_takes_no_part_and_keeps_them():
    of = pair.charter("sync-linucb", SITES, sync_threshold=1.0, smallest_upload=3, smallest_cohort=3)
    server = pair.open_server(of)
    sites = [pair.open_site(of, number) for number in range(SITES)]
    for number, site in enumerate(sites):
        site.identity = KeyedIdentity(number)
        for seed in range(2 if number == 1 else 3):
            pair.turn(site, 10 * number + seed)
    pair.exchange(server, sites)
    gathering = server.node.state.gathering
    assert (gathering.finished, gathering.counted.tolist()) == (1, [1, 0, 1, 1])
    assert [int(site.life.node.state.within.rows.fresh[0]) for site in sites] == [0, 2, 0, 0]


def test_the_log_replayed_gives_the_same_state_and_a_snapshot_comes_back():
    journal = MemoryJournal(keep_log=True)
    server = pair.open_server(SECURE, journal)
    sites = [open_site(number) for number in range(SITES)]
    play(server, sites)
    assert server.node.state.gathering.finished
    state = server.node.state
    assert encode_state(replay(SECURE, journal.records()).state) == encode_state(state)
    assert encode_state(decode_state(encode_state(state), type(state))) == encode_state(state)


@pytest.mark.parametrize("kind", [Keys, Masked, Unmask])
def test_a_site_that_is_killed_sends_the_same_bytes_again(kind):
    journals = [MemoryJournal() for _ in range(SITES)]
    server = pair.open_server(SECURE)
    sites = [open_site(number, journals[number]) for number in range(SITES)]
    sent = uploads(until(server, sites, kind)[0], kind)
    journals[0].crash(survivors=0)
    sites[0] = open_site(0, journals[0])
    again = uploads(sites[0].resend(), kind)
    assert [vars(each)["version"] for each in sent]
    for one, other in zip(sent, again, strict=True):
        for name in one.layout():
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    pair.asking(server, sites)
    assert server.node.state.gathering.finished >= 1


def test_what_is_drawn_is_signed_again_where_a_site_begins_anew_with_other_observations():
    drew = Drew(b"", bytes(128), b"keys and 3 observations", b"signed")
    assert drew.drawn(None).vouch(b"keys and 3 observations") == b"signed"
    assert drew.drawn(None).vouch(b"keys and 2 observations") == b"", "nobody can sign it"
    identity = KeyedIdentity(1)
    identity.check(1, b"keys and 2 observations", drew.drawn(identity).vouch(b"keys and 2 observations"))


def test_nothing_leaves_before_keys_and_masked_sums_are_on_the_disk():
    journals = [MemoryJournal() for _ in range(SITES)]
    server = pair.open_server(SECURE)
    sites = [open_site(number, journals[number]) for number in range(SITES)]
    for seed in range(SITES):
        pair.turn(sites[seed], seed)
    pair.to_server(server, [frame for site in sites for frame in site.commit()])
    pair.to_sites(sites, server.commit())
    journals[0].crash(survivors=0)  # before it has committed
    sites[0] = open_site(0, journals[0])
    assert not uploads(sites[0].resend(), Keys)
    pair.asking(server, sites)
    assert server.node.state.gathering.finished >= 1


def test_a_site_without_a_certificate_answers_nothing_and_says_why():
    server = pair.open_server(SECURE)
    sites = [open_site(number) for number in range(SITES)]
    sites[2].identity = None
    for seed in range(SITES):
        pair.turn(sites[seed], seed)
    pair.to_server(server, [frame for site in sites for frame in site.commit()])
    call = [frame for number, frame in server.commit() if number == 2 and Frame.from_bytes(frame).kind is Kind.DOWNLOAD]
    with pytest.raises(ProtocolError, match="no certificate to sign its keys with: connect it with credentials"):
        sites[2].receive(call[0])
    sites[2].identity = KeyedIdentity(2)
    sites[2].receive(call[0])
    assert uploads(sites[2].commit(), Keys)


def test_a_policy_has_no_keys():
    server = pair.open_server(SECURE)
    sites = [open_site(number) for number in range(SITES)]
    until(server, sites, Masked)
    state = sites[0].life.node.state
    secret = state.member.drawn
    assert secret in encode_state(state)
    kept = decode_state(sites[0].encoded_state(), type(state))
    assert secret not in sites[0].encoded_state()
    assert kept.member.part.size == 0


def test_a_result_that_cannot_be_read_is_refused_before_it_is_heard():
    server = pair.open_server(SECURE)
    sites = [open_site(number) for number in range(SITES)]
    until(server, sites, Masked)
    before = encode_state(sites[0].life.node.state), sites[0].life.version
    body = np.zeros(sites[0].life.side.sizes["body"], dtype=np.uint8)
    result = Result(1, 0, np.zeros(SITES), 9, body)
    (frame,) = Envelope(np.array([0]), result, before[1][0], np.array(before[1][1] + 1)).frames()
    with pytest.raises(ProtocolError, match="not a fedbandit message"):
        sites[0].receive(frame.to_bytes())
    assert (encode_state(sites[0].life.node.state), sites[0].life.version) == before


def test_a_download_that_is_to_be_refused_leaves_the_site_as_it_was():
    server = pair.open_server(SECURE)
    sites = [open_site(number) for number in range(SITES)]
    until(server, sites, Masked)
    present = Present(1, 0, np.array([1, 1, 0, 0], dtype=np.uint8))

    before = encode_state(sites[0].life.node.state), sites[0].life.version
    (frame,) = Envelope(np.array([0]), present, before[1][0], np.array(before[1][1] + 1)).frames()
    with pytest.raises(ProtocolError, match="2 sites are in the sum, but this site tells nothing"):
        sites[0].receive(frame.to_bytes())
    assert (encode_state(sites[0].life.node.state), sites[0].life.version) == before
