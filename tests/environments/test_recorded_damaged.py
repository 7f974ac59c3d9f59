"""Files that are no recorded turns: missing, damaged, cut short, garbled, or with a pickle inside."""

import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.core.errors import InvalidInput
from fedbandit.environments.recorded import Recorded
from samples.examples import examples
from samples.recorded_arrays import rewards


def refusal(path):
    with pytest.raises(InvalidInput) as error:
        Recorded(path=str(path))
    text = str(error.value)
    assert len(text.splitlines()) == 1
    return text


def test_a_missing_file_a_folder_and_no_name_are_refused(tmp_path):
    assert refusal(tmp_path / "nowhere.npz").startswith(f"no recorded file at '{tmp_path / 'nowhere.npz'}'")
    assert refusal(tmp_path) == f"'{tmp_path}' is a folder: give the path of an .npz file of turns"
    assert refusal("").startswith("no recorded file at ''")
    assert refusal("a\0b").startswith("no recorded file at")


@pytest.mark.parametrize(
    "content", [b"", b"client,arm\n0,1\n", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x93NUMPY", b"\x80\x04N."]
)
def test_a_file_that_is_no_npz_is_refused(tmp_path, content):
    path = tmp_path / "turns.npz"
    path.write_bytes(content)
    text = refusal(path)
    assert str(path) in text
    assert "npz" in text or "no array 'client'" in text


def test_a_single_array_is_refused(tmp_path):
    path = tmp_path / "turns.npy"
    np.save(path, np.ones(3))
    assert refusal(path) == f"{path} is a single array, not an .npz: save named arrays with numpy.savez"


def test_a_pickle_inside_is_refused_and_never_loaded(tmp_path):
    path = tmp_path / "turns.npz"
    np.savez(path, **{**rewards(), "reward": np.full((6, 4), None)})
    assert "is not a readable .npz of plain arrays" in refusal(path)


def test_a_pickled_single_array_is_refused(tmp_path):
    path = tmp_path / "turns.npy"
    np.save(path, np.array([None, 1]))
    assert "is not a readable .npz of plain arrays" in refusal(path)


def test_something_else_in_the_zip_is_refused(tmp_path):
    path = tmp_path / "turns.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("client.npy", b"not an array")
        archive.writestr("readme.txt", b"hello")
    refusal(path)


@pytest.fixture(scope="module", params=[np.savez, np.savez_compressed], ids=["plain", "compressed"])
def good(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "turns.npz"
    request.param(path, **rewards())
    return path


def is_read_or_refused(path):
    """The file is read, or refused in one line; any other error goes through."""
    try:
        return len(list(Recorded(path=str(path)).turns(1, 0, 1))) == 1
    except InvalidInput as error:
        return len(str(error).splitlines()) == 1


def test_a_file_cut_short_anywhere_is_refused(good, tmp_path):
    data = good.read_bytes()
    path = tmp_path / "cut.npz"
    for end in range(0, len(data), 13):
        path.write_bytes(data[:end])
        refusal(path)


@settings(deadline=None, max_examples=examples(300))
@given(st.data())
def test_a_garbled_file_is_read_or_refused_in_one_line(good, data):
    content = bytearray(good.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = good.parent / "garbled.npz"
    path.write_bytes(content)
    assert is_read_or_refused(path)
