"""A small world for any registered algorithm, chosen by what the algorithm declares of itself."""

from __future__ import annotations

from collections.abc import Container
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.neural.shared.parameters import NeuralAlgorithm
from fedbandit.core.algorithm import Setting
from fedbandit.core.turns import Duels, Rewards, Turns

CLIENTS, ARMS, DIMENSION = 3, 4, 5
NEEDS_JAX = pytest.mark.skipif(find_spec("jax") is None, reason="needs JAX: pip install '.[neural]'")


def algorithm_names(later: Container[str] = ()) -> list[Any]:
    """The algorithms of the package, not those that tests make up; those of `later` are left to `make test-all`."""
    own = [name for name in fb.algorithms if fb.algorithms[name].__module__.startswith("fedbandit.")]
    neural = {name for name in own if issubclass(fb.algorithms[name], NeuralAlgorithm)}
    return [
        pytest.param(name, marks=[NEEDS_JAX] * (name in neural) + [pytest.mark.slow] * (name in later)) for name in own
    ]


def deployed_names() -> list[Any]:
    """The same, for long runs on the nodes of a deployment, where `fn-ucb` is left to `make test-all`.

    It has the messages, the states and the code of `fn-ucb-less`, but for every client's inverse in place of their
    mean. What that changes is still compared for both: with the transcription, over bytes, by hand, and as states.
    """
    return algorithm_names(later={"fn-ucb"})


def small_setting(name: str, rounds: int) -> Setting:
    in_rounds = fb.algorithms[name].acts_in_rounds
    return Setting(CLIENTS, ARMS, DIMENSION, rounds if in_rounds else rounds * CLIENTS)


def small_turns(name: str, rounds: int, seed: int) -> Turns:
    """So many rounds in which every client has a turn."""
    algorithm = fb.algorithms[name]
    rng = np.random.default_rng([seed, 1])
    count = rounds * CLIENTS
    shape = (count, DIMENSION) if algorithm.shares_context else (count, ARMS, DIMENSION)
    features = rng.standard_normal(shape)
    features /= np.linalg.norm(features, axis=-1, keepdims=True)
    if algorithm.duels:
        outcomes = Duels(rng.standard_normal((count, ARMS)), rng.random(count))
    else:
        outcomes = Rewards(rng.integers(0, 2, (count, ARMS)).astype(np.float64))
    return Turns(np.tile(np.arange(CLIENTS), rounds), features, outcomes)
