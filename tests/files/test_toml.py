"""A TOML file is read, or one sentence says why not."""

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.files.toml import read_toml


def test_a_file_is_read(tmp_path):
    (tmp_path / "good.toml").write_text("a = 1\n[b]\nc = 'd'\n")
    assert read_toml(tmp_path / "good.toml") == {"a": 1, "b": {"c": "d"}}


def test_what_is_no_toml_is_refused(tmp_path):
    (tmp_path / "bad.toml").write_text("a = ")
    with pytest.raises(InvalidInput, match=r"bad\.toml is not valid TOML \(.*\): correct that line"):
        read_toml(tmp_path / "bad.toml")


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "bad.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(InvalidInput, match=r"bad\.toml is not text in UTF-8: give the path of a TOML file, or save"):
        read_toml(tmp_path / "bad.toml")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InvalidInput, match=r"cannot read .*: give the path of a TOML file"):
        read_toml(tmp_path)
