"""An envelope for many is the envelopes of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.core.messages import Upload
from fedbandit.protocol.envelope import Envelope
from fedbandit.wire.header import HEADER_BYTES
from samples.messages import FullDownload, FullUpload, Ping, assert_same, messages

UPLOAD = Envelope(
    np.array([5, 2, 7]),
    FullUpload(np.arange(12.0).reshape(3, 2, 2), np.zeros((3, 4)), np.arange(3.0), np.array([1, 2, 3])),
    epoch=4,
    sequence=np.array([10, 20, 30]),
)
DOWNLOAD = Envelope(np.array([5, 2, 7]), FullDownload(np.ones(3), 9, np.eye(2), np.ones(1)), 4, np.asarray(11))


def test_an_upload_is_told_from_a_download():
    assert UPLOAD.is_upload
    assert not DOWNLOAD.is_upload


def test_an_upload_splits_into_one_row_and_one_number_a_sender():
    parts = list(UPLOAD.split())
    assert [part.clients.tolist() for part in parts] == [[5], [2], [7]]
    assert [part.sequence.tolist() for part in parts] == [[10], [20], [30]]
    assert [part.message.count.tolist() for part in parts] == [[1], [2], [3]]
    assert all((part.message.matrix[0] == UPLOAD.message.matrix[place]).all() for place, part in enumerate(parts))
    assert {part.epoch for part in parts} == {4}


def test_a_download_splits_into_the_same_payload_for_each():
    parts = list(DOWNLOAD.split())
    assert [part.clients.tolist() for part in parts] == [[5], [2], [7]]
    assert all(part.message is DOWNLOAD.message for part in parts)
    assert [int(part.sequence) for part in parts] == [11, 11, 11]


@pytest.mark.parametrize("envelope", [UPLOAD, DOWNLOAD], ids=["upload", "download"])
def test_only_some_of_the_clients_are_those_parts(envelope):
    parts = list(envelope.split())
    some = envelope.only(np.array([2, 0]))
    assert some.clients.tolist() == [7, 5]
    assert some.epoch == 4
    for mine, wanted in zip(some.split(), [parts[2], parts[0]], strict=True):
        assert mine.clients == wanted.clients
        assert mine.sequence == wanted.sequence
        assert_same(mine.message, wanted.message)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 5).flatmap(lambda rows: st.tuples(st.just(rows), messages(rows=rows))))
def test_the_parts_of_any_envelope_together_are_the_envelope(case):
    rows, message = case
    sequence = np.arange(1, rows + 1) if isinstance(message, Upload) else np.asarray(3)
    envelope = Envelope(np.arange(rows) * 2, message, 0, sequence)
    parts = list(envelope.split())
    assert np.concatenate([part.clients for part in parts]).tolist() == envelope.clients.tolist()
    for place, part in enumerate(parts):
        assert_same(part.message, envelope.only(np.array([place])).message)


def test_the_header_has_direction_client_epoch_and_sequence():
    assert HEADER_BYTES == 1 + 8 + 4 + 8


def test_a_signal_of_several_clients_splits_too():
    parts = list(Envelope(np.array([1, 2]), Ping(), 0, np.array([1, 1])).split())
    assert [part.message for part in parts] == [Ping(), Ping()]
