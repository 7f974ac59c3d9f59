"""A file that is not what it should be is named with its line and the remedy, in one sentence."""

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.datasets import DamagedFile, MissingData, load
from fedbandit.datasets.files import examples

Change = Callable[[bytes], bytes]


def put(line: int, content: bytes) -> Change:
    """Replace a line, counted from 1."""

    def change(text: bytes) -> bytes:
        lines = text.split(b"\n")
        lines[line - 1] = content
        return b"\n".join(lines)

    return change


def cut(count: int) -> Change:
    return lambda text: text[:-count]


def nothing(_: bytes) -> bytes:
    return b""


def npz(**changes: np.ndarray) -> Change:
    def change(content: bytes) -> bytes:
        with np.load(io.BytesIO(content)) as archive:
            arrays = dict(archive) | changes
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    return change


MOVIE_GONE = put(3, b"9::X (1979)::Sci-Fi")

CASES: list[tuple[str, str, Change, str]] = [
    ("lastfm", "user_artists.dat", put(3, b"2\t7\r"), "line 3: expected 3 columns, found 2"),
    ("lastfm", "user_artists.dat", put(1, b"<html>"), "line 1: expected the columns userID artistID weight"),
    ("lastfm", "user_artists.dat", put(2, b"2\tone\t900\r"), "line 2: column 2 is 'one', not a whole number"),
    ("lastfm", "user_artists.dat", put(2, b"2\t\t900\r"), "line 2: column 2 is '', not a whole number"),
    ("lastfm", "user_artists.dat", put(2, b"2\t1\t1.5\r"), "line 2: column 3 is '1.5', not a whole number"),
    ("lastfm", "user_artists.dat", nothing, "line 1: expected the columns"),
    ("lastfm", "user_friends.dat", put(2, b"\r"), "line 2: expected 2 columns, found 1"),
    ("lastfm", "artists.dat", put(2, b"1\tx\xff\tu\tp"), "line 2: a byte is not UTF-8"),
    ("lastfm", "tags.dat", put(3, b"three\tcaf\xe9\r"), "line 3: column 1 is 'three', not a whole number"),
    ("delicious", "user_taggedbookmarks.dat", put(2, b"8\t1\t1\t1\r"), "line 2: expected 3 columns, found 4"),
    ("delicious", "tags.dat", put(2, b"1\r"), "line 2: expected 2 columns, found 1"),
    ("movielens-100k", "u.data", put(2, b"22 1 1 878887116"), "line 2: expected 4 columns, found 1"),
    ("movielens-100k", "u.item", put(1, b"1|Toy Story"), "line 1: expected 24 columns, found 2"),
    ("movielens-1m", "ratings.dat", put(2, b"1::3::3"), "line 2: expected 4 columns, found 3"),
    ("movielens-1m", "ratings.dat", put(2, b"1:3::3::978302109"), "line 2: expected 4 columns, found 3"),
    ("movielens-1m", "ratings.dat", put(4, b"2::2::x::0"), "line 4: column 3 is 'x', not a whole number"),
    ("movielens-1m", "ratings.dat", cut(2), "line 5: column 4 is '', not a whole number"),
    ("movielens-1m", "movies.dat", MOVIE_GONE, "line 2: the movie is not in movies.dat"),
    ("movielens-20m", "ratings.csv", put(3, b"1,29,four,1112484676\r"), "line 3: column 3 is 'four'"),
    ("movielens-20m", "ratings.csv", put(3, b"1,29,nan,1112484676\r"), "line 3: column 3 is 'nan'"),
    (
        "movielens-20m",
        "ratings.csv",
        put(1, b"user,movie,rating,time\r"),
        "line 1: expected the columns userId",
    ),
    ("movielens-20m", "movies.csv", put(3, b'29,"City of Lost'), "movies.csv line"),
    ("movielens-20m", "tags.csv", put(2, b"18,two,x,1\r"), "line 2: column 2 is 'two', not a whole number"),
    ("shuttle", "shuttle.trn", put(2, b"55 0 92 0 0 26 36 92 56"), "line 2: expected 10 columns, found 9"),
    ("shuttle", "shuttle.tst", put(1, b"55 0 81 0 -6 11 25 88 64 8"), "line 1: column 10 is 8, not a class"),
    ("magic", "magic04.data", put(2, b"1,2,3,4,5,6,7,8,9,10,x"), "line 2: column 11 is 'x', not a number"),
    ("magic", "magic04.data", put(2, b"1,2,g,4,5,6,7,8,9,10,h"), "line 2: column 3 is 'g', not a number"),
    ("magic", "magic04.data", cut(4), "line 3: expected 11 columns, found 10"),
    ("covertype", "covtype.data", put(2, b"2804,139"), "line 2: expected 55 columns, found 2"),
    (
        "covertype",
        "covtype.data",
        put(1, b"0" + b",0" * 54),
        "line 1: column 55 is 0, not a class from 1 to 7",
    ),
    ("covertype", "covtype.data", nothing, "there are no lines in it"),
    ("mushroom", "agaricus-lepiota.data", put(2, b"e,x"), "line 2: expected 23 columns, found 2"),
    ("mushroom", "agaricus-lepiota.data", put(1, b"z" + b",x" * 22), "line 1: column 1 is 'z', not a class"),
    ("adult", "adult.data", put(1, b"39, State-gov"), "line 1: expected 15 columns, found 2"),
    ("adult", "adult.test", put(2, b"25, P" + b", 1" * 12 + b", <=60K."), "line 2: column 15 is '<=60K'"),
    ("adult", "adult.data", put(1, b"old" + b", 1" * 13 + b", >50K"), "line 1: column 1 is 'old'"),
    ("warfarin", "warfarin.csv", put(2, b"PA1,male"), "line 2: expected 66 columns, found 2"),
    ("warfarin", "warfarin.csv", put(1, b"," * 65), "line 1: there is no column 'PharmGKB Subject ID'"),
    ("medical-mnist", "medical_mnist_sample.npz", cut(100), "cannot be read as npz"),
    (
        "medical-mnist",
        "medical_mnist_sample.npz",
        npz(labels=np.full(6, 6, dtype=np.uint8)),
        "labels reach 6, the classes 5",
    ),
    (
        "medical-mnist",
        "medical_mnist_sample.npz",
        npz(images=np.zeros((6, 28, 28), dtype=np.uint8)),
        "images are uint8 (6, 28, 28)",
    ),
]


