"""Canonical JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbandit.features.canonical import canonical, number

# of RFC 8785, appendix B: the bits of a number, and its text
RFC = [
    (0x0000000000000000, "0"), (0x8000000000000000, "0"), (0x0000000000000001, "5e-324"),
    (0x7FEFFFFFFFFFFFFF, "1.7976931348623157e+308"), (0x4340000000000000, "9007199254740992"),
    (0xC340000000000000, "-9007199254740992"), (0x4430000000000000, "295147905179352830000"),
    (0x44B52D02C7E14AF5, "9.999999999999997e+22"), (0x44B52D02C7E14AF6, "1e+23"),
    (0x444B1AE4D6E2EF4E, "999999999999999700000"), (0x444B1AE4D6E2EF4F, "999999999999999900000"),
    (0x444B1AE4D6E2EF50, "1e+21"), (0x3EB0C6F7A0B5ED8C, "9.999999999999997e-7"), (0x3EB0C6F7A0B5ED8D, "0.000001"),
    (0x41B3DE4355555553, "333333333.3333332"), (0x41B3DE4355555557, "333333333.33333343"),
    (0xBECBF647612F3696, "-0.0000033333333333333333"), (0x43143FF3C1CB0959, "1424953923781206.2"),
]  # fmt: skip


@pytest.mark.parametrize(("bits", "text"), RFC)
def test_numbers_are_written_as_the_standard_shows(bits, text):
    import struct

    (value,) = struct.unpack(">d", bits.to_bytes(8, "big"))
    assert number(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_number_changes(value):
    assert float(number(value)) == value


def test_keys_are_sorted_and_texts_are_escaped_as_little_as_possible():
    value = {"b": [True, False, None, 'é\n\x0f\x7f"\\/'], "a": {"z": 1, "Z": 10}}
    assert canonical(value) == '{"a":{"Z":10,"z":1},"b":[true,false,null,"é\\n\\u000f\x7f\\"\\\\/"]}'
    assert json.loads(canonical(value)) == value
