"""Frames have a header of 21 bytes, and nothing but a right one is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbandit.core.errors import ProtocolError
from fedbandit.protocol.envelope import HEADER_BYTES
from fedbandit.wire.frame import BODIES, HEADER, Frame, Kind, refusal, with_numbers

NUMBERS = st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))


def test_the_header_has_the_bytes_that_the_ledger_counts():
    assert HEADER.size == HEADER_BYTES == 21
    assert Frame(Kind.VOID, 1, 2, 3).to_bytes() == bytes([5, 1, *[0] * 7, 2, 0, 0, 0, 3, *[0] * 7])


@given(NUMBERS, st.sampled_from([Kind.UPLOAD, Kind.DOWNLOAD]), st.binary(max_size=50))
def test_frames_with_messages_come_back(numbers, kind, body):
    frame = Frame(kind, *numbers, body)
    assert Frame.from_bytes(frame.to_bytes()) == frame


@pytest.mark.parametrize("kind", BODIES)
@given(numbers=NUMBERS, data=st.data())
def test_frames_with_numbers_come_back(kind, numbers, data):
    sizes = {"I": 2**32 - 1, "Q": 2**64 - 1, "B": 255}
    more = [data.draw(st.integers(0, sizes[code])) for code in BODIES[kind].format.lstrip("<")]
    frame = Frame.from_bytes(with_numbers(kind, *numbers, *more).to_bytes())
    assert (frame.kind, frame.client, frame.epoch, frame.sequence) == (kind, *numbers)
    assert frame.numbers == tuple(more)


@given(NUMBERS, st.text(), st.booleans())
def test_a_refusal_says_what_is_refused_and_why(numbers, reason, for_good):
    of = Frame(Kind.UPLOAD, *numbers)
    reason = reason.encode(errors="replace").decode()
    frame = Frame.from_bytes(refusal(of, reason, for_good=for_good).to_bytes())
    assert (frame.client, frame.epoch, frame.sequence) == numbers
    assert frame.verdict == (for_good, reason)


@given(st.binary(max_size=80))
def test_any_bytes_are_a_frame_or_a_protocol_error(data):
    try:
        frame = Frame.from_bytes(data)
    except ProtocolError:
        return
    assert frame.to_bytes() == data
