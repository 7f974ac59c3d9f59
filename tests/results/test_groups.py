"""Rewards over a random policy's, and clients in groups by their number of turns."""

import csv

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.experiments.experiment import Experiment, Point, Series
from fedbandit.experiments.figures import Groups, Map, TradeOff
from fedbandit.results.record import Record

WORLD = {"clients": 12, "arms": 4, "dimension": 3, "arrivals": "skewed"}
ALGORITHMS = (
    Series("learning", "async-linucb", (Point({"upload_threshold": 1.5}, label="γ=1.5"), Point(label="γ=2"))),
    Series("chance", "random"),
)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    experiment = Experiment(
        id="test/groups",
        title="groups",
        environment="linear",
        world=WORLD,
        turns=600,
        seeds=2,
        series=ALGORITHMS,
        figures=(Groups(width=20, count=4, series=("learning",)), TradeOff(y="normalised")),
        baseline="chance",
    )
    return fb.reproduce(experiment, tmp_path_factory.mktemp("results"))


def test_rewards_are_divided_seed_by_seed(found):
    rewards = {
        name: [fb.run(name, fb.environment("linear", **WORLD), turns=600, seed=seed).reward[-1] for seed in range(2)]
        for name in ("async-linucb", "random")
    }
    expected = np.mean(np.array(rewards["async-linucb"]) / np.array(rewards["random"]))
    by_point = {row.point or row.series: row.measured["normalised"].mean for row in found.table.rows}
    assert by_point["γ=2"] == pytest.approx(expected)
    assert by_point["chance"] == 1.0


def test_the_table_of_groups_adds_up(found):
    path = next(path for path in found.figures if path.name == "groups.csv")
    with path.open(encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert head == [
        "group", "clients", "turns", "exchanges, γ=1.5", "rewards, γ=1.5", "exchanges, γ=2", "rewards, γ=2"
    ]  # fmt: skip
    numbers = np.array([[float(value.replace(",", "")) for value in line[1:]] for line in lines])
    np.testing.assert_allclose(numbers[:-1].sum(axis=0), numbers[-1], atol=2)
    assert numbers[-1, 0] == 12
    assert numbers[-1, 1] == 600
    uploads = next(row.measured["uploads"].mean for row in found.table.rows if row.point == "γ=1.5")
    assert numbers[-1, 2] == pytest.approx(uploads, abs=1)


def test_claims_can_ask_for_the_quantities_of_a_group(found):
    row = next(row for row in found.table.rows if row.point == "γ=2")
    assert sum(row.mean(f"turns {label}") for label in Groups(width=20, count=4).labels()) == 600


def test_the_report_shows_the_table_of_groups(found):
    page = found.report.read_text(encoding="utf-8")
    assert "exchanges, γ=1.5" in page
    assert "normalised" in page


def test_a_record_keeps_what_each_client_did(tmp_path):
    result = fb.run("async-linucb", fb.environment("linear", **WORLD), turns=200)
    Record.of(result).save(tmp_path / "cell.npz")
    kept = Record.load(tmp_path / "cell.npz")
    np.testing.assert_array_equal(kept.by_client["turns"], np.bincount(result.client, minlength=12))
    assert kept.by_client["exchanges"].sum() == result.uploads
    assert kept.by_client["rewards"].sum() == pytest.approx(result.reward[-1])


def test_a_map_needs_users_with_items(tmp_path):
    experiment = Experiment(
        id="test/map", title="map", environment="linear", world=WORLD, turns=50, seeds=1, series=ALGORITHMS[:1],
        figures=(Map(),),
    )  # fmt: skip
    with pytest.raises(fb.InvalidInput, match="a map of users needs the environment 'recommendation', not 'linear'"):
        fb.reproduce(experiment, tmp_path)
