"""Duels between films that users of MovieLens liked or did not."""

import os

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.datasets.files import examples
from fedbandit.datasets.preparation.features import truncated_svd
from fedbandit.datasets.preparation.selections import liked_matrix
from fedbandit.datasets.sets import movielens


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path / "cache"))


def small(path, **more):
    sizes = {"clients": 2, "arms": 3, "dimension": 1, "users": 3, "items": 3, "rows": 1, **more}
    return fb.environment("likes", path=str(path), **sizes)


def test_utilities_are_the_answering_users_likes_and_features_are_of_the_other_rows():
    with examples.folder("movielens-1m") as path:
        block = next(small(path, answers="own").turns(40, 0, 40))
        matrix = liked_matrix(movielens.load("1m", path).ratings, users=3, items=3)
    known = truncated_svd(matrix.liked[:1].T, 1)
    np.testing.assert_array_equal(block.client, np.tile([0, 1], 20))
    for turn in range(40):
        np.testing.assert_allclose(np.sort(block.features[turn, :, 0]), np.sort(known[:, 0]))
        row = np.sort(matrix.liked[1 + block.client[turn]])
        np.testing.assert_array_equal(np.sort(block.outcomes.utility[turn]), row)


def test_anyone_may_answer_for_anyone():
    with examples.folder("movielens-1m") as path:
        block = next(small(path).turns(400, 0, 400))
    of_first = {tuple(np.sort(row)) for row in block.outcomes.utility[block.client == 0].tolist()}
    assert len(of_first) > 1


def test_blocks_of_any_length_show_the_same_world():
    with examples.folder("movielens-1m") as path:
        whole = next(small(path).turns(30, 4, 30))
        parts = list(small(path).turns(30, 4, 7))
    np.testing.assert_array_equal(np.concatenate([part.features for part in parts]), whole.features)
    np.testing.assert_array_equal(np.concatenate([part.outcomes.coin for part in parts]), whole.outcomes.coin)
    np.testing.assert_array_equal(np.concatenate([part.outcomes.utility for part in parts]), whole.outcomes.utility)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"arms": 300}, "arms=300, but there are items=200 films"),
        ({"rows": 200}, "rows=200 of users=200 leave nobody to answer"),
        ({"answers": "own", "clients": 181}, "clients=181, but 180 users answer"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(parameters, sentence):
    with pytest.raises(fb.InvalidInput, match=sentence):
        fb.environment("likes", **parameters)


@pytest.mark.skipif("FEDBANDIT_DATA" not in os.environ, reason="FEDBANDIT_DATA names no folder with the official files")
def test_on_the_official_files_a_film_that_more_users_liked_wins_more_duels():
    block = next(fb.environment("likes").turns(20_000, 0, 20_000))
    liked = block.outcomes.utility.mean()
    assert 0.4 < liked < 0.7
    first = np.tile([0, 1], (20_000, 1))
    won, better = (
        block.outcomes.feedback(slice(None), first),
        block.outcomes.utility[:, 0] > block.outcomes.utility[:, 1],
    )
    assert won[better].mean() == pytest.approx(1 / (1 + np.exp(-1)), abs=0.02)
