"""Run an algorithm on an environment: the one call behind the library, the command line and the experiments."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.core.environment import Environment, environments
from fedbandit.core.errors import InvalidInput
from fedbandit.kernels.shared.compiled import seconds_starting
from fedbandit.protocol.chosen_algorithm import chosen_algorithm
from fedbandit.simulation.in_process import simulate
from fedbandit.simulation.result import Result


def run(
    algorithm: str | Algorithm,
    environment: str | Environment,
    *,
    turns: int | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    **parameters: Any,
) -> Result:
    """Run an algorithm, by name with its parameters or as an object, and return the result.

    Without `turns` the run has the environment's natural length: a recorded file's, or 300 turns a client.

    >>> import fedbandit as fb
    >>> world = fb.environment("linear", clients=5, arms=4, dimension=3)
    >>> result = fb.run("async-linucb", world, turns=100, upload_threshold=1.5)
    >>> result.turns, result.regret[-1] < 100
    (100, np.True_)
    """
    chosen = chosen_algorithm(algorithm, parameters)
    world = environments[environment].from_values({}) if isinstance(environment, str) else environment
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInput(f"seed must be a whole number of at least 0, not {seed!r}: give one")
    setting = world.setting()  # a world of data reads them here, before the clock runs
    count = setting.horizon if turns is None else turns
    began = time.perf_counter() - seconds_starting()
    trace, wire = simulate(chosen, world, count, seed, progress)
    seconds = time.perf_counter() - seconds_starting() - began
    return Result.of(
        trace,
        seconds,
        algorithm=chosen.id,
        parameters=chosen.values(),
        environment=world.id,
        world=world.values(),
        seed=seed,
        clients=setting.clients,
        warnings=tuple(wire.clients.warnings_at_the_end),
    )


def algorithm(name: str, **parameters: Any) -> Algorithm:
    """Return an algorithm by name with its parameters.

    >>> import fedbandit as fb
    >>> fb.algorithm("sync-linucb", sync_threshold=5).sync_threshold
    5.0
    """
    return algorithms[name].from_values(parameters)


def environment(name: str, **parameters: Any) -> Environment:
    """Return an environment by name with its parameters.

    >>> import fedbandit as fb
    >>> fb.environment("linear", clients=7).clients
    7
    """
    return environments[name].from_values(parameters)
