"""What travels, of every registered algorithm: declared messages that survive the wire, and nothing raw."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

import fedbandit as fb
from fedbandit.core.messages import Download, Message, Upload
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.ledger import Ledger
from fedbandit.wire import decode, encode, encode_each, weigh
from fedbandit.wire.header import HEADER_BYTES
from samples.messages import assert_same
from samples.runs import assert_same_trace
from samples.worlds import arrays_for, features_of, recorded


def deliver(wire, envelopes, receive):
    """Carry envelopes as the engine does, but hand each to `receive(node, envelope)`, which returns the answers."""
    queue = list(envelopes)
    for envelope in queue:  # the list grows while it is read
        wire.ledger.record(envelope)
        node = wire.server if envelope.is_upload else wire.clients
        queue.extend(receive(node, envelope))


@pytest.fixture
def travelled(play):
    """Every envelope of a run, in order."""

    def watch(**world):
        seen = []

        def carry(wire, envelopes):
            deliver(wire, envelopes, lambda node, envelope: (seen.append(envelope), node.receive(envelope))[1])

        played = play(carry=carry, **world)
        return played, seen

    return watch


def arrays_in(message):
    for name, layout in message.layout().items():
        if not layout.is_header:
            yield name, np.asarray(getattr(message, name))


@pytest.fixture(scope="module")
def usual_travels():
    """What travels in the run of each algorithm on its small world."""
    return {}


@pytest.fixture
def usual_travel(kind, travelled, usual_travels):
    """What `travelled()` gives; the tests that only look at it share it."""
    if kind not in usual_travels:
        usual_travels[kind] = travelled()
    return usual_travels[kind]


def test_only_declared_messages_travel_to_known_clients(usual_travel):
    played, seen = usual_travel
    clients = played.wire.clients.clients
    for envelope in seen:
        message = envelope.message
        assert Message.known[message.kind] is type(message)
        assert isinstance(message, Upload) != isinstance(message, Download)
        who = envelope.clients.tolist()
        assert len(set(who)) == len(who) > 0
        assert set(who) <= set(range(clients))
        if envelope.is_upload:
            for name in message.layout():
                assert len(getattr(message, name)) == len(who), f"{name} has a row for each sender"


def test_everything_that_travels_is_finite_and_survives_the_wire(usual_travel):
    _, seen = usual_travel
    for envelope in seen:
        for name, array in arrays_in(envelope.message):
            assert np.isfinite(array).all(), f"{envelope.message.kind}.{name}"
        for part in envelope.split():
            data = encode(part.message)
            assert_same(decode(data), part.message)
            assert weigh(part.message).bytes == len(data)


def test_the_ledger_counts_what_travelled(usual_travel):
    played, seen = usual_travel
    everything = [part for envelope in seen for part in envelope.split()]
    counted = [part for part in everything if not part.message.is_signal()]
    ledger = played.trace.ledger
    assert ledger.messages == len(counted) == played.trace.messages.sum()
    assert ledger.bytes == sum(len(encode(part.message)) + HEADER_BYTES for part in everything)
    scalars = sum(array.size for part in counted for _, array in arrays_in(part.message))
    assert ledger.scalars == scalars
    assert ledger.uploads == sum(part.is_upload for part in counted)


def through_bytes(envelope):
    """The envelope as it comes out of the bytes that it went into."""
    if not envelope.is_upload:
        each = [decode(data) for data in encode_each(envelope.message, len(envelope.clients))]
        message = each[0]
        if message.tells_what_it_holds():
            message = replace(message, holds=np.array([one.holds for one in each]))
        return Envelope(envelope.clients, message, envelope.epoch, envelope.sequence)
    rows = [decode(encode(part.message)) for part in envelope.split()]
    fields = {name: np.concatenate([getattr(row, name) for row in rows]) for name in rows[0].layout()}
    return Envelope(envelope.clients, type(rows[0])(**fields), envelope.epoch, envelope.sequence)


def test_a_run_over_bytes_is_the_same_run(play, usual):
    def over_bytes(wire, envelopes):
        deliver(wire, envelopes, lambda node, envelope: node.receive(through_bytes(envelope)))

    assert_same_trace(play(carry=over_bytes).trace, usual.trace)


def test_a_repeated_envelope_changes_nothing(play, usual):
    def repeated(wire, envelopes):
        before = []

        def twice(node, envelope):
            answers = node.receive(envelope)
            assert node.receive(envelope) == [], "what came before is not answered again"
            for old in before:
                old_node = wire.server if old.is_upload else wire.clients
                assert old_node.receive(old) == []
            before.append(envelope)
            return answers

        deliver(wire, envelopes, twice)

    assert_same_trace(play(carry=repeated).trace, usual.trace)


def test_envelopes_that_travel_one_client_at_a_time_make_the_same_run(play, usual):
    def apart(wire, envelopes):
        def each(node, envelope):
            return [answer for part in envelope.split() for answer in node.receive(part)]

        deliver(wire, envelopes, each)

    one_by_one = play(carry=apart)
    np.testing.assert_array_equal(usual.trace.choice, one_by_one.trace.choice)
    np.testing.assert_array_equal(usual.trace.messages, one_by_one.trace.messages)
    np.testing.assert_array_equal(usual.trace.scalars, one_by_one.trace.scalars)


def raw_in(seen, arrays):
    """The kinds of messages in which an observation stands as it was made: features, their difference, a reward."""
    features = features_of(arrays)
    size = features.shape[-1]
    vectors = [features.reshape(-1, size)]
    if "utility" in arrays:
        vectors.append((features[:, :, None] - features[:, None]).reshape(-1, size))
    known = np.unique(np.concatenate(vectors), axis=0)
    known = known[np.abs(known).max(axis=1) > 0]
    nearest = cKDTree(known)
    rewards = np.unique(arrays.get("reward", np.empty(0)))
    found = set()
    for envelope in seen:
        for _, array in arrays_in(envelope.message):
            values = array.ravel()
            if np.isin(values, rewards).any():
                found.add(envelope.message.kind)
            if array.ndim and array.shape[-1] >= size:
                windows = np.lib.stride_tricks.sliding_window_view(array, size, axis=-1).reshape(-1, size)
                distance, _ = nearest.query(windows, p=np.inf, distance_upper_bound=1e-12)
                if np.isfinite(distance).any():
                    found.add(envelope.message.kind)
    return found


def test_no_message_carries_raw_observations_unless_the_algorithm_says_so(kind, travelled):
    _, seen = travelled(continuous=True)
    if not kind.shares_raw_data:
        assert raw_in(seen, arrays_for(kind, continuous=True)) == set()


def test_the_pooled_baseline_is_caught(tmp_path, monkeypatch):
    kind = fb.algorithms["pooled-linucb"]
    arrays = arrays_for(kind)
    seen = []
    real = Ledger.record
    monkeypatch.setattr(Ledger, "record", lambda ledger, envelope: (seen.append(envelope), real(ledger, envelope))[1])
    fb.run(kind(), recorded(tmp_path, arrays))
    assert raw_in(seen, arrays) == {"linear.raw"}
