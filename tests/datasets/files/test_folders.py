"""A set is taken from the path given, else from FEDBANDIT_DATA, else from the user's cache."""

from pathlib import Path

import pytest

from fedbandit.datasets import MissingData, catalogue, describe, download_folder, load
from fedbandit.datasets.files import examples, folders


def put(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True)
    for file, content in examples.files(name).items():
        (folder / file).write_bytes(content)
    return folder


def test_the_path_given_comes_first(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, named = put(tmp_path / "given", "magic"), put(tmp_path / "named", "magic")
    monkeypatch.setenv("FEDBANDIT_DATA", str(named))
    assert folders.find(describe("magic"), given).location == given
    assert folders.find(describe("magic")).location == named


def test_the_cache_comes_last(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = put(download_folder() / "magic", "magic")
    monkeypatch.setenv("FEDBANDIT_DATA", str(tmp_path / "empty"))
    assert folders.find(describe("magic")).location == kept
    assert load("magic").counts()["rows"] == 3


@pytest.mark.parametrize("home", ["ml-1m", "movielens-1m", "movielens-1m/ml-1m", "."])
def test_usual_folder_names_are_found(home: str, nowhere: Path, tmp_path: Path) -> None:
    put(tmp_path / "data" / home, "movielens-1m")
    assert load("movielens-1m", tmp_path / "data").counts()["ratings"] == 5


def test_a_single_file_can_be_given(nowhere: Path, tmp_path: Path) -> None:
    put(tmp_path / "w", "warfarin")
    assert load("warfarin", tmp_path / "w" / "warfarin.csv").counts()["patients"] == 3


def test_a_set_that_is_nowhere_is_told_in_one_sentence(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingData) as caught:
        load("lastfm")
    assert str(caught.value) == (
        "the data set lastfm (HetRec 2011 LastFM: listening, tags and friends of 1,892 users) is not in "
        f"{nowhere / 'data'} (FEDBANDIT_DATA is not set): get it with `fedbandit data fetch lastfm`"
    )
    monkeypatch.setenv("FEDBANDIT_DATA", str(tmp_path))
    with pytest.raises(MissingData, match=f"is not in {tmp_path} or {nowhere / 'data'}: get it"):
        load("lastfm")


def test_the_catalogue_is_whole() -> None:
    for description in catalogue():
        for text in (description.title, description.publisher, description.terms, description.page):
            assert text, description.name
        assert description.anchors, description.name
        assert description.expected, description.name
        for download in description.downloads:
            assert download.url.startswith("https://"), description.name
            algorithm, _, value = (download.checksum or "md5:" + "0" * 32).partition(":")
            assert len(value) == {"sha256": 64, "md5": 32}[algorithm], description.name
