"""Rows of means and spreads."""

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.table import Row, Table
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
