"""A pattern reads what the codec reads, value for value, and leaves everything else to it."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.messages import AskingStatistics, Factors, Snapshot, Statistics
from fedbandit.wire import decode, encode
from fedbandit.wire.patterns import Pattern


def statistics(dtype=np.float64):
    rows = np.random.default_rng(5).standard_normal((4, 3)).astype(dtype)
    return Statistics((rows.T @ rows)[np.newaxis], rows.sum(axis=0)[np.newaxis], np.array([4]))


def factors(rows=2, dtype=np.float16, seed=5):
    values = np.triu(np.random.default_rng(seed).standard_normal((3, 3)))
    values[rows:] = 0.0
    return Factors(values.astype(dtype)[np.newaxis], np.ones((1, 3), np.float32), np.array([4]))


def pattern_of(message):
    return Pattern.of(message, encode(message))


def same(one, other):
    assert type(one) is type(other)
    for name in one.layout():
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert (left == right).all()
        assert left.flags.writeable == right.flags.writeable or not left.ndim


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_a_pattern_reads_what_the_codec_reads(dtype):
    other = statistics(dtype)
    other.gram[:] *= 2
    for message in (statistics(dtype), other):
        same(pattern_of(statistics(dtype)).read([encode(message)]), decode(encode(message)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("rows", range(4))
def test_a_factor_is_read_by_the_pattern_of_as_many_rows(rows, dtype):
    data = encode(factors(rows, dtype, seed=6))
    same(pattern_of(factors(rows, dtype)).read([data]), decode(data))
    for others in {*range(4)} - {rows}:
        assert pattern_of(factors(others, dtype)).read([data]) is None


def test_headers_that_are_numbers_are_read_too():
    plain = statistics()
    message = AskingStatistics(*vars(plain).values(), np.array([9]), np.array([0.5]))
    same(pattern_of(message).read([encode(message)]), decode(encode(message)))


@pytest.mark.parametrize("message", [statistics(), factors()], ids=["statistics", "factors"])
def test_every_byte_that_is_no_value_matters(message):
    pattern, data = pattern_of(message), encode(message)
    for place in sorted({*range(len(data) - 8)} - values_in(message, data)):  # the last are a header
        changed = bytearray(data)
        changed[place] ^= 1
        assert pattern.read([bytes(changed)]) is None


def values_in(message, data):
    packed = [message.moment[0].tobytes()]
    packed += [message.gram[0][np.triu_indices(3)].tobytes()] if isinstance(message, Statistics) else []
    packed += [message.factor[0][np.triu_indices(2, 0, 3)].tobytes()] if isinstance(message, Factors) else []
    return {place for each in packed for place in range(data.index(each), data.index(each) + len(each))}


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"\0", lambda _: b""])
def test_bytes_of_another_length_are_left_to_the_codec(change):
    assert pattern_of(statistics()).read([change(encode(statistics()))]) is None


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("make", "field"), [(statistics, "gram"), (statistics, "moment"), (factors, "factor")])
def test_values_that_are_not_finite_are_left_to_the_codec(make, field, wrong):
    plain = make()
    getattr(plain, field).reshape(-1)[0] = wrong
    assert pattern_of(make()).read([encode(plain)]) is None


def test_huge_values_are_finite():
    plain = statistics()
    plain.moment[:] = 1e200
    data = encode(plain)
    same(pattern_of(statistics()).read([data]), decode(data))


def test_other_sizes_of_numbers_are_left_to_the_codec():
    assert pattern_of(statistics(np.float32)).read([encode(statistics())]) is None


def test_where_bytes_do_not_say_where_values_stand_there_is_no_pattern():
    assert pattern_of(Snapshot(np.eye(3), np.ones(3), holds=7)) is None  # what sites take in comes seldom
    longer = encode(factors(rows=3)).replace(b"\x04\x02" + bytes([3, 0, 0, 0]) + bytes([3, 0, 0, 0]), b"")
    assert Pattern.of(factors(), longer) is None  # another way to write it


@pytest.mark.parametrize("make", [statistics, factors])
def test_several_are_read_as_each_of_them_is(make):
    messages = [make(), make(), make()]
    messages[1].moment[:] *= 2
    read = pattern_of(make()).read([encode(each) for each in messages])
    for place, each in enumerate(messages):
        same(read.rows(slice(place, place + 1)), decode(encode(each)))


@pytest.mark.parametrize("place", [0, 1])
def test_several_are_left_to_the_codec_if_one_is_not_of_the_pattern(place):
    data = [encode(statistics())] * 2
    for changed in (data[0][:-1], b"XX" + data[0][2:], encode(statistics(np.float32))):
        assert pattern_of(statistics()).read([changed if each == place else data[0] for each in range(2)]) is None
    message = statistics()
    message.moment[0, 1] = np.nan
    assert pattern_of(statistics()).read([encode(message) if each == place else data[0] for each in range(2)]) is None
