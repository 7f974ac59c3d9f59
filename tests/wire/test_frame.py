"""Frames have a header of 21 bytes, and nothing but a right one is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbandit.core.errors import ProtocolError
from fedbandit.wire.frame import (
    BODIES,
    OLD_BODIES,
    Frame,
    Kind,
    Standing,
    number_taken,
    read_header,
    refusal,
    with_numbers,
)
from fedbandit.wire.header import HEADER, HEADER_BYTES, LARGEST_UPLOAD, OLD_HEADER

LARGEST = {"I": 2**32 - 1, "Q": 2**64 - 1, "B": 255}
BY_LAYOUT = {False: "IQQ", True: "QIQ"}  # client, epoch and sequence, now and in 0.1.0
NUMBERS = st.booleans().flatmap(
    lambda is_old: st.tuples(*[st.integers(0, LARGEST[code]) for code in BY_LAYOUT[is_old]], st.just(is_old))
)


def test_the_header_has_the_bytes_that_the_ledger_counts():
    assert HEADER.size == OLD_HEADER.size == HEADER_BYTES == 21
    assert Frame(Kind.VOID, 1, 2, 3).to_bytes() == bytes([16 + 5, 1, 0, 0, 0, 2, *[0] * 7, 3, *[0] * 7])


def test_a_frame_of_the_first_version_is_as_it_was():
    data = bytes([5, 1, *[0] * 7, 2, 0, 0, 0, 3, *[0] * 7])
    frame = Frame(Kind.VOID, 1, 2, 3, is_old=True)
    assert frame.to_bytes() == data
    assert Frame.from_bytes(data) == frame
    assert read_header(data) == (Kind.VOID, 1, 2, 3, True, None, 0, 0)


def test_uploads_and_downloads_say_to_which_epoch_their_sums_belong_where_a_federation_forgets():
    for kind in (Kind.UPLOAD, Kind.DOWNLOAD):
        frame = Frame(kind, 1, 2, 3, b"sums", clock=9)
        data = frame.to_bytes()
        assert data == bytes([kind + 32, 1, 0, 0, 0, 2, *[0] * 7, 3, *[0] * 7, 9, *[0] * 7]) + b"sums"
        assert Frame.from_bytes(data) == frame
        with pytest.raises(ProtocolError, match="frame cut short: 28 bytes, but its header alone has 29"):
            Frame.from_bytes(data[:28])
    with pytest.raises(ProtocolError, match=f"unknown kind of frame {Kind.ASK + 32}: is the sender's"):
        Frame.from_bytes(bytes([Kind.ASK + 32]) + bytes(40))


def test_an_upload_has_two_bytes_of_its_number_for_the_questions_before_it():
    for clock in (None, 9):
        frame = Frame(Kind.UPLOAD, 1, 2, LARGEST_UPLOAD, b"sums", clock=clock, asked=0xABCD)
        data = frame.to_bytes()
        assert data[13:21] == bytes([255] * 6 + [0xCD, 0xAB])
        assert Frame.from_bytes(data) == frame
    assert Frame.from_bytes(Frame(Kind.VOID, 1, 2, 2**60).to_bytes()).sequence == 2**60, "others have not"
    assert Frame.from_bytes(Frame(Kind.UPLOAD, 1, 2, 2**60, is_old=True).to_bytes()).sequence == 2**60


def test_what_the_numbers_of_kinds_and_standings_mean_is_the_same_for_ever():
    kinds = "UPLOAD DOWNLOAD ACKNOWLEDGEMENT REFUSAL ASK VOID CLOSE CLOSED REPORT RENEWED JOIN CHARTER"
    assert [each.name for each in sorted(Kind)] == kinds.split()
    assert [each.value for each in sorted(Kind)] == list(range(12))
    assert [each.name for each in sorted(Standing)] == ["FOR_NOW", "FOR_GOOD", "ASK_FIRST", "NUMBER_TAKEN"]
    assert [each.value for each in sorted(Standing)] == list(range(4))


@pytest.mark.parametrize("body", [b"", b"\x03", b"\x03" + bytes(7)])
def test_a_refusal_that_is_cut_short_is_not_read(body):
    with pytest.raises(ProtocolError, match="refusal without a reason"):
        Frame.from_bytes(Frame(Kind.REFUSAL, 1, 2, 3, body).to_bytes())


@given(NUMBERS, st.sampled_from([Kind.UPLOAD, Kind.DOWNLOAD]), st.binary(max_size=50))
def test_frames_with_messages_come_back(numbers, kind, body):
    *numbers, is_old = numbers
    if kind is Kind.UPLOAD and not is_old:
        numbers[2] &= LARGEST_UPLOAD
    frame = Frame(kind, *numbers, body, is_old)
    assert Frame.from_bytes(frame.to_bytes()) == frame


@pytest.mark.parametrize("kind", BODIES)
@given(numbers=NUMBERS, data=st.data())
def test_frames_with_numbers_come_back(kind, numbers, data):
    *numbers, is_old = numbers
    form = (OLD_BODIES if is_old else BODIES)[kind].format
    more = [data.draw(st.integers(0, LARGEST[code])) for code in form.lstrip("<")]
    frame = Frame.from_bytes(with_numbers(kind, *numbers, *more, is_old=is_old).to_bytes())
    assert (frame.kind, frame.client, frame.epoch, frame.sequence, frame.is_old) == (kind, *numbers, is_old)
    assert frame.numbers == tuple(more)


@given(NUMBERS, st.text(), st.booleans())
def test_a_refusal_says_what_is_refused_and_why(numbers, reason, for_good):
    *numbers, is_old = numbers
    of = Frame(Kind.UPLOAD, *numbers, is_old=is_old)
    reason = reason.encode(errors="replace").decode()
    frame = Frame.from_bytes(refusal(of, reason, for_good=for_good).to_bytes())
    assert (frame.client, frame.epoch, frame.sequence, frame.is_old) == (*numbers, is_old)
    assert frame.verdict == (for_good, reason)
    assert frame.is_about(b"anything")


@pytest.mark.parametrize("is_old", [False, True])
def test_a_site_of_the_first_version_gets_no_standing_that_it_does_not_know(is_old):
    of = Frame(Kind.UPLOAD, 3, 1, 9, b"sums", is_old)
    ask_first, taken = refusal(of, "who is it?", for_good=False, ask_first=True), number_taken(of, "taken")
    assert [each.verdict for each in (ask_first, taken)] == [(False, "who is it?"), (True, "taken")]
    known = [Standing.FOR_NOW, Standing.FOR_GOOD] if is_old else [Standing.ASK_FIRST, Standing.NUMBER_TAKEN]
    assert [each.standing for each in (ask_first, taken)] == known


@given(st.binary(max_size=80))
def test_any_bytes_are_a_frame_or_a_protocol_error(data):
    try:
        frame = Frame.from_bytes(data)
    except ProtocolError:
        return
    assert frame.to_bytes() == data


@pytest.mark.parametrize("clock", [None, 0, 7])
def test_a_message_names_its_form_where_it_is_not_the_first(clock):
    first, later = (Frame(Kind.UPLOAD, 3, 1, 9, b"sums", clock=clock, asked=5, form=form) for form in (0, 2**50 + 1))
    assert (len(later.to_bytes()) - len(first.to_bytes()), first.to_bytes()[0] // 16) == (8, 1 if clock is None else 2)
    for each in (first, later):
        assert Frame.from_bytes(each.to_bytes()) == each


def test_the_first_form_has_no_name():
    data = Frame(Kind.UPLOAD, 3, 1, 9, b"sums", form=1).to_bytes()
    with pytest.raises(ProtocolError, match="names the first form"):
        Frame.from_bytes(data[:21] + bytes(8) + data[29:])
    with pytest.raises(ProtocolError, match="frame cut short"):
        Frame.from_bytes(data[:25])
    with pytest.raises(ProtocolError, match="unknown kind of frame 53"):
        Frame.from_bytes(bytes([53]) + data[1:])
