"""The alternation on scalars agrees with the literal alternation on vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference.am as literal
from fedbandit.kernels.linear.alternation import STILL, alternate, alternate_over_data, into_ball
from samples.examples import examples


def problem(seed, size_g, size_l, past, scale):
    """Return past statistics of both parts, one new observation, and estimates to start from."""
    rng = np.random.default_rng(seed)
    xs_g, xs_l = rng.standard_normal((past, size_g)), rng.standard_normal((past, size_l))
    ys = scale * rng.standard_normal(past)
    parts = [(xs.T @ xs, xs.T @ ys) for xs in (xs_g, xs_l)]
    new = rng.standard_normal(size_g), rng.standard_normal(size_l), scale * rng.standard_normal()
    start = literal.unit_ball(rng.standard_normal(size_g)), literal.unit_ball(rng.standard_normal(size_l))
    return parts, new, start


@given(
    seed=st.integers(0, 10_000),
    size_g=st.integers(1, 6),
    size_l=st.integers(0, 6),
    past=st.integers(0, 12),
    scale=st.sampled_from([0.1, 1.0, 30.0]),
    alternations=st.sampled_from([1, 2, 7, 100]),
)
@settings(max_examples=examples(150), deadline=None)
def test_one_observation_moves_the_estimates_as_the_literal_alternation_does(
    seed, size_g, size_l, past, scale, alternations
):
    (part_g, part_l), (x_g, x_l, y), (theta_g, theta_l) = problem(seed, size_g, size_l, past, scale)
    expected = literal.alternate(theta_g, theta_l, part_g, part_l, x_g[None], x_l[None], np.array([y]), alternations)
    inverse_g = literal.generalised_inverse(part_g[0] + np.outer(x_g, x_g))
    inverse_l = literal.generalised_inverse(part_l[0] + np.outer(x_l, x_l))
    alternate(
        theta_g, theta_l, inverse_g @ part_g[1], inverse_g @ x_g, inverse_l @ part_l[1], inverse_l @ x_l, x_g, x_l, y,
        alternations,
    )  # fmt: skip
    np.testing.assert_allclose(theta_g, expected[0], atol=1e-8)
    np.testing.assert_allclose(theta_l, expected[1], atol=1e-8)


@pytest.mark.parametrize("alternations", [1, 3, 100])
@pytest.mark.parametrize("rows", [2, 40])
def test_over_all_data_the_sums_suffice(rows, alternations):
    rng = np.random.default_rng(rows)
    xs_g, xs_l, ys = rng.standard_normal((rows, 3)), rng.standard_normal((rows, 2)), rng.standard_normal(rows)
    download = (2.0 * np.eye(3), rng.standard_normal(3))
    nothing = (np.zeros((2, 2)), np.zeros(2))
    first = rng.standard_normal(3)
    expected = literal.alternate(first, nothing[1], download, nothing, xs_g, xs_l, ys, alternations)
    theta_g, theta_l = first.copy(), np.zeros(2)
    alternate_over_data(
        theta_g, theta_l, literal.generalised_inverse(download[0] + xs_g.T @ xs_g),
        literal.generalised_inverse(xs_l.T @ xs_l), np.ascontiguousarray(xs_g.T @ xs_l), download[1] + xs_g.T @ ys,
        xs_l.T @ ys, alternations,
    )  # fmt: skip
    np.testing.assert_allclose(theta_g, expected[0], atol=1e-9)
    np.testing.assert_allclose(theta_l, expected[1], atol=1e-9)


def test_from_the_answer_it_does_not_move():
    theta_g, theta_l = np.array([0.5, 0.1]), np.array([-0.3])
    x_g, x_l = np.array([1.0, 2.0]), np.array([1.0])
    past = [(np.eye(2), theta_g.copy()), (np.eye(1), theta_l.copy())]
    inverses = [np.linalg.inv(np.eye(2) + np.outer(x_g, x_g)), np.linalg.inv(np.eye(1) + np.outer(x_l, x_l))]
    before = theta_g.copy(), theta_l.copy()
    y = x_g @ theta_g + x_l @ theta_l
    alternate(
        theta_g, theta_l, inverses[0] @ past[0][1], inverses[0] @ x_g, inverses[1] @ past[1][1], inverses[1] @ x_l,
        x_g, x_l, y, 100,
    )  # fmt: skip
    np.testing.assert_allclose(theta_g, before[0], atol=STILL)
    np.testing.assert_allclose(theta_l, before[1], atol=STILL)


def test_the_projection_leaves_what_is_inside_the_ball():
    np.testing.assert_array_equal(into_ball(np.array([0.3, 0.4])), [0.3, 0.4])
    np.testing.assert_allclose(np.linalg.norm(into_ball(np.array([30.0, 40.0]))), 1.0)
