"""The bound of the largest eigenvalue, beside the eigenvalues themselves."""

import numpy as np
import pytest

from fedbandit.kernels.linear.eigenvalues import most_of_eigenvalues
from fedbandit.kernels.linear.ridge_rows import scratch_for


@pytest.mark.parametrize("dimension", [1, 3, 30])
def test_no_eigenvalue_passes_its_bound_and_the_largest_is_near_it(dimension):
    rng, scratch = np.random.default_rng(dimension), scratch_for(0, dimension)
    for scale in (1e-12, 1.0, 1e12):
        arms = rng.standard_normal((2 * dimension, dimension)) * rng.choice([1e-3, 1.0], dimension)
        matrix = scale * arms.T @ arms
        largest = np.linalg.eigvalsh(matrix)[-1]
        assert largest <= most_of_eigenvalues(matrix, *scratch) <= 1.001 * dimension**0.125 * largest
