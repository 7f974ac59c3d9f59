"""Rows of means and spreads."""

import math
import sys

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.table import Measured, Row, Table
from samples.tables import spread

ROW = Row("A", "p", {"ridge": 2, "clients": 9}, 9, {"regret": spread(10.0, 4.0, 16)})


def test_the_standard_error_is_the_deviation_over_the_root_of_the_seeds():
    assert ROW.measured["regret"].error == pytest.approx(1.0)


def test_a_row_gives_a_quantity_seed_by_seed_and_what_each_client_has_of_it():
    assert ROW.values("regret").mean() == 10.0
    assert ROW.values("regret", per_client=True).tolist() == (ROW.values("regret") / 9).tolist()
    with pytest.raises(InvalidInput, match="unknown quantity 'regrets': did you mean 'regret'"):
        ROW.values("regrets")


def test_a_row_gives_measured_quantities_and_settings_by_name():
    assert ROW.mean("regret") == 10.0
    assert ROW.mean("ridge") == 2.0


def test_a_row_refuses_a_name_that_it_does_not_know():
    with pytest.raises(InvalidInput, match="unknown quantity 'regrets': did you mean 'regret'"):
        ROW.mean("regrets")


def test_a_table_gives_rows_by_series_in_order():
    other = Row("B", "p", {}, 9, {})
    table = Table((ROW, other, ROW))
    assert table.of("A") == [ROW, ROW]
    assert table.of("C") == []
    assert table.labels() == ["A", "B"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (spread(12.345, 2.0, 4), "12.3 ± 1"),
        (spread(12.345, 2.0, 1), "12.3"),
        (spread(0.000123, 0.0, 4), "0.000123"),
        (spread(1234567.0, 0.0, 4), "1,234,567"),
        (spread(1234567.0, 4000.0, 4), "1,234,567 ± 2,000"),
        (spread(1500.0, 50.0, 4), "1,500 ± 25"),
        (spread(-1500.4, 0.0, 2), "-1,500"),
        (spread(0.0, 0.0, 2), "0"),
    ],
)
def test_numbers_are_written_as_a_person_would(value, text):
    assert str(value) == text


TWO = Table(
    (
        Row(
            "A_1", "p", {"ridge": 2, "clients": 9}, 9, {"regret": Measured((1.0, 3.0)), "reward": Measured((5.0, 5.0))}
        ),
        Row("B", "", {}, 4, {"regret": Measured((2.0,)), "reward": Measured((math.nan,))}),
    )
)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_data_frame_has_one_row_a_run_with_settings_and_everything_measured(library):
    pytest.importorskip(library)
    frame = TWO.to_frame(library)
    as_lists = {
        "pandas": lambda: frame.to_dict(orient="list"),
        "polars": lambda: frame.to_dict(as_series=False),
        "pyarrow": lambda: frame.to_pydict(),
    }
    columns = as_lists[library]()
    assert list(columns) == ["series", "point", "ridge", "clients", "seed", "regret", "reward"]
    assert columns["series"] == ["A_1", "A_1", "B"]
    assert columns["ridge"][:2] == [2, 2]
    assert columns["ridge"][2] is None or math.isnan(columns["ridge"][2])
    assert (columns["clients"], columns["seed"]) == ([9, 9, 4], [0, 1, 0])
    assert columns["regret"] == [1.0, 3.0, 2.0]
    assert math.isnan(columns["reward"][2])


def test_a_data_frame_needs_a_library_that_is_known_and_installed(monkeypatch):
    with pytest.raises(InvalidInput, match="library='excel': give pandas, polars or pyarrow"):
        TWO.to_frame("excel")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InvalidInput, match="polars is not installed: pip install polars, or give library=pandas or py"):
        TWO.to_frame("polars")


def test_a_table_for_latex_has_what_is_asked_for():
    latex = TWO.to_latex("regret")
    assert latex.splitlines()[0] == r"\begin{tabular}{llr}"
    assert r"A\_1 & p & 2 $\pm$ 1 \\" in latex
    assert "reward" not in latex
    assert "reward" in TWO.to_latex()
    with pytest.raises(InvalidInput, match="unknown quantity 'regrets': did you mean 'regret'"):
        TWO.to_latex("regrets")


def test_a_notebook_shows_means_with_errors():
    shown = TWO._repr_html_()
    assert "<th>regret</th>" in shown
    assert "<td>2 ± 1</td>" in shown
