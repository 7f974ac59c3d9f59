"""State goes to bytes and back, and nothing else comes in that way."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedbandit.core.errors import ProtocolError
from fedbandit.wire.state import decode_state, encode_state
from samples.examples import examples
from samples.sealed import sealed


class Pair(NamedTuple):
    first: np.ndarray
    second: int


@dataclass
class Inner:
    pair: Pair
    values: dict[int, float]


@dataclass
class Outer:
    inner: Inner | None
    many: list[Pair]
    name: str


@dataclass
class Stranger:
    value: int


DTYPES = [
    np.float64,
    np.float32,
    np.int64,
    np.int32,
    np.int16,
    np.int8,
    np.uint64,
    np.uint32,
    np.uint16,
    np.uint8,
    bool,
]
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
KEYS = st.integers() | st.text() | st.tuples(st.integers(), st.integers())
VALUES = st.recursive(
    PLAIN | ARRAYS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=12,
)


def same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return one == other or (one != one and other != other)


@settings(max_examples=examples(300))
@given(VALUES)
def test_plain_values_come_back_with_their_types(value):
    assert same(decode_state(encode_state(value)), value)


def test_records_come_back_as_what_they_were():
    value = Outer(Inner(Pair(np.eye(2), 3), {1: 0.5}), [Pair(np.zeros(0), 1)], "name")
    again = decode_state(encode_state(value), Outer)
    assert type(again.inner.pair) is Pair
    assert encode_state(again) == encode_state(value)


def test_arrays_keep_their_order_in_memory_and_can_be_written_to():
    for array in (np.zeros((3, 2), order="F"), np.zeros((3, 2)), np.zeros((4, 4))[::2, ::2]):
        again = decode_state(encode_state(array))
        assert again.flags.f_contiguous == array.flags.f_contiguous
        again[0, 0] = 1.0


def test_an_array_has_as_many_dimensions_as_can_be_read():
    array = np.arange(2).reshape((1,) * 31 + (2,))
    assert same(decode_state(encode_state(array)), array)


def test_an_array_without_numbers_of_a_shape_that_no_memory_has_is_refused():
    data = b"FS\x01" + encode_state(np.zeros((0, 7)))[4 + GOOD[3] : -4]
    far = data.replace((7).to_bytes(8, "little"), (1 << 60).to_bytes(8, "little"))
    with pytest.raises(ProtocolError, match="an array of impossible shape"):
        decode_state(sealed(far))


def test_an_array_of_another_library_comes_back_as_one_of_numpy():
    class Elsewhere:
        def __array__(self, dtype=None, copy=None):
            return np.arange(6, dtype=np.float32).reshape(2, 3)

    data = encode_state([Elsewhere()])
    (array,) = decode_state(data)
    assert type(array) is np.ndarray
    assert encode_state([array]) == data
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_numbers_of_numpy_stay_numbers_of_numpy():
    for number in (np.float64(0.1), np.int64(-7), np.bool_(True), np.float32(0.1)):
        again = decode_state(encode_state(number))
        assert type(again) is type(number)
        assert again == number


def test_a_record_that_nobody_expects_is_refused():
    with pytest.raises(ProtocolError, match="the state has a record 'Stranger', where Inner, Outer, Pair may stand"):
        decode_state(encode_state(Stranger(1)), Outer)


def nested(levels):
    value = [7]
    for _ in range(levels - 1):
        value = [value]
    return value


def test_what_is_nested_deeper_than_any_state_is_refused():
    assert decode_state(encode_state(nested(32))) == nested(32)
    with pytest.raises(ProtocolError, match="nested more than 32 levels deep"):
        decode_state(encode_state(nested(33)))


@pytest.mark.parametrize("value", [object(), 1j, np.array(["text"]), np.array([1j]), {1, "one"}, Exception("no")])
def test_what_has_no_bytes_is_refused_when_it_is_written(value):
    with pytest.raises(TypeError):
        encode_state(value)


def test_every_damage_is_noticed():
    data = encode_state(Outer(None, [], "name"))
    for at in range(len(data)):
        for change in (1, 128):
            damaged = bytearray(data)
            damaged[at] ^= change
            with pytest.raises(ProtocolError):
                decode_state(bytes(damaged), Outer)
    for length in range(len(data)):
        with pytest.raises(ProtocolError):
            decode_state(data[:length], Outer)


def test_bytes_behind_a_state_are_refused():
    with pytest.raises(ProtocolError):
        decode_state(sealed(encode_state("name")[:-4] + b"N"))


GOOD = encode_state([Outer(Inner(Pair(np.eye(2), 3), {1: 0.5}), [], "name"), {"a": (1, None)}, {1, 2}, np.float32(1)])


def check_anything(body):
    for head in (b"FS\x01", b"FS\x02\x050.1.0", b"FS\x02"):
        try:
            value = decode_state(sealed(head + body), Outer)
        except ProtocolError:
            continue
        decode_state(encode_state(value), Outer)


def test_a_set_whose_members_cannot_be_compared_was_never_written():
    body = b"E" + (2).to_bytes(4, "little") + b"S" + (1).to_bytes(4, "little") + b"a" + b"N"
    data = b"FS\x01" + body
    with pytest.raises(ProtocolError, match="malformed collection"):
        decode_state(sealed(data), Outer)


@st.composite
def bodies(draw):
    body = bytearray(GOOD[4 + GOOD[3] : -4])
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(body) - 1))
        if draw(st.booleans()):
            body[at] = draw(st.integers(0, 255))
        else:
            body[at : at + draw(st.integers(0, 8))] = draw(st.binary(max_size=8))
    return bytes(body)


@settings(max_examples=examples(1000))
@given(st.one_of(bodies(), st.binary(max_size=60)))
def test_bytes_with_a_right_checksum_are_a_state_or_a_protocol_error(body):
    check_anything(body)


@pytest.mark.slow
@settings(max_examples=100_000)
@given(st.one_of(bodies(), st.binary(max_size=60)))
def test_a_hundred_thousand_bytes_are_a_state_or_a_protocol_error(body):
    check_anything(body)
