"""Numbers of many peers at once: all are noted, or none; what is beyond the roster is neither read nor written."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.protocol.sequence import advance, raise_to


def roster():
    """The last numbers of three peers, within an array that goes on on both sides."""
    whole = np.array([6, 4, 5, 6, 6])
    return whole, whole[1:4]


def test_the_next_number_of_each_is_noted():
    whole, last = roster()
    assert advance(last, np.array([0, 2, 1, 0]), np.array([5, 7, 6, 6]))
    assert whole.tolist() == [6, 6, 6, 7, 6]


@pytest.mark.parametrize(("client", "number"), [(3, 7), (-1, 7), (2, 6), (2, 8)])
def test_with_one_that_is_unknown_or_not_the_next_nothing_is_noted(client, number):
    whole, last = roster()
    assert not advance(last, np.array([0, client]), np.array([5, number]))
    assert whole.tolist() == roster()[0].tolist()


def test_a_number_above_the_last_of_each_is_noted():
    whole, last = roster()
    assert raise_to(last, np.array([0, 1, 2]), 7)
    assert whole.tolist() == [6, 7, 7, 7, 6]


@pytest.mark.parametrize(("client", "number"), [(3, 7), (-1, 7), (2, 6)])
def test_with_one_that_is_unknown_or_has_had_it_no_number_is_noted(client, number):
    whole, last = roster()
    assert not raise_to(last, np.array([0, client]), number)
    assert whole.tolist() == roster()[0].tolist()
