"""Parsed arrays are kept, never trusted when the source changed, and never needed."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from fedbandit.datasets.files import array_cache
from fedbandit.datasets.files.array_cache import Arrays, entry_path, remembered
from fedbandit.datasets.files.release import Release


class Parser:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, release: Release) -> Arrays:
        self.calls += 1
        return {"bytes": np.frombuffer(release.read("toy.txt"), dtype=np.uint8), "names": np.array(["é"])}


@pytest.fixture
def source(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(array_cache, "SMALLEST_BYTES", 0)
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "toy.txt").write_text("one")
    return folder


def text(arrays: Arrays) -> str:
    return bytes(arrays["bytes"]).decode()


def test_the_second_load_does_not_parse(source: Path) -> None:
    parser = Parser()
    first, second = (remembered(Release.open("toy", source), parser) for _ in range(2))
    assert parser.calls == 1
    assert text(first) == text(second) == "one"
    assert second["names"].tolist() == ["é"]


def test_a_changed_source_is_parsed_again(source: Path) -> None:
    parser = Parser()
    remembered(Release.open("toy", source), parser)
    (source / "toy.txt").write_text("two")
    os.utime(source / "toy.txt", ns=(1, 1))
    assert text(remembered(Release.open("toy", source), parser)) == "two"


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 half a file", b"not an archive"])
def test_a_damaged_entry_is_made_anew(damage: bytes, source: Path) -> None:
    parser = Parser()
    release = Release.open("toy", source)
    remembered(release, parser)
    entry_path(release).write_bytes(damage)
    assert text(remembered(release, parser)) == "one"
    assert parser.calls == 2


def test_a_pickle_in_the_cache_is_never_opened(source: Path) -> None:
    release = Release.open("toy", source)
    entry_path(release).parent.mkdir(parents=True)
    np.savez(entry_path(release), bytes=np.array([{"danger": 1}], dtype=object))
    assert text(remembered(release, Parser())) == "one"


def test_a_folder_that_cannot_be_written_is_no_error(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path / "file"))
    parser = Parser()
    for _ in range(2):
        assert text(remembered(Release.open("toy", source), parser)) == "one"
    assert parser.calls == 2


def test_many_writers_leave_one_whole_entry(source: Path, nowhere: Path) -> None:
    release = Release.open("toy", source)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: text(remembered(release, Parser())), range(32)))
    assert set(results) == {"one"}
    assert [path.name for path in (nowhere / "parsed").iterdir()] == [entry_path(release).name]


def test_small_sources_are_not_kept(source: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_cache, "SMALLEST_BYTES", 1000)
    remembered(Release.open("toy", source), Parser())
    assert not (nowhere / "parsed").exists()
