"""Uploads that are taken in together leave what they leave one after the other, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.encoding import kinds_of_upload, upload
from fedbandit.algorithms.linear.shared.messages import Hello
from fedbandit.algorithms.linear.shared.push_server import PushServer
from fedbandit.core.bounds import Bounds
from fedbandit.core.taking_many import LookedOver
from fedbandit.durable.coordinator.many_uploads import Arrived
from fedbandit.durable.coordinator.postbox import posted
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.wire import encode
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.state import encode_state
from samples.pair import DIMENSION, charter, copy_of, open_server

SITES = 5
LIMITS = Limits(Bounds(1.0, 1.0))
THRESHOLDS = {"upload_threshold": 1.0, "download_threshold": 1.3, "smallest_upload": 1}
PRECISIONS = ("float64", "float32", "float16")


def body(rng, precision, observations=2, scale=1.0):
    """The sums of some observations within the limits, or not."""
    arms = rng.standard_normal((observations, DIMENSION))
    arms *= scale / np.linalg.norm(arms, axis=1, keepdims=True)
    moment = arms.T @ rng.uniform(-1, 1, observations)
    kind = kinds_of_upload(precision, asks=False)
    counts = np.array([observations])
    return encode(upload(kind, precision, (arms.T @ arms)[np.newaxis], moment[np.newaxis], counts).message)


def sent(site, number, data, epoch=1, kind=Kind.UPLOAD):
    return Arrived(Frame(kind, site, epoch, number, data).to_bytes(), site)


def begun(precision="float64", **parameters):
    """A coordinator to which every site has introduced itself, and sent its first upload."""
    of = charter("async-linucb", SITES, precision=precision, **(THRESHOLDS | parameters))
    server = open_server(of, limits=LIMITS)
    rng = np.random.default_rng(1)
    for site in range(SITES):
        server.receive(with_numbers(Kind.ASK, site, 0, 0, 1, 0, 1).to_bytes(), 0.0, site)
        assert server.receive(*sent(site, 1, body(rng, precision))[:1], 0.0, site).outcome.value == "accepted"
    server.commit()
    return server


def known(server):
    return encode_state(
        [
            server.node.memory,
            server.accounts,
            posted(server.postbox.latest_downloads()),
            list(server.ledger.totals),
            server.snapshot_age,
        ]
    )


def records(server):
    return [ServerRecord.from_bytes(each.data) for each in server.journal.records()]


def opened_again(server):
    return open_server(server.charter, copy_of(server.journal), limits=LIMITS)


def mixed(rng, precision, following):
    """What may come together: mostly the next upload of a site, sometimes anything else."""
    found = []
    for _ in range(int(rng.integers(1, 30))):
        site = int(rng.integers(SITES))
        what = rng.choice(["next", "again", "ahead", "ask", "void", "large", "nonsense"], p=[0.88] + [0.02] * 6)
        number = following[site]
        if what == "next":
            found.append(sent(site, number, body(rng, precision, int(rng.integers(1, 5)))))
            following[site] += 1
        elif what == "again":
            found.append(sent(site, 1, body(np.random.default_rng(site), precision)))
        elif what == "ahead":
            found.append(sent(site, number + 1, body(rng, precision)))
        elif what == "ask":
            found.append(Arrived(with_numbers(Kind.ASK, site, 0, 0, 1, 0, 1).to_bytes(), site))
        elif what == "void":
            found.append(sent(site, number, b"", kind=Kind.VOID))
            following[site] += 1
        elif what == "large":
            found.append(sent(site, number, body(rng, precision, scale=1.5)))
        else:
            found.append(Arrived(rng.bytes(int(rng.integers(0, 40))), site))
    return found


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
def test_all_is_as_if_they_had_come_one_after_the_other(precision, seed):
    rng = np.random.default_rng(seed)
    together, single = begun(precision), begun(precision)
    following, taken = [2] * SITES, 0
    for _ in range(25):
        arrived = mixed(rng, precision, following)
        before = len(records(together))
        is_taken = together.take_in_together(arrived, 7.0)
        first = [record.data for record in records(together)[before:]]
        assert sorted(first) == sorted(each.data for each, done in zip(arrived, is_taken, strict=True) if done)
        for data in first:
            assert single.receive(data, 7.0, Frame.from_bytes(data).client).outcome.value == "accepted"
        for each, done in zip(arrived, is_taken, strict=True):
            if not done:
                assert together.receive(each.data, 7.0, each.sender) == single.receive(each.data, 7.0, each.sender)
        taken += sum(is_taken)
        assert known(together) == known(single)
        assert together.commit() == single.commit()
        assert records(together) == records(single)
        following = [together.node.seen.look(site, 1).up_to + 1 for site in range(SITES)]
    assert taken > 20
    assert together.node.sent > 0, "there were downloads"
    assert known(opened_again(together))[:-1] == known(opened_again(single))[:-1]


def test_the_journal_gives_back_what_was_taken_in_together():
    server, rng = begun(), np.random.default_rng(3)
    assert all(server.take_in_together([sent(site, 2, body(rng, "float64")) for site in range(SITES)], 7.0))
    server.commit()
    again = opened_again(server)
    assert encode_state(again.node.state) == encode_state(server.node.state)
    assert encode_state(again.accounts) == encode_state(server.accounts)
    assert [record.what for record in records(server)].count(RecordKind.FRAME) == 2 * SITES


def test_several_uploads_of_a_site_are_taken_in_together_in_their_order():
    server, rng = begun(), np.random.default_rng(3)
    assert all(server.take_in_together([sent(0, number, body(rng, "float64")) for number in (2, 3, 4)], 7.0))
    assert server.node.seen.look(0, 1).up_to == 4


ODD = {
    "comes again": lambda rng: [sent(0, 1, body(rng, "float64"))],
    "is ahead": lambda rng: [sent(0, 3, body(rng, "float64"))],
    "follows one that is ahead": lambda rng: [sent(0, 3, body(rng, "float64")), sent(0, 2, body(rng, "float64"))],
    "is of another epoch": lambda rng: [sent(0, 2, body(rng, "float64"), epoch=2)],
    "is a question": lambda _: [Arrived(with_numbers(Kind.ASK, 0, 0, 0, 1, 0, 1).to_bytes(), 0)],
    "comes with a question": lambda rng: [
        sent(0, 2, body(rng, "float64")), Arrived(with_numbers(Kind.ASK, 0, 0, 0, 1, 0, 1).to_bytes(), 0)
    ],
    "is not of its sender": lambda rng: [Arrived(sent(1, 2, body(rng, "float64")).data, 0)],
    "is of a stranger": lambda rng: [sent(SITES, 2, body(rng, "float64"))],
    "is empty": lambda _: [Arrived(b"", 0)],
    "is cut short": lambda _: [Arrived(bytes([Kind.UPLOAD + 16]), 0)],
    "has another length": lambda rng: [sent(0, 2, body(rng, "float32"))],
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_what_is_out_of_the_ordinary_is_left_and_the_others_are_taken_in(odd):
    server, rng = begun(), np.random.default_rng(3)
    before = encode_state([server.accounts.look(0), server.node.seen.look(0, 1)])
    others = [sent(site, 2, body(rng, "float64")) for site in (2, 3)]
    left = ODD[odd](rng)
    assert server.take_in_together([others[0], *left, others[1]], 7.0) == [True, *([False] * len(left)), True]
    assert encode_state([server.accounts.look(0), server.node.seen.look(0, 1)]) == before


@pytest.mark.parametrize("precision", PRECISIONS)
def test_sums_that_nobody_can_have_made_leave_all_to_be_looked_at_one_by_one(precision):
    server, rng = begun(precision), np.random.default_rng(3)
    before = known(server)
    arrived = [sent(0, 2, body(rng, precision)), sent(1, 2, body(rng, precision, scale=1.5))]
    assert server.take_in_together(arrived, 7.0) == [False, False]
    assert known(server) == before
    verdicts = [server.receive(each.data, 7.0, each.sender).outcome.value for each in arrived]
    assert verdicts == ["accepted", "refused"]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("count", [-1, 0, 2**40 + 1, 2**62])
def test_sums_over_more_observations_than_can_be_counted_are_left(precision, count):
    server, rng = begun(precision), np.random.default_rng(3)
    data = bytearray(body(rng, precision))
    assert data.count(np.int64(2).tobytes()) == 1, "the number of observations"
    place = data.index(np.int64(2).tobytes())
    data[place : place + 8] = np.int64(count).tobytes()
    assert server.take_in_together([sent(0, 2, bytes(data))], 7.0) == [False]
    assert server.receive(sent(0, 2, bytes(data)).data, 7.0, 0).outcome.value == "refused"


def test_uploads_that_rest_on_too_few_observations_are_left():
    server, rng = begun(smallest_upload=1), np.random.default_rng(3)
    server.validation.smallest_upload = 2
    assert server.take_in_together([sent(0, 2, body(rng, "float64", observations=1))], 7.0) == [False]
    assert server.take_in_together([sent(0, 2, body(rng, "float64", observations=2))], 7.0) == [True]


def test_signals_are_taken_in_one_by_one_whatever_the_algorithm_would_take_together(monkeypatch):
    server, hello = begun(), encode(Hello())
    assert server.receive(sent(0, 2, hello).data, 7.0, 0).outcome.value == "accepted"
    fine = LookedOver(np.ones(1, dtype=np.int64), np.zeros(1))
    monkeypatch.setattr(PushServer, "look_over", lambda *_: fine)
    monkeypatch.setattr(PushServer, "receive_some", lambda *_: (1, ()))
    assert server.take_in_together([sent(0, 3, hello)], 7.0) == [False]


def test_an_algorithm_that_fails_half_way_leaves_nothing_half_done(monkeypatch):
    server, rng = begun(), np.random.default_rng(3)
    server.receive(*sent(4, 2, body(rng, "float64"))[:1], 7.0, 4)  # which is not safe yet
    before, postbox = encode_state([server.node.memory, server.accounts]), posted(server.postbox.latest_downloads())
    receive_some = PushServer.receive_some

    def fails(side, state, senders, message, first):
        receive_some(side, state, senders, message, first)
        raise ArithmeticError("planted")

    monkeypatch.setattr(PushServer, "receive_some", fails)
    arrived = [sent(site, 2, body(rng, "float64")) for site in (0, 1)]
    assert server.take_in_together(arrived, 7.0) == [False, False]
    assert encode_state([server.node.memory, server.accounts]) == before
    assert encode_state(posted(server.postbox.latest_downloads())) == encode_state(postbox)
    assert [server.receive(each.data, 7.0, each.sender).outcome.value for each in arrived] == ["accepted"] * 2


@pytest.mark.parametrize("algorithm", ["lean-linucb", "sync-linucb"])
def test_other_algorithms_are_handed_uploads_one_by_one(algorithm):
    server = open_server(charter(algorithm, SITES), MemoryJournal())
    assert server.node.takes_many is None
    assert server.take_in_together([Arrived(b"anything", 0)], 7.0) == [False]
