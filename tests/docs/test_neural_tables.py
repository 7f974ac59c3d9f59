"""The tables of the neural page have the numbers of the stored runs, and the published ones of the registry.

Between `<!-- regrets: ID -->` and `<!-- end of regrets -->` the shape of a table is by hand; each cell that is not
empty is filled from docs/evidence/ID.csv. `python tests/docs/test_neural_tables.py` fills the page.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.fn_ucb_settings import SYNTHETIC
from fedbandit.experiments.intervals import plain
from fedbandit.experiments.table import Measured
from fedbandit.results.everything import panels_of
from fedbandit.results.tables import read_runs

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "neural.md"
BLOCK = re.compile(r"<!-- regrets: (\S+) -->\n(.*?)<!-- end of regrets -->", re.DOTALL)
FORMS = {"`fn-ucb`": "FN-UCB", "`fn-ucb-less`": "FN-UCB (Less Comm.)"}
WITHOUT = "without UCB^a"


def place_of(line, column):
    """The series and the point that a cell shows, by the names of its line and its column."""
    setting, _, part = line.partition(", ")
    setting = setting.partition(":")[0]
    if column in {"NeuralUCB", "NeuralTS"}:
        return f"{column} ({SYNTHETIC[setting]})", ""
    if column.startswith(("N = ", "D = ")):
        return f"{part or 'FN-UCB'} ({setting})", column.replace(" ", "")
    return f"{FORMS.get(column, column)} ({setting})", ""


def cell_of(table, line, column):
    if column in {"full", "diagonal"}:
        setting = line
        rows = [row for row in table.rows if row.series == f"m=20, {column} ({setting})"]
        return ", ".join(f"{row.values('regret', True).mean():.1f}" for row in rows)
    if column.startswith("scalars"):
        series = [f"{label} ({line})" for label in FORMS.values()]
        return ", ".join(f"{row.mean('scalars') / 1e9:.2f} G" for each in series for row in table.of(each))
    series, point = place_of(line, column)
    (row,) = (row for row in table.of(series) if row.point == point)
    if line.endswith(": rounds"):
        return f"{row.mean('rounds'):,.0f}"
    found = Measured(tuple(row.values("regret", per_client=True)))
    return f"{found.mean:,.1f} ± {found.error:.0f}" if found.error >= 10 else f"{found.mean:,.1f} ± {found.error:.2g}"


def published(name, line, column):
    series, point = place_of("paper" + line.removeprefix("published"), column)
    (found,) = {
        (each.value, each.error)
        for panel in panels_of("fn-ucb")
        for each in panel.published
        if (panel.experiment, each.series, each.point) == (name, series, point)
    }
    value, error = found
    if line.endswith(": rounds"):
        return f"{value:,.0f}"
    return plain(value) + ("" if error is None else f" ± {plain(error)}")


def filled(name, text):
    """The table with its numbers."""
    table = read_runs(DOCS / "evidence" / f"{name}.csv", experiments[name])
    head, rule, *lines = text.strip().splitlines()
    columns = [each.strip() for each in head.strip("|").split("|")]
    made = [head, rule]
    for each in lines:
        line, *cells = (cell.strip() for cell in each.strip().strip("|").split("|"))
        values = [
            ""
            if not cell
            else published(name, line, column)
            if line.startswith("published")
            else cell_of(table, line, column)
            for column, cell in zip(columns[1:], cells, strict=True)
        ]
        made.append("| " + " | ".join([line, *values]).replace("|  |", "| |").replace("|  |", "| |") + " |")
    return "\n".join([*made, ""])


@pytest.mark.parametrize(("name", "text"), BLOCK.findall(PAGE.read_text("utf-8")))
def test_the_tables_have_the_numbers_of_stored_runs(name, text):
    assert text == filled(name, text)


def test_every_experiment_of_the_paper_has_a_table():
    shown = {name for name, _ in BLOCK.findall(PAGE.read_text("utf-8"))}
    assert shown == {panel.experiment for panel in panels_of("fn-ucb")} - {"fn-ucb/less-square"}


if __name__ == "__main__":
    old = PAGE.read_text("utf-8")
    PAGE.write_text(
        BLOCK.sub(lambda m: f"<!-- regrets: {m[1]} -->\n{filled(m[1], m[2])}<!-- end of regrets -->", old), "utf-8"
    )
