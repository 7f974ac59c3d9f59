"""Columns of past values."""

import numpy as np

from fedbandit.features.columns import Column


def test_numbers_stay_numbers_and_what_is_missing_is_nan():
    column = Column.of([1, None, 2.5])
    np.testing.assert_array_equal(column.numbers, [1, np.nan, 2.5])
    assert len(column) == 3


def test_other_values_are_kept_once_each():
    column = Column.of(["a", "b", None, "a", float("nan"), ["x"], ["x"]])
    assert column.values == ["a", "b", ["x"]]
    assert column.places.tolist() == [0, 1, -1, 0, -1, 2, 2]
    assert column.take(np.array([3, 2])).places.tolist() == [0, -1]


def test_true_is_not_1():
    column = Column.of([True, 1, 1.0, "1"])
    assert [type(each) for each in column.values] == [bool, int, float, str]


def test_numbers_are_values_too():
    column = Column(np.array([2.0, np.nan, 1.0, 2.0])).as_values()
    assert column.values == [1.0, 2.0]
    assert column.places.tolist() == [1, -1, 0, 1]
