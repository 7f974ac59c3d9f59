"""A pattern reads what the codec reads, value for value, and leaves everything else to it."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.messages import AskingStatistics, Factors, Hello, Snapshot, Statistics
from fedbandit.wire import decode, encode
from fedbandit.wire.patterns import Pattern

SHAPES = {"gram": (3, 3), "moment": (3,)}


def statistics(dtype=np.float64):
    rows = np.random.default_rng(5).standard_normal((4, 3)).astype(dtype)
    return Statistics((rows.T @ rows)[np.newaxis], rows.sum(axis=0)[np.newaxis], np.array([4]))


def same(one, other):
    assert type(one) is type(other)
    for name in one.layout():
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert (left == right).all()
        assert left.flags.writeable == right.flags.writeable or not left.ndim


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 8), (np.float32, 4), (np.float16, 2)])
def test_a_pattern_reads_what_the_codec_reads(dtype, size):
    data = encode(statistics(dtype))
    same(Pattern.of(Statistics, SHAPES, size).read(data), decode(data))


def test_headers_that_are_numbers_are_read_too():
    plain = statistics()
    data = encode(AskingStatistics(*vars(plain).values(), np.array([9]), np.array([0.5])))
    same(Pattern.of(AskingStatistics, SHAPES, 8).read(data), decode(data))


def test_every_byte_that_is_no_value_matters():
    pattern, data = Pattern.of(Statistics, SHAPES, 8), encode(statistics())
    values = {*range(len(data) - 8, len(data))}  # the header
    values |= {each for each in range(len(data)) if _is_value(data, each)}
    for place in sorted({*range(len(data))} - values):
        changed = bytearray(data)
        changed[place] ^= 1
        assert pattern.read(bytes(changed)) is None


def _is_value(data, place):
    gram, moment = statistics().gram[0], statistics().moment[0]
    packed = [gram[np.triu_indices(3)].tobytes(), moment.tobytes()]
    return any(data.index(each) <= place < data.index(each) + len(each) for each in packed)


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"\0", lambda _: b""])
def test_bytes_of_another_length_are_left_to_the_codec(change):
    assert Pattern.of(Statistics, SHAPES, 8).read(change(encode(statistics()))) is None


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["gram", "moment"])
def test_values_that_are_not_finite_are_left_to_the_codec(field, wrong):
    plain = statistics()
    getattr(plain, field).reshape(-1)[0] = wrong
    assert Pattern.of(Statistics, SHAPES, 8).read(encode(plain)) is None


def test_huge_values_are_finite():
    plain = statistics()
    plain.moment[:] = 1e200
    data = encode(plain)
    same(Pattern.of(Statistics, SHAPES, 8).read(data), decode(data))


def test_other_shapes_and_sizes_of_numbers_are_left_to_the_codec():
    data = encode(statistics())
    assert Pattern.of(Statistics, {"gram": (4, 4), "moment": (4,)}, 8).read(data) is None
    assert Pattern.of(Statistics, SHAPES, 4).read(data) is None


def test_where_bytes_depend_on_values_there_is_no_pattern():
    assert Pattern.of(Factors, {"factor": (3, 3), "moment": (3,)}, 8) is None
    assert Pattern.of(Snapshot, SHAPES, 8) is None
    assert Pattern.of(Hello, {}, 8) is not None
