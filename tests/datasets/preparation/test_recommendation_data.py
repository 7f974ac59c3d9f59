"""Preparing recommendation sets: which events and items remain, and what is kept between runs."""

import shutil

import numpy as np
import pytest

from fedbandit import InvalidInput
from fedbandit.datasets import DamagedFile
from fedbandit.datasets.files import examples
from fedbandit.datasets.files.release import Release
from fedbandit.datasets.preparation import recommendation_data
from fedbandit.datasets.preparation.recommendation_data import Request, entry_path, prepare
from fedbandit.environments import recommendation


@pytest.fixture
def lastfm(tmp_path):
    with examples.folder("lastfm") as path:
        shutil.copytree(path, tmp_path / "lastfm")
    return tmp_path / "lastfm"


@pytest.fixture
def fresh():
    """Forget what this process has prepared, as a new process would."""
    recommendation_data._prepared.cache_clear()


def test_the_environment_offers_what_can_be_prepared():
    assert recommendation.SETS == recommendation_data.SETS
    assert set(recommendation.SCALES) == set(recommendation_data.SCALES)


def test_events_come_by_user_and_item_and_items_without_tags_have_no_features(lastfm):
    data = prepare("lastfm", Request(dimension=2), lastfm)
    np.testing.assert_array_equal(data.user, [0, 0, 1, 1])
    np.testing.assert_array_equal(data.item, [0, 2, 0, 1])
    np.testing.assert_array_equal(data.user_ids, [2, 5])
    np.testing.assert_array_equal(data.item_ids, [1, 4, 7])
    assert not data.features[1].any()
    np.testing.assert_allclose(data.user_means()[0], (data.features[0] + data.features[2]) / 2)


def test_the_most_active_users_and_events_of_a_greater_value_can_be_kept(lastfm):
    only = prepare("lastfm", Request(dimension=2, users=1, above=5), lastfm)
    assert only.user_ids.tolist() == [2]
    assert only.item_ids.tolist() == [1, 4, 7]  # what user 5 had stays among the items on offer
    with pytest.raises(InvalidInput, match="users must be at most 2, not 3"):
        prepare("lastfm", Request(dimension=2, users=3), lastfm)
    with pytest.raises(InvalidInput, match="no event has a value above 1000"):
        prepare("lastfm", Request(dimension=2, above=1000), lastfm)


def test_delicious_leaves_out_what_has_no_tags():
    with examples.folder("delicious") as path:
        data = prepare("delicious", Request(dimension=1), path)
    assert data.item_ids.tolist() == [1, 2]
    assert len(data.user) == 3


def test_movielens_without_tags_takes_the_words_of_titles_as_well():
    with examples.folder("movielens-1m") as path:
        assert prepare("movielens-1m", Request(dimension=3), path).features.shape == (3, 3)


def test_the_second_run_reads_what_the_first_prepared(lastfm, fresh, monkeypatch):
    first = prepare("lastfm", Request(dimension=2, scale="unit"), lastfm)
    recommendation_data._prepared.cache_clear()
    monkeypatch.setattr(recommendation_data, "load", lambda *_: pytest.fail("prepared again"))
    again = prepare("lastfm", Request(dimension=2, scale="unit"), lastfm)
    np.testing.assert_array_equal(first.features, again.features)


def test_the_same_bytes_elsewhere_and_later_have_the_same_entry(lastfm, tmp_path):
    shutil.copytree(lastfm, tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "tags.dat").touch()
    here, there = (entry_path(Release.open("lastfm", tmp_path / name), Request(2)) for name in ("lastfm", "elsewhere"))
    assert here == there
    assert entry_path(Release.open("lastfm", lastfm), Request(3)) != here


def test_a_changed_file_is_prepared_anew(lastfm, fresh):
    before = prepare("lastfm", Request(dimension=2), lastfm)
    file = lastfm / "user_artists.dat"
    file.write_text(file.read_text() + "5\t7\t3\n")
    assert len(prepare("lastfm", Request(dimension=2), lastfm).user) == len(before.user) + 1


def test_a_cut_file_is_refused_with_its_name_line_and_remedy(lastfm, fresh):
    file = lastfm / "user_artists.dat"
    file.write_text(file.read_text()[:-4])
    with pytest.raises(
        DamagedFile, match=r"user_artists.dat line 5: expected 3 columns, found 2: .* data fetch lastfm"
    ):
        prepare("lastfm", Request(dimension=2), lastfm)


def test_more_dimensions_than_words_are_refused(lastfm, fresh):
    with pytest.raises(InvalidInput, match="dimension must be from 1 to 2, not 25"):
        prepare("lastfm", Request(dimension=25), lastfm)


@pytest.mark.parametrize(
    ("name", "request_", "users", "items", "events"),
    [
        ("lastfm", Request(25), 1892, 17_632, 92_834),
        pytest.param("delicious", Request(25), 1841, 56_431, 87_210, marks=pytest.mark.slow),
        ("movielens-1m", Request(25, "standardised", users=54), 54, 3_706, 63_406),
    ],
)
def test_the_official_files_give_the_papers_sizes(official, name, request_, users, items, events):
    data = prepare(name, request_, official)
    assert (data.user_ids.size, len(data.features), len(data.user)) == (users, items, events)
    assert np.isfinite(data.features).all()
