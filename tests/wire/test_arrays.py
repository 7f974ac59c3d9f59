"""How a factor is packed: what earlier development versions wrote is read too, and no claim of rows is trusted."""

import struct

import numpy as np
import pytest

from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Layout
from fedbandit.wire.arrays import pack, packed_bytes, unpack
from fedbandit.wire.reader import Reader

FACTOR = np.array([[1.0, 2.0, 3.0], [0.0, 4.0, 5.0], [0.0, 0.0, 0.0]], np.float16)
VALUES = np.array([1, 2, 3, 4, 5], "<f2").tobytes()
HALF = 2  # the code of half precision


def taken(data):
    return unpack(Reader(data), Layout.FACTOR, "factor", most_values=100)


def test_a_factor_says_its_size_once_and_how_many_rows_follow():
    data = pack(FACTOR, Layout.FACTOR)
    assert data == struct.pack("<BBII", 4, HALF, 3, 2) + VALUES
    assert packed_bytes(Layout.FACTOR, (3, 3), 2) == len(data) + 2  # of the third row one value would be sent
    np.testing.assert_array_equal(taken(data), FACTOR)


def test_a_factor_with_both_dimensions_as_development_versions_wrote_it_is_read():
    np.testing.assert_array_equal(taken(struct.pack("<BBB2II", 3, HALF, 2, 3, 3, 2) + VALUES), FACTOR)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<BBII", 4, HALF, 3, 4) + VALUES,
        struct.pack("<BBB2II", 3, HALF, 2, 3, 2, 2) + VALUES,
        struct.pack("<BBB3II", 3, HALF, 3, 1, 3, 3, 2) + VALUES,
        struct.pack("<BBII", 4, HALF, 11, 1) + VALUES,
        struct.pack("<BBII", 4, 3, 3, 2) + VALUES,
        struct.pack("<BBII", 4, HALF, 3, 3) + VALUES,
    ],
    ids=["more rows than its size", "not square", "a stack", "above the limit", "an unknown type", "cut short"],
)
def test_a_factor_that_cannot_be_is_refused(data):
    with pytest.raises(ProtocolError):
        taken(data)


@pytest.mark.parametrize("layout", [Layout.DENSE, Layout.SYMMETRIC, Layout.SPARSE])
def test_only_a_field_declared_as_a_factor_may_hold_one(layout):
    with pytest.raises(ProtocolError, match="unknown form"):
        unpack(Reader(pack(FACTOR, Layout.FACTOR)), layout, "gram", most_values=100)
