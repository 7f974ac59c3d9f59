"""State goes to bytes and back, and nothing else comes in that way."""

from dataclasses import dataclass, field
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedbandit.core.errors import ProtocolError
from fedbandit.core.former_names import formerly, regrouped
from fedbandit.wire.state import decode_state, encode_state, field_of, writer_of


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


def sealed(data):
    return data + crc32(data).to_bytes(4, "little")


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


@settings(max_examples=300)
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


def test_a_record_of_another_version_is_refused():
    data = encode_state(Pair(np.zeros(1), 1)).replace(b"second", b"sekond")
    data = data[:-4] + crc32(data[:-4]).to_bytes(4, "little")
    with pytest.raises(
        ProtocolError,
        match=r"lacks the fields second: it was written by fedbandit .* open it with the version that wrote it",
    ):
        decode_state(data, Pair)


@dataclass
class Before:
    gone: list[Stranger]
    count: int
    kept: float


@formerly("Before", number="count")
@dataclass
class After:
    kept: float
    number: int
    new: list[int] = field(default_factory=list)


@formerly("Pair", array="first")
class Couple(NamedTuple):
    array: np.ndarray
    second: int
    third: str = "none"


def written_by(version, value):
    """The bytes of a state as another version would have written them."""
    data = encode_state(value)
    return sealed(data[:3] + bytes([len(version)]) + version.encode() + data[4 + data[3] : -4])


def test_a_record_is_read_after_its_name_and_fields_have_changed():
    assert decode_state(encode_state(Before([Stranger(1)], 2, 0.5)), After) == After(0.5, 2, [])
    assert decode_state(encode_state(Pair(np.zeros(1), 7)), Couple)[1:] == (7, "none")


@regrouped(lambda stored: {"whole": Pair(stored["kept"], stored["count"] + len(stored["gone"]))})
@formerly("Before")
@dataclass
class Together:
    whole: Pair
    strangers: list[Stranger] = field(default_factory=list)  # what the fields of before are made of can be read


def test_fields_are_made_of_those_that_a_record_had_before():
    assert decode_state(encode_state(Before([Stranger(1)], 2, 0.5)), Together) == Together(Pair(0.5, 3))
    assert decode_state(encode_state(Together(Pair(0.5, 3))), Together) == Together(Pair(0.5, 3))


def test_a_record_that_has_neither_its_fields_nor_those_of_before_is_refused():
    for strange in (Before(7, 2, 0.5), Before([], None, 0.5)):
        with pytest.raises(ProtocolError, match="the record 'Together' lacks the fields whole"):
            decode_state(encode_state(strange), Together)
    data = encode_state(Before([], 2, 0.5)).replace(b"count", b"comte")
    with pytest.raises(ProtocolError, match="the record 'Together' lacks the fields whole"):
        decode_state(sealed(data[:-4]), Together)


def test_a_field_of_before_that_stands_there_twice_is_refused():
    data = encode_state(Before([], 2, 0.5)).replace(b"\x05\x00\x00\x00count", b"\x04\x00\x00\x00gone")
    with pytest.raises(ProtocolError, match="has the field 'gone' twice"):
        decode_state(sealed(data[:-4]), Together)


def test_version_1_is_read_for_ever():
    data = encode_state(Before([Stranger(1)], 2, 0.5))
    old = sealed(b"FS\x01" + data[4 + data[3] : -4])
    assert decode_state(old, After) == After(0.5, 2, [])
    assert writer_of(old) == "0.1"


def test_what_a_newer_version_knows_and_this_one_does_not_is_not_forgotten():
    data = written_by("99.1.0", Before([], 2, 0.5))
    told = "has fields gone that this fedbandit .* it was written by fedbandit 99.1.0: upgrade to that"
    with pytest.raises(ProtocolError, match=told):
        decode_state(data, After)
    assert decode_state(written_by("99.1.0", After(0.5, 2)), After) == After(0.5, 2)
    with pytest.raises(ProtocolError, match=r"'Stranger', where .* may stand: upgrade to fedbandit 99\.1\.0, which"):
        decode_state(written_by("99.1.0", Stranger(1)), After)


def test_a_format_that_is_not_known_names_the_version_that_knows_it():
    data = bytearray(written_by("99.1.0", None)[:-4])
    data[2] = 3
    with pytest.raises(ProtocolError, match=r"state of format 3, but this .* reads up to 2: upgrade it to 99\.1\.0"):
        decode_state(sealed(bytes(data)))


def test_a_field_under_both_its_names_is_refused():
    data = encode_state(Before([], 2, 0.5)).replace(b"gone", b"numb")
    data = data.replace(b"\x04\x00\x00\x00numb", b"\x06\x00\x00\x00number")
    with pytest.raises(ProtocolError, match="has the field 'number' twice"):
        decode_state(sealed(data[:-4]), After)


def test_a_record_that_nobody_expects_is_refused_where_it_would_be_kept():
    with pytest.raises(ProtocolError, match="the state has a record 'Stranger'"):
        decode_state(encode_state(Before([], 2, Stranger(1))), After)


def test_two_types_may_not_have_had_one_name():
    @formerly("Before")
    @dataclass
    class Other:
        after: After

    with pytest.raises(TypeError, match="two types of one state have, or had, the name 'Before'"):
        decode_state(encode_state(None), Other)


def test_one_field_can_be_read_whatever_else_there_is():
    data = encode_state(Before([Stranger(1)], 2, 0.5))
    assert (field_of(data, "kept"), field_of(data, "nothing"), field_of(encode_state(7), "kept")) == (0.5, None, None)


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
        decode_state(data + crc32(data).to_bytes(4, "little"), Outer)


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


@settings(max_examples=1000)
@given(st.one_of(bodies(), st.binary(max_size=60)))
def test_bytes_with_a_right_checksum_are_a_state_or_a_protocol_error(body):
    check_anything(body)


@pytest.mark.slow
@settings(max_examples=100_000)
@given(st.one_of(bodies(), st.binary(max_size=60)))
def test_a_hundred_thousand_bytes_are_a_state_or_a_protocol_error(body):
    check_anything(body)
