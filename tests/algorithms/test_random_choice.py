"""The random policy: uniform, the same again for a seed, and silent."""

import numpy as np

import fedbandit as fb


def test_every_arm_is_chosen_equally_often_and_nothing_is_sent():
    world = fb.environment("linear", clients=7, arms=4, dimension=3)
    result = fb.run("random", world, turns=8000)
    np.testing.assert_allclose(np.bincount(result.choice) / 8000, 0.25, atol=0.02)
    assert result.messages[-1] == 0


def test_a_client_alone_makes_the_choices_that_it_makes_in_a_crowd():
    world = fb.environment("linear", clients=3, arms=4, dimension=3)
    result = fb.run("random", world, turns=60)
    client = fb.Client("random", dimension=3, clients=3, number=1)
    alone = [client.choose(np.eye(4, 3)) for _ in range((result.client == 1).sum())]
    np.testing.assert_array_equal(alone, result.choice[result.client == 1])
    assert client.learn(1.0) == []
