"""The experiments on MovieLens 20M: they run on the official layout, and are refused where the set is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fedbandit.core.errors import FedbanditError
from fedbandit.experiments.experiment import Series, experiments
from fedbandit.results.record import run_cell

NAMES = ("async-linucb/movielens-20m", "fedglb-ucb/movielens-20m")


@pytest.fixture
def release(tmp_path):
    """A folder as GroupLens ships it, of three users and twelve films."""
    rng = np.random.default_rng(0)
    films = range(1, 13)
    genres = ["Action|Comedy", "Drama", "Comedy|Drama", "Horror"]
    rated = [(user, film, rng.integers(6, 11) / 2) for user in (1, 2, 3) for film in films[3 * user - 3 : 3 * user + 3]]
    ratings = [f"{user},{film},{value},100" for user, film, value in rated]
    files = {
        "ratings.csv": ["userId,movieId,rating,timestamp", *ratings],
        "movies.csv": ["movieId,title,genres", *(f"{film},Film {film} (2000),{genres[film % 4]}" for film in films)],
        "tags.csv": ["userId,movieId,tag,timestamp", *(f"1,{film},word{film % 5},100" for film in films)],
    }  # fmt: skip
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join([*lines, ""]))
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_the_official_layout_is_all_that_is_needed(release, name):
    whole = experiments[name]
    small = {**whole.world, "path": str(release), "users": 2, "arms": 3, "dimension": 2}
    few = replace(whole, world=small, seeds=1, series=(Series("Random", "random"),))
    ((_, _, cell),) = few.cells()
    assert run_cell(cell)[1].totals["reward"] >= 0
    assert (cell.world["dataset"], cell.turns > 3) == ("movielens-20m", True)


@pytest.mark.parametrize("name", NAMES)
def test_where_the_set_is_not_one_sentence_says_how_to_get_it(monkeypatch, tmp_path, name):
    monkeypatch.setenv("FEDBANDIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FedbanditError, match="get it with `fedbandit data fetch movielens-20m`"):
        next(experiments[name].cells())
