"""One ledger counts messages, scalars and bytes from what is carried."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Upload
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.ledger import Ledger
from fedbandit.wire import encode, weigh
from fedbandit.wire.header import HEADER_BYTES
from samples.messages import FullDownload, FullUpload, Ping, Pong, messages

ZERO = (0, 0, 0, 0, 0)


def totals(ledger):
    return ledger.messages, ledger.scalars, ledger.bytes, ledger.uploads, ledger.downloads


def test_a_new_ledger_is_empty():
    assert totals(Ledger()) == ZERO
    assert Ledger().signals == 0


def test_an_upload_of_three_senders_is_three_messages_up():
    message = FullUpload(np.zeros((3, 2, 2)), np.ones((3, 4)), np.zeros((3, 1)), np.zeros(3, dtype=np.int64))
    ledger = Ledger()
    ledger.record(Envelope(np.array([0, 1, 2]), message, 0, np.ones(3, dtype=np.int64)))
    length = len(encode(message.rows(slice(1)))) + HEADER_BYTES
    assert totals(ledger) == (3, 3 * (4 + 4 + 1), 3 * length, 3, 0)


def test_a_broadcast_to_a_thousand_clients_is_a_thousand_messages_down():
    message = FullDownload(np.ones(4), 1, np.eye(2), np.zeros(1))
    ledger = Ledger()
    ledger.record(Envelope(np.arange(1000), message, 0, np.asarray(1)))
    assert totals(ledger) == (1000, 9000, 1000 * (len(encode(message)) + HEADER_BYTES), 0, 1000)


def test_what_is_sent_several_times_is_counted_several_times():
    message = FullDownload(np.ones(4), 1, np.eye(2), np.zeros(1))
    once, often = Ledger(), Ledger()
    for _ in range(5):
        once.record(Envelope(np.arange(3), message, 0, np.asarray(1)))
    often.record(Outgoing(np.arange(3), message), times=5)
    for _ in range(2):
        once.record(Envelope(np.arange(3), Pong(1), 0, np.asarray(1)))
    often.record(Outgoing(np.arange(3), Pong(1)), times=2)
    assert totals(often) == totals(once)
    assert often.signals == 6


def test_signals_are_no_messages_but_their_bytes_count():
    ledger = Ledger()
    ledger.record(Envelope(np.array([3]), Ping(), 0, np.array([1])))
    ledger.record(Envelope(np.arange(5), Pong(2), 0, np.asarray(1)))
    carried = len(encode(Ping())) + 5 * len(encode(Pong(2))) + 6 * HEADER_BYTES
    assert totals(ledger) == (0, 0, carried, 0, 0)
    assert ledger.signals == 6


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(1, 4).flatmap(lambda rows: st.tuples(st.just(rows), messages(rows=rows))), max_size=5))
def test_whole_envelopes_count_like_their_parts_and_like_their_bytes(cases):
    whole, parts = Ledger(), Ledger()
    carried = 0
    for rows, message in cases:
        sequence = np.ones(rows, dtype=np.int64) if isinstance(message, Upload) else np.asarray(1)
        envelope = Envelope(np.arange(rows), message, 0, sequence)
        whole.record(envelope)
        for part in envelope.split():
            parts.record(part)
            carried += len(encode(part.message)) + HEADER_BYTES
            assert weigh(part.message).bytes == len(encode(part.message))
    assert whole == parts
    assert whole.bytes == carried
    assert whole.messages == whole.uploads + whole.downloads
