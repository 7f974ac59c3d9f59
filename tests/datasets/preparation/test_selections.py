"""The papers' users and items are chosen as they say."""

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.datasets.interactions import interactions
from fedbandit.datasets.preparation.selections import (
    ASYNC_LINUCB_20M,
    FEDGLB_UCB_20M,
    Extract,
    liked_matrix,
    most_active,
    most_active_users,
)

EVENTS = interactions(
    np.array([10, 10, 20, 30, 30, 30, 40, 40]),
    np.array([1, 2, 1, 1, 2, 3, 2, 3]),
    np.array([5.0, 2.0, 4.0, 3.0, 3.5, 1.0, 4.0, 5.0]),
)


def test_the_most_active_come_first_and_of_equals_the_first() -> None:
    chosen = most_active_users(EVENTS, 3)
    assert chosen.users.tolist() == [30, 10, 40]
    assert chosen.user.tolist() == [1, 1, 0, 0, 0, 2, 2]
    assert chosen.items.tolist() == [1, 2, 3]


@pytest.mark.parametrize("count", [0, 5])
def test_more_than_there_are_cannot_be_chosen(count: int) -> None:
    with pytest.raises(InvalidInput, match=f"count must be from 1 to 4, not {count}"):
        most_active(EVENTS.per_user(), count)


def test_an_extract_drops_low_ratings_first_and_never_keeps_the_last_user() -> None:
    assert Extract(lowest_value=0, more_than=1).of(EVENTS).users.tolist() == [10, 30]
    kept = Extract(lowest_value=3, more_than=1).of(EVENTS)
    assert kept.users.tolist() == [30]
    assert kept.value.tolist() == [3.0, 3.5]
    assert len(Extract(lowest_value=9, more_than=0).of(EVENTS)) == 0


def test_an_extract_agrees_with_a_walk_through_the_file_like_the_authors() -> None:
    generator = np.random.default_rng(3)
    user = np.sort(generator.integers(1, 12, 200))
    value = generator.integers(1, 11, 200) / 2
    events = interactions(user, generator.integers(0, 50, 200), value)
    for lowest, more_than in [(1.0, 12), (3.0, 9), (4.5, 3)]:
        kept, current, count = [], None, 0
        for one, rating in zip(user, value, strict=True):
            if rating < lowest:
                continue
            if one != current:
                kept += [current] if count > more_than else []
                current, count = one, 0
            count += 1
        assert Extract(lowest, more_than).of(events).users.tolist() == kept


def test_the_papers_extracts_are_their_scripts() -> None:
    assert (ASYNC_LINUCB_20M.lowest_value, ASYNC_LINUCB_20M.more_than) == (1, 3_000)
    assert (FEDGLB_UCB_20M.lowest_value, FEDGLB_UCB_20M.more_than) == (3, 2_500)


def test_the_liked_matrix_marks_ratings_above_the_threshold() -> None:
    matrix = liked_matrix(EVENTS, users=2, items=3)
    assert matrix.user.tolist() == [2, 0]
    assert matrix.item.tolist() == [0, 1, 2]
    assert matrix.liked.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert matrix.rated.tolist() == [[True, True, True], [True, True, False]]
