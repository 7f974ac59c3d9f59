"""The cosine and the square world: unit contexts, one reward function for all clients, clients in order."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb

FUNCTIONS = {"cosine": lambda along: np.cos(3 * along), "square": lambda along: 10 * along**2}


def block_of(name, count=3000, seed=0, **sizes):
    return next(fb.environment(name, **sizes).turns(count, seed, count))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("source", ["cube", "sphere"])
def test_contexts_have_length_one(name, source):
    block = block_of(name, source=source)
    np.testing.assert_allclose(np.linalg.norm(block.features, axis=-1), 1.0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rewards_are_the_function_of_one_unit_direction(name):
    block = block_of(name)
    contexts, mean = block.features.reshape(-1, 10), block.outcomes.mean.ravel()
    square = fb.environment("square")
    other = next(square.turns(3000, 0, 3000)).outcomes.mean.ravel()  # the same seed: 10 (a.x)^2 of the same contexts
    np.testing.assert_allclose(mean, FUNCTIONS[name](np.sqrt(other / 10)), atol=1e-12)
    gram = np.linalg.lstsq(np.stack([np.outer(x, x).ravel() for x in contexts]), other / 10, rcond=None)[0].reshape(
        10, 10
    )
    assert np.linalg.eigvalsh((gram + gram.T) / 2)[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_noise_has_the_deviation_that_was_asked_for(name):
    block = block_of(name, noise=0.5)
    noise = (block.outcomes.payoff - block.outcomes.mean)[:, 0]
    assert noise.std() == pytest.approx(0.5, rel=0.05)
    assert block_of(name, noise=0.0).outcomes.payoff.tolist() == block_of(name, noise=0.0).outcomes.mean.tolist()


def test_clients_act_in_order():
    assert block_of("cosine", clients=3, count=7).client.tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_its_natural_length_is_the_papers():
    assert fb.environment("square", clients=5).setting().horizon == 25_000
