"""`fedbandit features`."""

import pytest
from typer.testing import CliRunner

import fedbandit as fb
from fedbandit.cli.main import app
from fedbandit.core.errors import InvalidInput
from fedbandit.datasets.files import examples


def test_features_are_learnt_once_and_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path))
    with examples.folder("medical-mnist") as path:
        monkeypatch.setenv("FEDBANDIT_DATA", str(path))
        for _ in range(2):
            shown = CliRunner().invoke(app, ["features", "medical-mnist"])
            assert shown.exit_code == 0
            assert "6 images, 500 features each" in shown.output
    assert len(list((tmp_path / "features").iterdir())) == 1


def test_another_name_is_refused_with_the_right_one():
    shown = CliRunner().invoke(app, ["features", "medical-mnst"])
    assert isinstance(shown.exception, InvalidInput)
    with pytest.raises(InvalidInput, match="did you mean 'medical-mnist'"):
        raise shown.exception


def test_declared_features_are_printed_for_other_languages(tmp_path):
    file = tmp_path / "features.toml"
    file.write_text('[arm]\ncity = { kind = "category", levels = ["Köln"] }\n', encoding="utf-8")
    shown = CliRunner().invoke(app, ["features", str(file)])
    assert (shown.exit_code, shown.output) == (0, fb.Features.read(file).json)


def test_a_file_of_features_that_is_not_there_is_refused(tmp_path):
    shown = CliRunner().invoke(app, ["features", str(tmp_path / "features.toml")])
    assert isinstance(shown.exception, InvalidInput)
