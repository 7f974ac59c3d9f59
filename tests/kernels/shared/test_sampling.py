"""Drawing without replacement: who comes next, and which items a user has not had."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedbandit.kernels.shared.sampling import draw_others, interleave


@given(counts=st.lists(st.integers(0, 6), min_size=1, max_size=8), seed=st.integers(0, 1000))
def test_everything_is_shown_once_and_each_ones_own_in_order(counts, seed):
    counts = np.array(counts, dtype=np.int64)
    order = interleave(np.random.default_rng(seed).random(counts.sum()), counts)
    np.testing.assert_array_equal(np.sort(order), np.arange(counts.sum()))
    owner = np.repeat(np.arange(counts.size), counts)
    for who in range(counts.size):
        mine = order[owner[order] == who]
        assert (np.diff(mine) > 0).all()


def test_each_turn_goes_to_anyone_who_has_something_left_with_equal_probability():
    counts = np.array([1, 100], dtype=np.int64)
    rng = np.random.default_rng(0)
    first = [int(interleave(rng.random(101), counts)[0] == 0) for _ in range(2000)]
    assert 0.45 < np.mean(first) < 0.55  # not one in 101


@given(data=st.data(), seed=st.integers(0, 1000))
def test_other_items_are_distinct_and_none_was_had(data, seed):
    items = data.draw(st.integers(5, 30))
    had = sorted(data.draw(st.sets(st.integers(0, items - 1), max_size=items - 4)))
    first = np.array([0, len(had)])
    uniforms = np.random.default_rng(seed).random((20, 4))
    drawn = draw_others(uniforms, np.zeros(20, dtype=np.int64), first, np.array(had, dtype=np.int64), items)
    for row in drawn:
        assert len(set(row.tolist())) == 4
        assert not set(row.tolist()) & set(had)
        assert row.min() >= 0
        assert row.max() < items


def test_every_other_item_is_drawn_equally_often():
    had = np.array([0, 3, 4, 9])
    uniforms = np.random.default_rng(1).random((30_000, 3))
    drawn = draw_others(uniforms, np.zeros(30_000, dtype=np.int64), np.array([0, 4]), had, 10)
    share = np.bincount(drawn.ravel(), minlength=10) / drawn.size
    np.testing.assert_allclose(share[[1, 2, 5, 6, 7, 8]], 1 / 6, atol=0.01)
    assert share[had].sum() == 0


def test_each_row_looks_at_what_its_own_user_had():
    had, first = np.array([0, 1, 2, 3]), np.array([0, 2, 4])
    drawn = draw_others(np.zeros((2, 2)), np.array([0, 1]), first, had, 4)
    assert sorted(drawn[0]) == [2, 3]
    assert sorted(drawn[1]) == [0, 1]
