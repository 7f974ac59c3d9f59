"""Records of another version are read, or the sentence names the version that can."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from fedbandit.core.errors import ProtocolError
from fedbandit.core.former_names import formerly, regrouped
from fedbandit.wire.state import decode_state, encode_state, field_of, writer_of
from samples.sealed import sealed


class Pair(NamedTuple):
    first: np.ndarray
    second: int


@dataclass
class Stranger:
    value: int


def test_a_record_of_another_version_is_refused():
    data = encode_state(Pair(np.zeros(1), 1)).replace(b"second", b"sekond")
    with pytest.raises(
        ProtocolError,
        match=r"lacks the fields second: it was written by fedbandit .* open it with the version that wrote it",
    ):
        decode_state(sealed(data[:-4]), Pair)


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
    strangers: list[Stranger] = field(default_factory=list)  # what the former fields are made of can be read


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
