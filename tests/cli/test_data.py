"""`fedbandit data`: list, check and fetch, as a person meets them."""

import urllib.error

import pytest
from typer.testing import CliRunner

from fedbandit.cli.main import app, main
from fedbandit.datasets.files import examples, fetching

run = CliRunner()


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No data sets but those that the test makes, and no network."""
    monkeypatch.delenv("FEDBANDIT_DATA", raising=False)
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")

    def refuse(*_, **__):
        raise urllib.error.URLError(OSError(-2, "Name or service not known"))

    monkeypatch.setattr(fetching.urllib.request, "urlopen", refuse)


def leave(monkeypatch, capfd, *arguments):
    """Run the program as the shell does; return its exit code and what it said on standard error."""
    monkeypatch.setattr("sys.argv", ["fedbandit", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    return exit_.value.code, capfd.readouterr().err


def test_the_list_has_every_set_with_its_terms():
    shown = run.invoke(app, ["data", "list"])
    assert shown.exit_code == 0
    for word in ("lastfm", "movielens-20m", "medical-mnist", "non-commercial use", "CC BY 4.0"):
        assert word in shown.stdout


def test_a_partial_copy_is_counted_and_what_it_lacks_is_said():
    with examples.folder("lastfm") as path:
        shown = run.invoke(app, ["data", "check", "lastfm", "--path", str(path)])
    assert shown.exit_code == 1
    assert "17,632" in shown.stdout
    assert "missing: 4 of the 92,834 listening relations of the release are here" in shown.stdout
    assert "not complete" in shown.stdout


def test_a_set_that_is_not_here_is_one_sentence_with_the_remedy(monkeypatch, capfd):
    code, said = leave(monkeypatch, capfd, "data", "check", "magic")
    assert code == 2
    assert said.count("\n") == 1
    assert "get it with `fedbandit data fetch magic`" in said


def test_a_damaged_file_is_one_sentence_with_file_line_and_remedy(monkeypatch, capfd, tmp_path):
    with examples.folder("magic") as path:
        text = (path / "magic04.data").read_text()
    (tmp_path / "magic04.data").write_text(text[:-20])
    code, said = leave(monkeypatch, capfd, "data", "check", "magic", "--path", str(tmp_path))
    assert code == 2
    assert said.count("\n") == 1
    assert "magic04.data line 3: " in said
    assert "fedbandit data fetch magic" in said


def test_fetching_shows_terms_first_and_without_a_network_fails_in_one_sentence(monkeypatch, capfd):
    monkeypatch.setattr("sys.argv", ["fedbandit", "data", "fetch", "movielens-1m"])
    with pytest.raises(SystemExit) as exit_:
        main()
    printed = capfd.readouterr()
    assert exit_.value.code == 2
    assert "no redistribution" in printed.out
    assert "could not be downloaded (Name or service not known)" in printed.err
    assert "check the network" in printed.err


def test_an_unknown_name_gets_the_nearest_one(monkeypatch, capfd):
    code, said = leave(monkeypatch, capfd, "data", "fetch", "lastfn")
    assert code == 2
    assert "unknown data set 'lastfn': did you mean 'lastfm'?" in said
