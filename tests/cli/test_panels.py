"""`fedbandit panels`: the figures and tables of the papers, with verdicts on the runs that are there."""

import pytest

from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.table import QUANTITIES, Measured, Row, Table
from fedbandit.results.tables import write_runs
from samples.refusals import refused


def test_all_panels_are_listed_with_their_experiments(fedbandit):
    said = fedbandit("panels").out
    for words in ("async-linucb/figure-2b", "async-linucb/homogeneous-skewed", "fedego-lasso/figure-5-M=15-d=200"):
        assert words in said


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fn-ucb/figure-1d", ("456.7", "caption of figure 1", "More frequent communication lowers regret", "not run")),
        ("async-linucb/figure-5", ("not judged: it is read off the map",)),
        ("fedglb-ucb", ("fedglb-ucb/figure-2a", "fedglb-ucb/figure-3b", "comparable with One-UCB-GLM")),
    ],
)
def test_a_panel_or_a_paper_is_shown_with_its_words_and_published_numbers(fedbandit, name, words):
    said = fedbandit("panels", name).out
    for each in words:
        assert each in said


def test_runs_that_are_there_are_judged_and_stand_beside_published_numbers(fedbandit, tmp_path):
    experiment = experiments["fn-ucb/threshold"]
    rows = [
        Row(series.label, point.label, dict(point.parameters), 2, {
            name: Measured((7.5 + place, 8.5 + place)) for name in QUANTITIES
        })
        for series in experiment.series
        for place, point in enumerate(series.points)
    ]  # fmt: skip
    folder = tmp_path / "fn-ucb" / "threshold"
    folder.mkdir(parents=True)
    write_runs(Table(tuple(rows)), folder / "runs.csv")
    said = fedbandit("panels", "fn-ucb/figure-1d", "--output", str(tmp_path)).out
    assert "A larger D means fewer rounds of communication: does not hold" in said
    assert "More frequent communication lowers regret, paper setting: holds" in said
    assert "not run" not in said
    (line,) = (line for line in said.splitlines() if "456.7" in line)
    assert " 9 " in line, "the mean of 8.5 and 9.5, at D = 2.5"


def test_an_unknown_panel_is_refused_with_the_nearest_name(fedbandit):
    refused(fedbandit("panels", "fldb/figure-9"), "unknown paper or panel 'fldb/figure-9': did you mean 'fldb/figure-")
