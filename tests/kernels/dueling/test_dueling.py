"""Which two arms meet, and what is kept of a duel."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.kernels.dueling.choices import choose_pairs, share_inverse, winner_minus_loser
from reference.dueling import choose_pair

WHO = np.arange(4)


def beliefs(seed, clients=4, size=3):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((clients, size, size))
    return rng.standard_normal((clients, size)), root @ root.transpose(0, 2, 1) + np.eye(size), rng


@pytest.mark.parametrize("optimism", [0.0, 0.3, 10.0])
def test_pairs_are_those_of_the_transcription(optimism):
    estimate, matrix, rng = beliefs(0)
    for _ in range(50):
        arms = rng.standard_normal((4, 6, 3))
        pairs = choose_pairs(estimate, np.linalg.inv(matrix), np.full(4, optimism), WHO, arms)
        literal = [choose_pair(arms[each], estimate[each], matrix[each], optimism) for each in WHO]
        assert pairs.tolist() == [list(pair) for pair in literal]


def test_each_client_is_served_by_its_own_row():
    estimate, matrix, rng = beliefs(1)
    arms = rng.standard_normal((4, 6, 3))
    inverse, optimism = np.linalg.inv(matrix), np.linspace(0, 3, 4)
    together = choose_pairs(estimate, inverse, optimism, WHO, arms)
    turned = choose_pairs(estimate, inverse, optimism[::-1].copy(), WHO[::-1].copy(), arms[::-1].copy())
    assert together.tolist() == turned[::-1].tolist()


def test_without_an_estimate_all_arms_tie_and_the_first_two_rules_differ():
    arms = np.array([[[0.0, 1.0], [0.0, 1.1], [3.0, 0.0], [-3.0, 2.0]]])
    pairs = choose_pairs(np.zeros((1, 2)), np.eye(2)[np.newaxis], np.ones(1), np.zeros(1, dtype=np.int64), arms)
    assert pairs.tolist() == [[0, 2]]  # the two far arms are equally far: the lower index wins


def test_a_score_that_ties_within_rounding_goes_to_the_lowest_index():
    arms = np.array([[[1.0], [1.0 + 1e-12], [0.5]]])
    pairs = choose_pairs(np.ones((1, 1)), np.ones((1, 1, 1)), np.zeros(1), np.zeros(1, dtype=np.int64), arms)
    assert pairs.tolist() == [[0, 0]]


def test_the_winner_comes_first_in_the_difference():
    arms = np.array([[[1.0, 2.0], [5.0, 5.0]], [[1.0, 2.0], [5.0, 5.0]]])
    pairs = np.array([[0, 1], [0, 1]])
    assert winner_minus_loser(arms, pairs, np.array([1.0, 0.0])).tolist() == [[-4.0, -3.0], [4.0, 3.0]]


def test_an_inverse_is_shared_with_those_it_is_for_and_nobody_else():
    _, matrix, _ = beliefs(2)
    inverse = np.zeros((4, 3, 3))
    share_inverse(matrix[0], np.array([1, 3]), inverse)
    np.testing.assert_allclose(inverse[1] @ matrix[0], np.eye(3), atol=1e-10)
    assert (inverse[3] == inverse[1]).all()
    assert not inverse[[0, 2]].any()
