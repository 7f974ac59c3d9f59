"""The projection onto a ball in the norm of a matrix meets its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.kernels.glm.projection import project_to_ball
from reference.glb_steps import project
from samples.examples import examples


def projected(gram, ridge, point, radius):
    found = np.array(point, dtype=float)
    scratch = np.empty((len(found) + 2, len(found) + 2))
    multiplier = project_to_ball(gram, ridge, found, radius, scratch)
    return found, multiplier


@st.composite
def problems(draw):
    """A matrix with eigenvalues over many orders of magnitude, a point inside or far outside, a radius."""
    size = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arms = rng.standard_normal((draw(st.integers(0, 30)), size)) * 10.0 ** rng.uniform(-3, 3, size)
    point = rng.standard_normal(size) * 10.0 ** draw(st.floats(-3, 4))
    return arms.T @ arms, 10.0 ** draw(st.floats(-2, 2)), point, 10.0 ** draw(st.floats(-2, 2))


@settings(max_examples=examples(500))
@given(problem=problems())
def test_the_projection_meets_its_optimality_conditions(problem):
    """Feasible; nu >= 0; nu > 0 only on the sphere; and A (theta - point) + nu theta = 0."""
    gram, ridge, point, radius = problem
    found, multiplier = projected(gram, ridge, point, radius)
    matrix = gram + ridge * np.eye(len(point))
    assert np.linalg.norm(found) <= radius * (1 + 1e-12)
    assert multiplier >= 0
    if np.linalg.norm(point) <= radius:
        assert multiplier == 0
        assert (found == point).all()
    else:
        assert abs(np.linalg.norm(found) - radius) <= 1e-12 * radius
        residual = matrix @ (found - point) + multiplier * found
        assert np.linalg.norm(residual) <= 1e-9 * np.linalg.norm(matrix, 2) * np.linalg.norm(point)


@settings(max_examples=100)
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_no_other_point_of_the_ball_is_nearer(problem, seed):
    gram, ridge, point, radius = problem
    found, _ = projected(gram, ridge, point, radius)
    matrix = gram + ridge * np.eye(len(point))
    others = np.random.default_rng(seed).standard_normal((50, len(point)))
    others *= radius / np.maximum(np.linalg.norm(others, axis=1, keepdims=True), 1e-300)
    others = np.vstack([others, found + 1e-3 * (others - found)])  # convex: still in the ball
    far = np.einsum("ni,ij,nj->n", others - point, matrix, others - point)
    near = (found - point) @ matrix @ (found - point)
    assert (far >= near * (1 - 1e-9)).all()


@pytest.mark.parametrize("radius", [1e-3, 0.5, 0.999])
def test_it_agrees_with_bracketing_the_secular_equation(radius):
    rng = np.random.default_rng(3)
    arms = rng.standard_normal((40, 6))
    point = rng.standard_normal(6)
    point /= np.linalg.norm(point)
    found, _ = projected(arms.T @ arms, 2.0, point, radius)
    np.testing.assert_allclose(found, project(point, arms.T @ arms + 2.0 * np.eye(6), radius), rtol=0, atol=1e-12)
