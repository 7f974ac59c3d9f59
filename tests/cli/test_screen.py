"""Progress is shown on standard error, and only of work that takes a while."""

from fedbandit.cli import screen
from fedbandit.cli.screen import Bar


def test_short_work_shows_no_bar(capsys):
    with Bar("work") as bar:
        bar.show(1, 2)
        bar.show(2, 2)
    assert capsys.readouterr() == ("", "")


def test_long_work_shows_a_bar_that_goes_away(monkeypatch, capsys):
    monkeypatch.setattr(screen, "PATIENCE", -1.0)
    with Bar("work") as bar:
        bar.show(1, 2)
        bar.show(2, 2)
    assert capsys.readouterr().out == ""
