"""Every panel of every paper has an experiment that shows it, and every sentence about it a verdict or a reason."""

from itertools import groupby

import numpy as np
import pytest

from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.figures import Groups, Map
from fedbandit.experiments.panel import panels
from fedbandit.experiments.table import QUANTITIES, Measured, Row, Table
from fedbandit.results.record import BY_CLIENT

PANELS = [panels[name] for name in panels]


def made_up(experiment):
    """A table of the whole experiment with random numbers: five seeds of every quantity at every point."""
    rng = np.random.default_rng(2)  # numbers in which series that are compared at equal regret share a range of it
    groups = [figure for figure in experiment.figures if isinstance(figure, Groups)]
    names = [
        *QUANTITIES,
        "normalised",
        *(f"{what} {each}" for what in BY_CLIENT for g in groups for each in g.labels()),
        *(f"distance {each}" for g in groups if isinstance(g, Map) for each in g.labels()),
    ]
    rows = []
    for series in experiment.series:
        for point in series.points:
            settings = {**point.world, **point.parameters}
            measured = {name: Measured(tuple(rng.uniform(1.0, 100.0, 5))) for name in names}
            rows.append(Row(series.label, point.label, settings, int(settings.get("clients", 7)), measured))
    return Table(tuple(rows))


def test_the_registry_has_every_panel_of_the_five_papers():
    counts = {paper: len(list(group)) for paper, group in groupby(PANELS, key=lambda panel: panel.paper)}
    assert counts == {"async-linucb": 8, "fedego-lasso": 15, "fedglb-ucb": 4, "fldb": 13, "fn-ucb": 17}
    assert sum(counts.values()) == 57


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.id)
def test_a_panel_has_an_experiment_that_draws_it(panel):
    drawn = {figure.file_name for figure in panel.made_by().figures}
    assert panel.figures
    assert set(panel.figures) <= drawn


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.id)
def test_what_the_paper_says_has_a_verdict_or_a_reason_why_not(panel):
    table = made_up(panel.made_by())
    for said in panel.said:
        assert bool(said.unanswered) != bool(said.answered_by)
        begun = [claim.sentence for claim in panel.claims(said)]
        assert all(any(sentence.startswith(words) for sentence in begun) for words in said.answered_by)
        for claim in panel.claims(said):
            assert claim.judge(table).answer != "cannot be judged", claim.sentence
    assert panel.said


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.id)
def test_published_numbers_stand_beside_points_of_ours(panel):
    table = made_up(panel.made_by())
    for each in panel.published:
        (row,) = [row for row in table.of(each.series) if row.point == each.point]
        assert each.quantity in row.measured
        assert each.source


@pytest.mark.parametrize("name", sorted(experiments))
def test_every_claim_of_every_experiment_finds_its_points(name):
    experiment = experiments[name]
    table = made_up(experiment)
    assert [claim.sentence for claim in experiment.claims if claim.judge(table).answer == "cannot be judged"] == []
