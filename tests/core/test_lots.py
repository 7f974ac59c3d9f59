"""The lot of a turn gives each arm its share, and never one that has none."""

import math

import numpy as np
import pytest

from fedbandit.core.lots import arm_by_lot, choices_by_lot, lot_of

CHANCES = [[1.0], [0.25, 0.25, 0.5], [0.0, 0.3, 0.0, 0.7, 0.0], [0.1] * 10, [0.999, 0.0005, 0.0005]]


@pytest.mark.parametrize("chances", CHANCES)
def test_over_a_grid_of_lots_each_arm_gets_its_share(chances):
    grid = (np.arange(10_000) + 0.5) / 10_000
    counts = np.bincount([arm_by_lot(np.array(chances), lot) for lot in grid], minlength=len(chances))
    np.testing.assert_allclose(counts / 10_000, chances, atol=2e-4)
    assert not counts[np.array(chances) == 0].any()


def test_the_sum_must_exceed_the_lot_strictly():
    assert arm_by_lot(np.array([0.5, 0.5]), 0.5) == 1
    assert arm_by_lot(np.array([0.0, 1.0]), 0.0) == 1


def test_where_rounding_leaves_no_arm_the_last_possible_one_is_chosen():
    assert arm_by_lot(np.array([0.5, 0.5 - 1e-12, 0.0]), 1.0 - 1e-16) == 1
    assert arm_by_lot(np.array([1.0, 0.0]), 1.0) == 0


def test_a_lot_is_the_place_of_a_normal_in_its_distribution():
    normals = np.random.default_rng(0).standard_normal(20_000)
    lots = np.sort([lot_of(each) for each in normals])
    assert np.abs(lots - (np.arange(20_000) + 0.5) / 20_000).max() < 1.63 / math.sqrt(20_000)  # Kolmogorov, 1 %
    assert [lot_of(each) for each in (-math.inf, 0.0, math.inf)] == [0.0, 0.5, 1.0]


def test_choices_come_with_their_chances():
    decided = choices_by_lot(np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([-3.0, 3.0]))
    assert decided.choices.tolist() == [0, 1]
    assert decided.propensity.tolist() == [0.2, 0.1]
