"""Every message survives the wire, weighs what it takes there, and nothing else gets in."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.algorithms.linear.shared.messages import Snapshot, Statistics
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Message, Upload
from fedbandit.wire import codec, decode, encode, weigh
from samples.examples import examples
from samples.messages import FullDownload, FullUpload, Ping, Pong, assert_same, messages

list(fb.algorithms)  # every family's messages are known once its file is imported
KINDS = sorted(Message.known)
ARRAYS = [kind for kind in KINDS if not Message.known[kind].is_signal()]


@pytest.mark.parametrize("count", [8, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_survives_the_wire_and_weighs_what_it_takes_there(kind, count):
    @settings(deadline=None, max_examples=count)
    @given(messages(kinds=[kind]))
    def check(message):
        data = encode(message)
        assert_same(decode(data), message)
        assert weigh(message).bytes == len(data)

    check()


@pytest.mark.parametrize("kind", ["test.full-upload", "test.full-download"])
def test_messages_of_every_layout_survive_and_weigh_what_they_take(kind):
    @settings(deadline=None, max_examples=examples(200))
    @given(messages(kinds=[kind]))
    def check(message):
        data = encode(message)
        assert_same(decode(data), message)
        assert weigh(message).bytes == len(data)

    check()


@settings(deadline=None, max_examples=examples(150))
@given(st.integers(1, 5).flatmap(lambda rows: st.tuples(st.just(rows), messages(kinds=KINDS, rows=rows))))
def test_an_upload_of_many_weighs_what_its_senders_uploads_weigh(case):
    rows, message = case
    if isinstance(message, Upload):
        singles = [message.rows(slice(each, each + 1)) for each in range(rows)]
        lengths = [len(encode(each)) for each in singles]
    else:
        singles, lengths = [message] * rows, [len(encode(message))] * rows
    together = weigh(message, rows)
    assert together.bytes == sum(lengths)
    assert together.scalars == sum(weigh(each).scalars for each in singles)


def test_a_symmetric_matrix_counts_all_its_scalars_and_travels_as_half():
    message = Statistics(np.eye(25)[np.newaxis], np.zeros((1, 25)), np.array([1]))
    weight = weigh(message)
    assert weight.scalars == 25 * 25 + 25
    frame = 4 + len("linear.statistics")
    assert weight.bytes == frame + (3 + 8 + 8 * 25 * 26 // 2) + (3 + 4 + 8 * 25) + 8


def test_a_header_is_no_scalar():
    assert weigh(Pong(3)).scalars == 0
    assert len(encode(Pong(3))) == 4 + len("test.pong") + 8


@pytest.mark.parametrize("filled", range(0, 41, 4))
def test_a_sparse_array_takes_the_smaller_of_its_two_forms(filled):
    vector = np.zeros(40)
    vector[:filled] = 1.5
    message = FullDownload(vector, 0, np.eye(1), np.zeros(0))
    rest = len(encode(FullDownload(np.ones(0), 0, np.eye(1), np.zeros(0))))
    assert len(encode(message)) - rest == min(8 * 40, 4 + 12 * filled)
    assert weigh(message).bytes == len(encode(message))
    assert weigh(message).scalars == 40 + 1, "scalars are counted as the papers do, whatever the form"


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.bool_, np.float16, np.uint8, ">f8"])
def test_arrays_of_other_types_travel_and_weigh_as_float64(dtype):
    vector = np.array([0, 1, 1, 0, 0, 0, 0, 0, 0, 0]).astype(dtype)
    message = FullDownload(vector, 0, np.eye(2).astype(dtype), vector)
    data = encode(message)
    assert weigh(message).bytes == len(data)
    np.testing.assert_array_equal(decode(data).dense, vector.astype(np.float64))
    np.testing.assert_array_equal(decode(data).sparse, vector.astype(np.float64))


def test_a_view_travels_like_the_array_that_it_shows():
    backwards = np.arange(12.0).reshape(3, 4)[::-1, ::2]
    message = FullDownload(np.broadcast_to(0.0, 30), 0, np.broadcast_to(0.0, (3, 3)), backwards)
    assert weigh(message).bytes == len(encode(message))
    assert_same(decode(encode(message)), message)


def test_what_was_decoded_may_be_changed_by_its_owner():
    message = decode(encode(FullDownload(np.ones(3), 0, np.eye(2), np.ones(3))))
    for value in (message.sparse, message.matrix, message.dense):
        value += 1.0


def test_an_upload_of_several_senders_is_not_one_message():
    several = Statistics(np.zeros((2, 1, 1)), np.zeros((2, 1)), np.zeros(2, dtype=np.int64))
    with pytest.raises(ProtocolError, match="2 senders cannot be encoded as one message"):
        encode(several)


def test_a_signal_is_its_kind_alone():
    assert encode(Ping()) == b"FB\x01\x09test.ping"
    assert decode(encode(Ping())) == Ping()


GOOD = encode(Snapshot(np.eye(3), np.arange(3.0), holds=7))
KIND = b"linear.snapshot"
FRAME = b"FB\x01" + bytes([len(KIND)]) + KIND


def field(form, dtype, *shape, body=b""):
    return struct.pack(f"<BBB{len(shape)}I", form, dtype, len(shape), *shape) + body


REFUSED = {
    "nothing": (b"", "cut short"),
    "not ours": (b"GB" + GOOD[2:], "do not begin with FB"),
    "another version": (b"FB\x02" + GOOD[3:], "schema version 2, but this end speaks version 1"),
    "an unknown kind": (b"FB\x01\x04nope", "unknown kind of message 'nope'"),
    "a kind that is no text": (b"FB\x01\x02\xff\xfe", "unknown kind of message"),
    "no kind": (b"FB\x01\x00", "unknown kind of message ''"),
    "a kind cut short": (b"FB\x01\x09lin", "cut short"),
    "bytes after the end": (GOOD + b"\x00", "1 bytes after its end"),
    "an unknown form": (FRAME + field(9, 0, 1, 1), "unknown form"),
    "a form that the field may not have": (FRAME + field(0, 0, 1, 1, body=b"\0" * 8), "unknown form"),
    "an unknown type": (FRAME + field(1, 7, 1, 1), "type"),
    "too many dimensions": (FRAME + field(1, 0, *[1] * 9), "number of dimensions"),
    "a matrix that is not square": (FRAME + field(1, 0, 1, 2), "must be square"),
    "a matrix of one dimension": (FRAME + field(1, 0, 3), "must be square"),
    "a matrix beyond all memory": (FRAME + field(1, 0, 2**32 - 1, 2**32 - 1), "the limit is"),
    "no matrices beyond all memory": (FRAME + field(1, 0, 0, 2**32 - 1, 2**32 - 1), "the limit is"),
    "a large matrix without its values": (FRAME + field(1, 0, 2**14, 2**14), "cut short"),
    "not a number": (FRAME + field(1, 0, 1, 1, body=struct.pack("<d", np.nan)), "field 'gram' has values that are not"),
    "infinite": (FRAME + field(1, 0, 1, 1, body=struct.pack("<d", np.inf)), "field 'gram' has values that are not"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bytes_that_are_no_message_are_refused_with_the_reason(case):
    data, reason = REFUSED[case]
    with pytest.raises(ProtocolError, match=reason):
        decode(data)


def sparse(*parts):
    start = b"FB\x01" + bytes([len(FullDownload.kind)]) + FullDownload.kind.encode()
    return start + b"".join(parts)


@pytest.mark.parametrize(
    "places",
    [(0, 0), (1, 0), (0, 4), (0, 2**32 - 1)],
    ids=["repeated", "out of order", "out of range", "far out of range"],
)
def test_pairs_must_be_in_order_and_in_range(places):
    pairs = struct.pack("<III2d", 2, *places, 1.0, 2.0)
    with pytest.raises(ProtocolError, match="out of order or out of range"):
        decode(sparse(field(2, 0, 4, body=pairs)))


def test_pairs_with_values_that_are_not_finite_are_refused():
    with pytest.raises(ProtocolError, match="not finite"):
        decode(sparse(field(2, 0, 4, body=struct.pack("<IId", 1, 0, np.nan))))


def test_more_pairs_than_bytes_are_refused():
    with pytest.raises(ProtocolError, match="cut short"):
        decode(sparse(field(2, 0, 4, body=struct.pack("<I", 2**32 - 1))))


def is_decoded_or_refused(data):
    """Whatever the bytes are, decoding gives a message or a ProtocolError, never anything else."""
    try:
        return isinstance(decode(data), Message)
    except ProtocolError as error:
        return str(error).isprintable()


@settings(deadline=None, max_examples=examples(60))
@given(messages(kinds=KINDS))
def test_a_message_cut_anywhere_is_refused(message):
    data = encode(message)
    for end in range(len(data)):
        with pytest.raises(ProtocolError):
            decode(data[:end])


@settings(deadline=None, max_examples=examples(1000))
@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_or_refused(data):
    assert is_decoded_or_refused(data)


@settings(deadline=None, max_examples=examples(1000))
@given(st.sampled_from(KINDS), st.binary(max_size=80))
def test_any_bytes_behind_a_good_frame_are_decoded_or_refused(kind, data):
    assert is_decoded_or_refused(b"FB\x01" + bytes([len(kind)]) + kind.encode() + data)


@settings(deadline=None, max_examples=examples(300))
@given(messages(kinds=KINDS), st.integers(0, 2**32 - 1))
def test_a_garbled_message_is_decoded_or_refused(message, seed):
    rng = np.random.default_rng(seed)
    good = np.frombuffer(encode(message), dtype=np.uint8)
    for _ in range(10):
        data = good.copy()
        places = rng.integers(data.size, size=rng.integers(1, 4))
        data[places] = rng.choice([0, 1, 2, 127, 128, 255, int(rng.integers(256))], size=places.size)
        assert is_decoded_or_refused(data.tobytes())


@settings(deadline=None, max_examples=examples(200))
@given(messages(kinds=ARRAYS))
def test_what_was_decoded_can_be_sent_on(message):
    once = decode(encode(message))
    assert encode(once) == encode(message)


@settings(deadline=None, max_examples=30)
@given(messages(kinds=["test.full-upload", "test.full-download"]), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_no_value_that_is_not_finite_gets_through(message, bad):
    for name in ("matrix", "sparse", "dense"):
        value = np.array(getattr(message, name))
        if value.size:
            value.flat[0] = bad
            spoilt = type(message)(**{**vars(message), name: value})
            with pytest.raises(ProtocolError, match=f"field '{name}' has values that are not finite"):
                decode(encode(spoilt))


def test_the_version_of_the_format_is_one():
    assert codec.VERSION == 1, "a change of the format needs a new version, and a new test of the old one"
    assert FullUpload.kind in KINDS
