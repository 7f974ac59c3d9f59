"""The algorithm of a name with parameters, for so many clients."""

from __future__ import annotations

from typing import Any

from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import require_one_each


def chosen_algorithm(algorithm: str | Algorithm, parameters: dict[str, Any]) -> Algorithm:
    """Return the algorithm of a name with parameters, or the object given.

    >>> chosen_algorithm("async-linucb", {"upload_threshold": 3}).upload_threshold
    3.0
    """
    if isinstance(algorithm, str):
        return algorithms[algorithm].from_values(parameters)
    if parameters:
        raise InvalidInput(
            f"parameters {sorted(parameters)} were given beside an algorithm object: set them when you make it"
        )
    return algorithm


def algorithm_of(algorithm: str | Algorithm, parameters: dict[str, Any], clients: int) -> Algorithm:
    """Return the algorithm of a name with parameters, or the object given, for so many clients.

    >>> algorithm_of("async-linucb", {"upload_threshold": 3}, clients=3).upload_threshold
    3.0
    """
    chosen = chosen_algorithm(algorithm, parameters)
    for name, value in vars(chosen).items():
        require_one_each(name, value, clients)
    return chosen
