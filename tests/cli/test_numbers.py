"""Tables of numbers keep their numbers on any screen: what does not fit is left out, and named."""

import io

import pytest
from rich.console import Console

from fedbandit.cli import screen
from fedbandit.cli.screen import WIDE, as_wide_as_it_can

WIDE_EXPERIMENT = """
title = "Of many long names"
environment = "linear"
turns = 60
seeds = 2

[world]
clients = 3
arms = 3
dimension = 2
pool = 10

[[series]]
label = "the first of the series, whose name is long"
algorithm = "async-linucb"
grid = { upload_threshold = [1.2, 2] }

[[series]]
label = "the second of the series"
algorithm = "sync-linucb"
grid = { sync_threshold = [0.1, 1] }

[[figures]]
kind = "over-time"
"""


@pytest.fixture
def shown(fedbandit, monkeypatch, tmp_path):
    """Run the experiment, on a screen of so many columns; return what is printed."""
    (tmp_path / "wide.toml").write_text(WIDE_EXPERIMENT)

    def show(width):
        monkeypatch.setattr(screen.out, "width", width)
        said = fedbandit("reproduce", "wide.toml", "--jobs", "1")
        assert said.code == 0
        return said.out

    return show


def heads(text):
    (line,) = (line for line in text.split("\n") if "┃" in line and "series" in line)
    return [head.strip() for head in line.strip("┃").split("┃")]


def column(text, head):
    """Return the cells of a column, without those of folded names."""
    place = heads(text).index(head)
    rows = [line.strip("│").split("│") for line in text.split("\n") if line.startswith("│")]
    return [cell for row in rows if (cell := row[place].strip())]


def test_no_number_is_cut_at_80_columns_and_what_is_left_out_is_said(shown):
    whole, narrow = shown(200), shown(80)
    assert "…" not in whole + narrow
    assert "Left out" not in whole
    assert heads(whole) == ["series", "point", "regret", "later regret", "reward", "messages", "scalars", "bytes"]
    assert heads(narrow) == ["series", "point", "regret", "reward", "messages", "bytes"]
    for head in ("regret", "reward", "messages", "bytes"):
        assert len(column(narrow, head)) == 4
        assert column(narrow, head) == column(whole, head)
    assert max(len(line) for line in narrow.split("\n") if line.startswith("│")) <= 80
    assert "later regret, scalars; they are in results/wide/table.csv" in narrow


@pytest.mark.parametrize(
    ("width", "kept"),
    [(60, ["regret", "messages", "bytes"]), (40, ["regret", "messages"]), (10, ["regret", "messages"])],
)
def test_numbers_stay_whole_on_screens_that_are_narrower_still(shown, width, kept):
    whole, narrow = shown(200), shown(width)
    assert heads(narrow)[2:] == kept
    for head in kept:
        assert column(narrow, head) == column(whole, head)


def test_what_is_spare_is_left_out_one_by_one_before_names_are_folded(shown):
    kept = {width: shown(width) for width in (128, 112, 80)}
    assert [[head in heads(text) for head in ("later regret", "scalars")] for text in kept.values()] == [
        [False, True], [False, False], [False, False],
    ]  # fmt: skip
    assert ["the first of the series, whose name is long" in text for text in kept.values()] == [True, True, False]


@pytest.mark.parametrize(
    ("is_screen", "columns", "width"), [(False, None, WIDE), (True, None, 80), (False, "100", 100), (True, "100", 100)]
)
def test_what_is_no_screen_is_wide_unless_the_user_says_otherwise(monkeypatch, is_screen, columns, width):
    file = io.StringIO()
    monkeypatch.setattr(file, "isatty", lambda: is_screen, raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: (80, 25))
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert as_wide_as_it_can(Console(file=file)).width == width
