"""The logarithm that is the same everywhere."""

import math
import sys

import numpy as np
import pytest

from fedbandit.kernels.features.logarithm import logarithm, plain_logarithm

ENDS = [
    sys.float_info.min / 2**52,
    sys.float_info.min,
    0.5**0.5,
    1 - 2**-53,
    1.0,
    1 + 2**-52,
    2**0.5,
    sys.float_info.max,
]


@pytest.mark.parametrize("numbers", [ENDS, 10 ** np.random.default_rng(1).uniform(-300, 300, 3000),
                                     np.random.default_rng(2).uniform(0.5, 2, 3000)])  # fmt: skip
def test_it_is_right_to_the_last_place_and_python_and_machine_code_agree(numbers):
    for number in map(float, numbers):
        found = logarithm(number)
        assert abs(found - math.log(number)) <= math.ulp(found)
        assert found == plain_logarithm(number)
