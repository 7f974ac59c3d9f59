"""Every reader takes its files from a folder, a zip, packed or not, with either line end."""

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fedbandit.datasets import catalogue, load
from fedbandit.datasets.files import examples
from fedbandit.datasets.sets import (
    adult,
    covertype,
    delicious,
    lastfm,
    magic,
    movielens,
    mushroom,
    shuttle,
    warfarin,
)

NAMES = [description.name for description in catalogue()]
TEXT_NAMES = [name for name in NAMES if name != "medical-mnist"]


def written(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def zipped(path: Path, files: dict[str, bytes], inner: str = "") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(inner + name, content)
        archive.writestr(f"__MACOSX/{inner}._{next(iter(files))}", b"litter")
    return path


def counts(name: str, path: Path) -> dict[str, int]:
    return load(name, path).counts()


@pytest.mark.parametrize("name", NAMES)
def test_folder_and_zip_read_the_same(name: str, tmp_path: Path) -> None:
    files = examples.files(name)
    folder = written(tmp_path / "folder", files)
    assert counts(name, folder) == counts(name, zipped(tmp_path / "flat.zip", files))
    assert counts(name, folder) == counts(name, zipped(tmp_path / "nested.zip", files, "release-1.0/"))
    assert load(name, folder).missing  # a made-up set is never complete


@pytest.mark.parametrize("name", NAMES)
def test_packed_files_read_the_same(name: str, tmp_path: Path) -> None:
    files = examples.files(name)
    packed = {f"{file}.gz": gzip.compress(content) for file, content in files.items()}
    expected = counts(name, written(tmp_path / "plain", files))
    assert counts(name, written(tmp_path / "packed", packed)) == expected
    assert counts(name, zipped(tmp_path / "packed.zip", packed)) == expected


@pytest.mark.parametrize("name", TEXT_NAMES)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last_line_ends", [True, False])
def test_either_line_end_reads_the_same(name: str, line_end: bytes, last_line_ends: bool, tmp_path: Path) -> None:
    files = examples.files(name)
    expected = counts(name, written(tmp_path / "as-is", files))
    changed = {}
    for file, content in files.items():
        lines = content.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
        changed[file] = line_end.join(lines) + (line_end if last_line_ends else b"")
    assert counts(name, written(tmp_path / "changed", changed)) == expected


def test_lastfm_keeps_encodings_plays_and_dates(tmp_path: Path) -> None:
    data = lastfm.load(written(tmp_path, examples.files("lastfm")))
    assert data.artist_names.tolist() == ["Sigur Rós", "Nobody", "The Others"]
    assert data.tag_names.tolist() == ["ambient", "café"]
    assert data.listening.value.tolist() == [900, 30, 8, 2]
    assert data.tagging_artist.tolist() == [0, 2, -1]
    assert data.tagging_date.astype(str).tolist() == ["2009-04-01", "2010-12-01", "2011-01-01"]
    assert data.friends.tolist() == [[0, 1], [1, 0]]
    assert data.tag_counts().toarray().tolist() == [[1, 0], [0, 0], [0, 1]]


def test_lastfm_without_its_other_files_says_what_it_lacks(tmp_path: Path) -> None:
    files = examples.files("lastfm")
    data = lastfm.load(written(tmp_path, {"user_artists.dat": files["user_artists.dat"]}))
    assert data.artist_names.tolist() == ["", "", ""]
    assert "0 of the 25,434 friend pairs of the release are here" in data.missing
    assert "user_friends.dat is not here" in data.missing


def test_delicious_joins_listed_and_tagged_bookmarks(tmp_path: Path) -> None:
    data = delicious.load(written(tmp_path, examples.files("delicious")))
    assert data.bookmarking.users.tolist() == [8, 9, 30]
    assert list(zip(data.bookmarking.user, data.bookmarking.item, strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 1),
        (1, 2),
    ]
    assert data.tag_names.tolist() == ["café", '"quoted']
    assert data.tagged_urls().tolist() == [True, True, False]
    assert "2 of the 4 bookmarks here have no tags" in data.missing


def test_delicious_reads_the_time_columns_of_the_full_release(tmp_path: Path) -> None:
    files = examples.files("delicious")
    del files["user_bookmarks.dat"]
    files["user_taggedbookmarks.dat"] = (
        b"userID\tbookmarkID\ttagID\tday\tmonth\tyear\thour\tminute\tsecond\r\n"
        b"8\t1\t1\t8\t11\t2010\t23\t29\t22\r\n8\t1\t2\t7\t11\t2010\t23\t29\t22\r\n"
    )
    data = delicious.load(written(tmp_path, files))
    assert len(data.bookmarking) == 1
    assert data.bookmarking.time.tolist() == [1289172562]  # the first of the two, in UTC


def test_movielens_100k_has_flags_for_genres(tmp_path: Path) -> None:
    data = movielens.load("100k", written(tmp_path, examples.files("movielens-100k")))
    assert data.titles.tolist() == ["Café (1995)", "GoldenEye (1995)"]
    named = [name for name, has in zip(data.genre_names, data.genres[1], strict=True) if has]
    assert named == ["Action", "Adventure", "Thriller"]
    assert data.ratings.users.tolist() == [22, 196]
    assert data.ratings.value.tolist() == [3, 1, 5]


def test_movielens_1m_counts_ratings_without_time(tmp_path: Path) -> None:
    data = movielens.load("1m", written(tmp_path, examples.files("movielens-1m")))
    assert data.titles[1] == "Café de la Nuit (1988)"
    assert data.genre_names == ("Animation", "Comedy", "Drama", "Sci-Fi")
    assert any(sentence.startswith("2 of the 5 ratings have no time stamp") for sentence in data.missing)


def test_movielens_20m_reads_quotes_half_stars_and_tags(tmp_path: Path) -> None:
    files = examples.files("movielens-20m")
    data = movielens.load("20m", zipped(tmp_path / "ml-20m.zip", files, "ml-20m/"))
    assert data.ratings.value.tolist() == [3.5, 4.0, 0.5]
    assert data.ratings.time.tolist() == [1112486027, 1112484676, 1112484819]
    assert data.titles[1] == "City of Lost Children, The (Cité des enfants perdus, La) (1995)"
    assert data.genres[2].sum() == 0
    assert data.tag_names == ("magic board", "wild, very")
    assert data.word_counts(["tags"]).toarray().tolist() == [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]


def test_movielens_without_films_still_has_ratings(tmp_path: Path) -> None:
    files = examples.files("movielens-1m")
    data = movielens.load("1m", written(tmp_path, {"ratings.dat": files["ratings.dat"]}))
    assert data.titles.tolist() == ["", "", ""]
    assert "movies.dat is not here" in data.missing


def test_shuttle_reads_the_training_file_as_uci_packs_it(tmp_path: Path) -> None:
    files = examples.files("shuttle")
    packed = zipped(
        tmp_path / "statlog+shuttle.zip",
        {"shuttle.trn.Z": literal_lzw(files["shuttle.trn"]), "shuttle.tst": files["shuttle.tst"]},
    )
    data = shuttle.load(packed)
    assert data.labels.tolist() == [1, 3, 0, 3]
    assert data.training_rows == 3


def literal_lzw(content: bytes) -> bytes:
    """The simplest valid .Z file: 9-bit literals (good for up to 255 bytes, before codes widen)."""
    bits = sum(byte << (9 * index) for index, byte in enumerate(content))
    return b"\x1f\x9d\x90" + bits.to_bytes((9 * len(content) + 7) // 8, "little")


def test_shuttle_with_one_file_says_so(tmp_path: Path) -> None:
    written(tmp_path, {"shuttle.tst": examples.files("shuttle")["shuttle.tst"]})
    data = shuttle.load(tmp_path / "shuttle.tst")
    assert data.training_rows == 0
    assert "shuttle.trn is not here" in data.missing


def test_magic_reads_numbers_and_letters(tmp_path: Path) -> None:
    data = magic.load(written(tmp_path, examples.files("magic")))
    assert data.numbers[0, 0] == 28.7967
    assert data.labels.tolist() == [0, 0, 1]
    assert data.features().shape == (3, 10)


def test_covertype_reads_the_gz_of_the_official_zip(tmp_path: Path) -> None:
    content = gzip.compress(examples.files("covertype")["covtype.data"])
    data = covertype.load(zipped(tmp_path / "covertype.zip", {"covtype.data.gz": content, "covtype.info": b""}))
    assert data.numbers[1, :2].tolist() == [2804, 139]
    assert data.labels.tolist() == [4, 1]


def test_mushroom_one_hot_keeps_the_unknown(tmp_path: Path) -> None:
    data = mushroom.load(written(tmp_path, examples.files("mushroom")))
    root = data.category_names.index("stalk-root")
    assert data.levels[root] == ("?", "c", "e")
    features = data.features()
    assert features.shape == (3, len(data.feature_names()))
    assert (features.sum(axis=1) == 22).all()


def test_adult_takes_the_full_stop_off_the_test_labels(tmp_path: Path) -> None:
    data = adult.load(written(tmp_path, examples.files("adult")))
    assert data.class_names == ("<=50K", ">50K")
    assert data.labels.tolist() == [0, 1, 0]
    assert data.numbers[:, 0].tolist() == [39, 52, 25]
    assert "?" in data.levels[data.category_names.index("workclass")]


def test_warfarin_reads_missing_numbers_as_nan(tmp_path: Path) -> None:
    data = warfarin.load(written(tmp_path, examples.files("warfarin")))
    assert data.subjects.tolist() == ["PA1", "PA2", "PA3"]
    np.testing.assert_array_equal(data.age_decade, [6, np.nan, 9])
    np.testing.assert_array_equal(data.weight, [115.7, np.nan, np.nan])
    assert data.comorbidity_words == ("gout", "na", "no cancer")
    assert "Herbal Medications, Vitamins, Supplements" in data.category_names


def test_warfarin_features_fill_missing_weights_with_the_mean_or_what_is_given(tmp_path: Path) -> None:
    data = warfarin.load(written(tmp_path, examples.files("warfarin")))
    features = data.features().toarray()
    assert features.shape == (2, len(data.feature_names()))
    assert features[:, :4].tolist() == [[6, 193.04, 115.7, 2.6], [9, 150.0, 115.7, 2.6]]
    assert (features[:, 4:-3].sum(axis=1) == len(data.levels)).all()
    assert features[:, -3:].tolist() == [[1, 0, 1], [1, 0, 0]]
    assert data.features(missing_weight=170.0).toarray()[1, 2] == 170.0