@pytest.mark.parametrize(("name", "file", "change", "sentence"), CASES)
def test_damage_is_named_with_its_place(name: str, file: str, change: Change, sentence: str, tmp_path: Path) -> None:
    files = examples.files(name)
    files[file] = change(files[file])
    for known, content in files.items():
        (tmp_path / known).write_bytes(content)
    with pytest.raises(DamagedFile) as caught:
        load(name, tmp_path)
    message = str(caught.value)
    assert sentence in message
    assert message.endswith(f": download the set again with `fedbandit data fetch {name}`")
    assert "\n" not in message


def test_a_dose_that_is_no_number_names_its_column(tmp_path: Path) -> None:
    content = examples.files("warfarin")["warfarin.csv"].replace(b"17.5", b"lots")
    (tmp_path / "warfarin.csv").write_bytes(content)
    with pytest.raises(DamagedFile, match=r"line 4: column 63 \(Therapeutic Dose of Warfarin\) is 'lots'"):
        load("warfarin", tmp_path)


def test_a_truncated_zip_is_named(tmp_path: Path) -> None:
    whole = tmp_path / "ml-1m.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        for file, content in examples.files("movielens-1m").items():
            archive.writestr(f"ml-1m/{file}", content)
    whole.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(DamagedFile, match=r"ml-1m.zip: cannot be opened .*fetch movielens-1m"):
        load("movielens-1m", whole)


def test_a_zip_with_a_flipped_bit_is_named(tmp_path: Path) -> None:
    path = tmp_path / "magic.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("magic04.data", examples.files("magic")["magic04.data"])
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(DamagedFile, match=r"magic.zip: cannot be read .*CRC"):
        load("magic", path)


@pytest.mark.parametrize("damage", [cut(12), lambda content: b"not gzip at all"])
def test_a_damaged_gz_is_named(damage: Change, tmp_path: Path) -> None:
    path = tmp_path / "covtype.data.gz"
    path.write_bytes(damage(gzip.compress(examples.files("covertype")["covtype.data"])))
    with pytest.raises(DamagedFile, match=r"covtype.data.gz: cannot be unpacked"):
        load("covertype", path)


def test_a_damaged_z_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "shuttle.trn.Z").write_bytes(b"\x1f\x9d\x90\xff\xff\xff")
    with pytest.raises(DamagedFile, match=r"shuttle.trn.Z: cannot be unpacked"):
        load("shuttle", tmp_path)


def test_an_image_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "Hand").mkdir()
    (tmp_path / "Hand" / "000001.jpeg").write_bytes(b"no image")
    with pytest.raises(DamagedFile, match=r"Hand/000001.jpeg: is not a whole image"):
        load("medical-mnist", tmp_path)


def test_a_needed_file_that_is_absent_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("readme.txt", b"")
    with pytest.raises(MissingData, match=r"the data set magic .* is not in .*x.zip"):
        load("magic", tmp_path / "x.zip")


def test_every_error_is_an_invalid_input() -> None:
    assert issubclass(DamagedFile, InvalidInput)
    assert issubclass(MissingData, InvalidInput)
