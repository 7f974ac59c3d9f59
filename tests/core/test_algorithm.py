"""An algorithm is a named dataclass of parameters that makes its two sides for a setting."""

from dataclasses import dataclass

import numpy as np
import pytest

from fedbandit.core.algorithm import Algorithm, Setting, algorithms
from fedbandit.core.environment import Environment, environments
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter


@dataclass(frozen=True)
class Unnamed(Algorithm):
    threshold: float | tuple[float, ...] = parameter(2.0, "one number or one a client", at_least=1)
    ridge: float = parameter(1.0, "regularisation", above=0)


def test_an_algorithm_with_a_name_is_registered_with_its_title_and_paper():
    cls = algorithms["async-linucb"]
    assert cls.id == "async-linucb"
    assert cls.title
    assert cls.paper


def test_an_algorithm_without_a_name_is_not_registered():
    assert Unnamed not in [algorithms[name] for name in algorithms]
    assert Unnamed.id == ""


def test_of_a_value_given_per_client_each_client_has_its_own():
    several = Unnamed(threshold=(2, 3, 4), ridge=5)
    assert several.for_client(1) == Unnamed(threshold=3, ridge=5)
    assert Unnamed(ridge=5).for_client(1) == Unnamed(ridge=5)


def test_an_algorithm_or_environment_must_say_what_it_is():
    with pytest.raises(TypeError, match="Unnamed does not say how to build its two sides"):
        Unnamed().build(Setting(1, 1, 1, 1))
    with pytest.raises(TypeError, match="does not say its sizes"):
        Environment().setting()
    with pytest.raises(TypeError, match="does not make turns"):
        Environment().turns(1, 0, 1)


def test_an_environment_with_a_name_is_registered():
    assert environments["linear"].id == "linear"
    assert environments["linear"].title


@pytest.mark.parametrize("name", ["clients", "arms", "dimension", "horizon"])
@pytest.mark.parametrize("value", [0, -1, 1.5, None, "3", True])
def test_a_setting_has_whole_sizes(name, value):
    sizes = {"clients": 1, "arms": 1, "dimension": 1, "horizon": 1}
    with pytest.raises(InvalidInput, match=f"{name} must be a whole number of at least 1, not"):
        Setting(**{**sizes, name: value})


def test_a_setting_takes_numpys_whole_numbers():
    assert Setting(np.int64(2), 1, 1, 1).clients == 2
