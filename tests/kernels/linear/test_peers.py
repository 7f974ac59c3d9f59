"""What peers have told together is bounded without being added up."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.linear.shared.messages import Statistics

RIDGE = 0.1
ALONG, ACROSS = np.array([1.0, 1.0]), np.array([1.0, -1.0])


def server_after(*uploads):
    """A server of two clients, that nobody is told apart from, after uploads of (client, gram)."""
    algorithm = fb.algorithm("clustered-linucb", ridge=RIDGE, test_level=0, download_threshold=1e6)
    side = algorithm.build(fb.Setting(2, arms=2, dimension=2, horizon=100)).server
    state = side.start(2)
    for client, gram in uploads:
        side.receive(state, np.array([client]), Statistics(gram[np.newaxis], np.zeros((1, 2)), np.array([1])))
    return state


def log_det(*grams):
    return np.linalg.slogdet(sum(grams) + RIDGE * np.eye(2))[1]


@pytest.mark.parametrize("share", [1e-3, 0.1, 1.0, 10.0])
def test_no_determinant_passes_its_bound_where_directions_are_correlated(share):
    much, more = 10 * np.outer(ACROSS, ACROSS), share * RIDGE / 2 * np.outer(ALONG, ALONG)
    state = server_after((0, much), (1, more))
    assert state.verdicts.most[0] >= log_det(much, more) - 1e-12
    assert state.verdicts.most[1] >= log_det(much, more) - 1e-12


def test_the_bound_is_near_once_much_is_shared():
    much, more = 100 * np.eye(2), np.eye(2)
    state = server_after((0, much), (1, more))
    assert log_det(much, more) <= state.verdicts.most[0] <= log_det(much, more) + 1e-3
