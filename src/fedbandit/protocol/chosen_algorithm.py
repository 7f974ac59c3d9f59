"""The algorithm of a name with parameters, for so many clients."""

from __future__ import annotations

from typing import Any

from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.core.errors import InvalidInput


def algorithm_of(algorithm: str | Algorithm, parameters: dict[str, Any], clients: int) -> Algorithm:
    """Return the algorithm of a name with parameters, or the object given, for so many clients.

    >>> algorithm_of("async-linucb", {"upload_threshold": 3}, clients=3).upload_threshold
    3.0
    """
    if not isinstance(algorithm, str) and parameters:
        raise InvalidInput(
            f"parameters {sorted(parameters)} were given beside an algorithm object: set them when you make it"
        )
    chosen = algorithms[algorithm].from_values(parameters) if isinstance(algorithm, str) else algorithm
    for name, value in vars(chosen).items():
        if isinstance(value, tuple) and len(value) != clients:
            raise InvalidInput(
                f"{name} lists {len(value)} values for {clients} clients: give one number, or one for each client"
            )
    return chosen
