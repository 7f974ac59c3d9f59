"""Messages of every layout, and how to make one of any kind: for the tests of whatever carries messages."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedbandit.core.messages import Download, Layout, Message, Upload, array, header


@dataclass(frozen=True)
class FullUpload(Upload, kind="test.full-upload"):
    matrix: np.ndarray = array(Layout.SYMMETRIC)
    sparse: np.ndarray = array(Layout.SPARSE)
    dense: np.ndarray = array()
    count: np.ndarray = header()


@dataclass(frozen=True)
class FullDownload(Download, kind="test.full-download"):
    sparse: np.ndarray = array(Layout.SPARSE)
    version: int = header()
    matrix: np.ndarray = array(Layout.SYMMETRIC)
    dense: np.ndarray = array()


@dataclass(frozen=True)
class Tall(Upload, kind="test.tall"):
    factor: np.ndarray = array(Layout.FACTOR)
    level: np.ndarray = header(Layout.NUMBER)


@dataclass(frozen=True)
class Ping(Upload, kind="test.ping"):
    """A signal: nothing but protocol."""


@dataclass(frozen=True)
class Pong(Download, kind="test.pong"):
    version: int = header()


DTYPES = st.sampled_from([np.float64, np.float32, np.float16])
SIDES = st.integers(0, 5)


def values(dtype):
    width = np.dtype(dtype).itemsize * 8
    return st.floats(allow_nan=False, allow_infinity=False, width=width)


@st.composite
def payloads(draw, layout, rows):
    """An array as a field of that layout may hold it; of an upload with so many rows, of a download with None."""
    lead = () if rows is None else (rows,)
    dtype = draw(DTYPES)
    if layout is Layout.FACTOR:
        size = draw(SIDES)
        return np.triu(draw(hnp.arrays(dtype, (*lead, size, size), elements=values(dtype))))
    if layout is Layout.SYMMETRIC:
        size = draw(SIDES)
        square = draw(hnp.arrays(dtype, (*lead, size, size), elements=values(dtype)))
        return np.triu(square) + np.swapaxes(np.triu(square, 1), -1, -2)
    shape = (*lead, *draw(st.lists(SIDES, max_size=3)))
    if layout in (Layout.WORDS, Layout.BYTES):
        return draw(hnp.arrays(np.uint64 if layout is Layout.WORDS else np.uint8, shape))
    if layout is Layout.SPARSE:
        return draw(hnp.arrays(dtype, shape, elements=values(dtype), fill=st.just(0.0)))
    return draw(hnp.arrays(dtype, shape, elements=values(dtype)))


@st.composite
def messages(draw, kinds=None, rows=1):
    """A message of one of the kinds (of any known one); an upload has so many rows."""
    cls = Message.known[draw(st.sampled_from(sorted(kinds or Message.known)))]
    is_upload = issubclass(cls, Upload)
    whole = st.integers(-(2**63), 2**63 - 1)
    made = {}
    for name, layout in cls.layout().items():
        if layout is Layout.HEADER:
            made[name] = draw(hnp.arrays(np.int64, rows, elements=whole)) if is_upload else draw(whole)
        elif layout is Layout.NUMBER:
            number = values(np.float64)
            made[name] = draw(hnp.arrays(np.float64, rows, elements=number)) if is_upload else draw(number)
        else:
            made[name] = draw(payloads(layout, rows if is_upload else None))
    return cls(**made)


def assert_same(one, other):
    """Both messages are of one type and hold the same values in arrays of the same shape and precision."""
    assert type(one) is type(other)
    for name, layout in one.layout().items():
        left, right = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
        np.testing.assert_array_equal(left, right, err_msg=name)
        assert left.shape == right.shape
        assert layout.is_header or left.dtype == right.dtype
