"""Sums that travel rounded: what honest clients send is taken in, what they cannot have rounded to is refused."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.encoding import ROUNDING, checked, upload
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError

DIMENSION = 4
BOUNDS = Bounds(context=1.0, reward=1.0)


def observed(rng, count):
    """Sums over contexts and rewards that are as large as they may be."""
    contexts = rng.normal(size=(count, DIMENSION))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    return contexts.T @ contexts, contexts.T @ rng.choice([-1.0, 1.0], size=count)


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("seed", range(10))
def test_a_client_that_keeps_what_rounding_left_is_never_refused(precision, seed):
    rng, before = np.random.default_rng(seed), 0
    left_gram, left_moment = np.zeros((DIMENSION, DIMENSION)), np.zeros(DIMENSION)
    for count in rng.integers(1, 7, size=20).tolist():
        gram, moment = observed(rng, count)
        left_gram, left_moment = left_gram + gram, left_moment + moment
        sent = upload(precision, left_gram[np.newaxis], left_moment[np.newaxis], np.array([count]), None)
        assert (checked(precision, sent.message, before, BOUNDS) == sent.gram[0]).all()
        left_gram, left_moment, before = left_gram - sent.gram[0], left_moment - sent.moment[0], before + count
        assert abs(np.trace(left_gram)) <= ROUNDING[precision] * before


@pytest.mark.parametrize(("precision", "more"), [("float32", 1e-5), ("float16", 0.02)])
def test_more_than_rounding_can_add_is_refused(precision, more):
    gram, moment = observed(np.random.default_rng(1), 5)
    large = (1.0 + more) * gram[np.newaxis]
    sent = upload(precision, large, moment[np.newaxis], np.array([5]), None)
    with pytest.raises(ProtocolError, match="trace of the gram matrix"):
        checked(precision, sent.message, 0, BOUNDS)


def test_units_of_rounding_are_those_of_the_formats():
    units = {"float64": 0.0, "float32": np.finfo(np.float32).epsneg, "float16": np.finfo(np.float16).epsneg}
    assert {precision: 8 * unit for precision, unit in units.items()} == ROUNDING
