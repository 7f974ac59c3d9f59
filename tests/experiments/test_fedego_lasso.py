"""The experiments of Fedego Lasso: the settings of the paper, two-standard-deviation bands, the grid of figure 5."""

import pytest

from fedbandit.core.algorithm import algorithms
from fedbandit.core.environment import environments
from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.figures import OverTime

NAMES = ["fedego-lasso/synthetic", "fedego-lasso/warfarin", "fedego-lasso/medical-mnist"]


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_known_and_bands_are_two_standard_deviations(name):
    experiment = experiments[name]
    for series in experiment.series:
        for point in series.points:
            algorithms[series.algorithm].from_values(point.parameters)
            environments[experiment.environment].from_values({**experiment.world, **point.world})
    over_time = [figure for figure in experiment.figures if isinstance(figure, OverTime)]
    assert over_time
    assert all((figure.band, figure.spread) == (2.0, "standard deviation") for figure in over_time)
    assert experiment.seeds == 10


def test_the_synthetic_world_is_that_of_appendix_f():
    experiment = experiments[NAMES[0]]
    assert experiment.world == {
        "clients": 5, "arms": 5, "dimension": 100, "support": 5, "candidates": 10, "noise": 0.1,
    }  # fmt: skip
    assert experiment.rounds == 2000


def test_the_grid_has_every_dimension_number_of_arms_and_of_clients_and_a_figure_for_each_panel():
    experiment = experiments[NAMES[0]]
    found = {
        tuple(point.world[name] for name in ("dimension", "arms", "clients"))
        for series in experiment.series
        for point in series.points
        if "dimension" in point.world
    }
    assert found == {(d, k, m) for d in (50, 100, 200) for k in (5, 10, 15) for m in (5, 10, 15)}
    assert sum(figure.name.startswith("figure-5") for figure in experiment.figures) == 9


def test_figures_show_series_that_exist():
    for name in NAMES:
        labels = {series.label for series in experiments[name].series}
        for figure in experiments[name].figures:
            assert set(figure.series) <= labels
