"""How many clients have a turn: at most, and of skewed arrivals as is to be expected."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.environments.arrivals import Arrivals


@pytest.mark.parametrize("clients", [1, 7, 5_000])
@pytest.mark.parametrize("skew", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("turns", [1, 100, 20_000])
def test_skewed_arrivals_bring_hardly_more_clients_than_are_expected(clients, skew, turns):
    world = fb.environment("linear", clients=clients, arrivals="skewed", skew=skew)
    met = len(np.unique(Arrivals("skewed", clients, skew).next(np.random.default_rng(0), turns)))
    assert met <= 1.1 * world.acting(turns) + 3
    assert world.acting(turns) <= min(clients, turns, 1.5 * met + 5)


def test_of_a_world_in_rounds_all_have_a_turn():
    world = fb.environment("cosine", clients=6)
    assert (world.acting(turns=4), world.acting(turns=600)) == (4, 6)
