"""The official files have the counts that are known of them (needs FEDBANDIT_DATA)."""

from pathlib import Path

import numpy as np
import pytest

from fedbandit.datasets import check
from fedbandit.datasets.files import lzw
from fedbandit.datasets.preparation import features, selections
from fedbandit.datasets.sets import (
    adult,
    covertype,
    delicious,
    lastfm,
    magic,
    medical_mnist,
    movielens,
    mushroom,
    shuttle,
    warfarin,
)


def test_lastfm(official: Path) -> None:
    data = lastfm.load(official)
    assert data.counts() == {
        "users": 1_892,
        "artists": 17_632,
        "listening relations": 92_834,
        "tag assignments": 186_479,
        "tags": 11_946,
        "friend pairs": 25_434,
    }
    pairs = np.stack([data.tagging_user, data.tagging_artist])[:, data.tagging_artist >= 0]
    assert data.tagging_user.min() >= 0
    assert data.tagging_tag.min() >= 0
    # 390 tagged artists are not in artists.dat, so fewer pairs than the 71,064 of the file have positions.
    assert np.unique(pairs, axis=1).shape[1] < 71_064
    assert data.artist_names[np.searchsorted(data.listening.items, 1)] == "MALICE MIZER"


@pytest.mark.slow
def test_lastfm_features(official: Path) -> None:
    counts = lastfm.load(official).tag_counts()
    first = features.tag_features(counts, 25)
    assert first.shape == (17_632, 25)
    assert np.array_equal(first, features.tag_features(counts, 25))


def test_delicious(official: Path) -> None:
    data = delicious.load(official)
    tagged = np.unique(np.stack([data.tagging_user, data.tagging_url]), axis=1)
    assert np.unique(data.bookmarking.user).size == 1_843
    assert np.unique(data.contacts).size == 1_861
    assert data.counts() == {
        "users": 1_867,
        "URLs": 65_877,
        "bookmarks": 97_351,
        "tag assignments": 271_417,
        "tags": 53_388,
        "contact pairs": 15_328,
    }
    assert np.unique(data.tagging_tag).size == 3_508
    assert tagged.shape[1] == 77_881
    assert data.tagged_urls().sum() == 56_431
    assert "97,351 of the 104,799 bookmarks of the release are here" in data.missing
    assert "19,470 of the 97,351 bookmarks here have no tags" in data.missing


def test_movielens_100k(official: Path) -> None:
    data = movielens.load("100k", official)
    counts = data.counts()
    assert (counts["ratings"], counts["users"], counts["movies"]) == (100_000, 943, 1_682)
    assert data.missing == ()


def test_movielens_1m(official: Path) -> None:
    data = movielens.load("1m", official)
    counts = data.counts()
    assert (counts["ratings"], counts["users"]) == (1_000_209, 6_040)
    assert (counts["rated movies"], counts["movies"]) == (3_706, 3_883)
    stars = np.bincount(data.ratings.value.astype(int))
    assert stars.tolist() == [0, 56_174, 107_557, 261_197, 348_971, 226_310]
    untimed = data.ratings.time == 0
    assert untimed.sum() == 512_559
    ids = data.ratings.users[data.ratings.user]
    assert (untimed == (ids >= 3_000)).all()
    assert any("512,559 of the 1,000,209 ratings have no time stamp" in sentence for sentence in data.missing)


@pytest.mark.parametrize(
    ("more_than", "users", "ratings"), [(1_000, 40, 49_893), (750, 140, 134_954), (500, 396, 288_809)]
)
def test_active_users_of_movielens_1m(official: Path, more_than: int, users: int, ratings: int) -> None:
    events = movielens.load("1m", official).ratings
    chosen = events.of_users(np.flatnonzero(events.per_user() > more_than))
    assert (chosen.users.size, len(chosen)) == (users, ratings)


