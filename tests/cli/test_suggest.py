"""`fedbandit suggest`."""

import tomllib

import fedbandit as fb
from samples.small_logs import as_csv, rows


def test_it_prints_a_file_of_features(tmp_path, fedbandit):
    renamed = [{("clicked" if name == "reward" else name): value for name, value in row.items()} for row in rows()]
    renamed[3]["clicked"] = None
    path = as_csv(renamed, tmp_path / "log.csv")
    (tmp_path / "columns.toml").write_text('reward = "clicked"\n')
    done = fedbandit("suggest", str(path), "--columns", str(tmp_path / "columns.toml"))
    assert fb.Features(tomllib.loads(done.out)).dimension > 1
    assert "1 decision without a reward was left out" in done.err


def test_a_file_of_columns_that_is_wrong_is_named(tmp_path, fedbandit):
    path = as_csv(rows(), tmp_path / "log.csv")
    for text, reason in (
        ("rewards = 'r'\n", "unknown role of a column 'rewards'"),
        ("reward = 3\n", "must be the name"),
    ):
        (tmp_path / "columns.toml").write_text(text)
        done = fedbandit("suggest", str(path), "--columns", str(tmp_path / "columns.toml"))
        assert done.code == 2
        assert reason in done.err
        assert str(tmp_path / "columns.toml") in done.err