def test_the_duelling_matrix_of_movielens_1m(official: Path) -> None:
    matrix = selections.liked_matrix(movielens.load("1m", official).ratings)
    assert matrix.liked.shape == (200, 200)
    assert matrix.rated.sum() == 31_687
    assert matrix.liked.sum() == 21_548
    assert features.truncated_svd(matrix.liked[:20].T, 10).shape == (200, 10)


def test_movielens_1m_needs_titles_for_25_features(official: Path) -> None:
    data = movielens.load("1m", official)
    assert data.word_counts().shape[1] < 25
    assert features.tag_features(data.word_counts(["genres", "titles"]), 25).shape == (3_883, 25)


def test_shuttle(official: Path) -> None:
    data = shuttle.load(official)
    assert data.numbers.shape == (58_000, 9)
    assert data.training_rows == 43_500
    assert np.bincount(data.labels).tolist() == [45_586, 50, 171, 8_903, 3_267, 10, 13]
    assert data.missing == ()


def test_the_packed_training_file_of_shuttle_unpacks_to_the_plain_one(official: Path) -> None:
    folder = official / "statlog-shuttle"
    assert lzw.unpack((folder / "shuttle.trn.Z").read_bytes()) == (folder / "shuttle.trn").read_bytes()


def test_magic(official: Path) -> None:
    data = magic.load(official)
    assert data.numbers.shape == (19_020, 10)
    assert np.bincount(data.labels).tolist() == [12_332, 6_688]
    assert data.missing == ()


def test_warfarin(official: Path) -> None:
    data = warfarin.load(official)
    assert data.subjects.size == 5_700
    assert data.dosed().sum() == 5_528
    assert np.bincount(data.arms()).tolist() == [1_495, 3_382, 651]
    assert data.missing == ()


def test_warfarin_features(official: Path) -> None:
    data = warfarin.load(official)
    matrix = data.features()
    assert matrix.shape == (5_528, 745)
    assert sum(len(levels) for levels in data.levels) == 277
    assert len(data.comorbidity_words) == 464
    assert len(data.feature_names()) == 745
    assert np.isfinite(matrix.data).all()
    known = data.weight[data.dosed()]
    assert np.allclose(matrix[:, [2]].toarray()[np.isnan(known)], np.nanmean(known))


def test_medical_mnist(official: Path) -> None:
    data = medical_mnist.load(official)
    assert data.images.shape == (12_000, 64, 64)
    assert np.bincount(data.labels).tolist() == [2_036, 1_823, 2_036, 2_035, 2_035, 2_035]
    assert data.missing[0] == "12,000 of the 58,954 images of the release are here"
    assert [name.split("/")[0] for name in data.filenames] == [data.class_names[label] for label in data.labels]


@pytest.mark.slow
def test_covertype(official: Path) -> None:
    data = covertype.load(official)
    assert data.numbers.shape == (581_012, 54)
    assert np.bincount(data.labels).tolist() == [211_840, 283_301, 35_754, 2_747, 9_493, 17_367, 20_510]
    assert data.missing == ()


def test_mushroom(official: Path) -> None:
    data = mushroom.load(official)
    assert data.categories.shape == (8_124, 22)
    assert np.bincount(data.labels).tolist() == [4_208, 3_916]
    assert data.missing == ()


def test_adult(official: Path) -> None:
    data = adult.load(official)
    assert data.training_rows == 32_561
    assert data.labels.size - data.training_rows == 16_281
    assert data.numbers.shape[1] + data.categories.shape[1] == 14
    above = data.labels == 1
    assert (above[:32_561].sum(), above[32_561:].sum()) == (7_841, 3_846)
    assert data.missing == ()


@pytest.mark.parametrize("name", ["movielens-1m", pytest.param("covertype", marks=pytest.mark.slow)])
def test_large_sets_are_kept_once_read(name: str, official: Path, nowhere: Path) -> None:
    first = check(name, official)
    assert [path.suffix for path in (nowhere / "parsed").iterdir()] == [".npz"]
    assert check(name, official) == first
