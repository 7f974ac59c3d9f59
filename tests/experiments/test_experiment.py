"""An experiment is data: its runs, their names, its smaller self, and what is refused before anything runs."""

from dataclasses import replace

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.experiments.experiment import Cell, Point, Quick, Series, along, grid
from reference.recorded import linear_turns
from samples.small_experiment import SMALL


def test_a_grid_has_a_point_for_every_combination():
    points = grid(ridge=[1, 2], delta=[0.1, 0.2])
    assert [dict(point.parameters) for point in points] == [
        {"ridge": 1, "delta": 0.1},
        {"ridge": 1, "delta": 0.2},
        {"ridge": 2, "delta": 0.1},
        {"ridge": 2, "delta": 0.2},
    ]
    assert [point.label for point in points] == ["1, 0.1", "1, 0.2", "2, 0.1", "2, 0.2"]


def test_a_grid_can_be_labelled():
    assert [point.label for point in grid("λ={ridge:.1f}", ridge=[1, 2])] == ["λ=1.0", "λ=2.0"]


def test_points_along_sizes_of_the_world_differ_in_the_world():
    points = along(grid(ridge=[1, 2]), clients=[10, 20], arms=[3])
    assert [(point.value("ridge"), point.value("clients"), point.value("arms")) for point in points] == [
        (1, 10, 3),
        (2, 10, 3),
        (1, 20, 3),
        (2, 20, 3),
    ]
    assert points[0].label == "1, clients=10, arms=3"


def test_the_cells_are_every_point_of_every_series_with_every_seed():
    cells = list(SMALL.cells())
    assert len(cells) == (3 + 1) * 3
    assert [cell.seed for _, _, cell in cells] == [0, 1, 2] * 4
    series, point, cell = cells[3]
    assert (series.label, point.label) == ("Async", "γ=2")
    assert cell == Cell("linear", {"clients": 5, "dimension": 3}, "async-linucb", {"upload_threshold": 2}, 50, 1 - 1)


def test_a_points_world_overrides_the_experiments():
    swept = replace(SMALL, series=(Series("Local", "local-linucb", along((Point(),), clients=[2, 7])),), seeds=1)
    assert [cell.world["clients"] for _, _, cell in swept.cells()] == [2, 7]


def test_rounds_count_turns_of_each_client_and_without_a_length_the_worlds_own_is_taken():
    swept = replace(SMALL, series=(Series("Local", "local-linucb", along((Point(),), clients=[2, 7])),), seeds=1)
    assert [cell.turns for _, _, cell in replace(swept, turns=None, rounds=10).cells()] == [20, 70]
    assert [cell.turns for _, _, cell in replace(swept, turns=None).cells()] == [600, 2100]


def test_every_cell_has_a_key_of_its_own_that_is_always_the_same():
    keys = [cell.key() for _, _, cell in SMALL.cells()]
    assert len(set(keys)) == len(keys)
    assert keys == [cell.key() for _, _, cell in SMALL.cells()]


BASE = Cell("linear", {"clients": 5}, "async-linucb", {"ridge": 1.0}, turns=50, seed=0)


@pytest.mark.parametrize(
    "change",
    [
        {"environment": "recorded"},
        {"world": {"clients": 6}},
        {"world": {"clients": 5, "arms": 3}},
        {"algorithm": "sync-linucb"},
        {"parameters": {"ridge": 2.0}},
        {"turns": 51},
        {"seed": 1},
        {"fingerprint": "abc"},
    ],
)
def test_a_key_changes_with_anything_that_changes_the_numbers(change):
    assert replace(BASE, **change).key() != BASE.key()


def test_a_key_does_not_depend_on_the_order_in_which_things_are_named():
    one, other = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert replace(BASE, world=one).key() == replace(BASE, world=other).key()
    assert replace(BASE, parameters=one).key() == replace(BASE, parameters=other).key()


def test_a_recorded_file_that_is_written_again_makes_other_cells(tmp_path):
    path = tmp_path / "turns.npz"
    experiment = replace(SMALL, environment="recorded", world={"path": str(path)}, turns=None, seeds=1)
    keys = []
    for seed in (0, 0, 1):
        np.savez(path, **linear_turns(seed=seed, turns=20, clients=2, arms=3, dimension=2))
        keys.append([cell.key() for _, _, cell in experiment.cells()])
    assert keys[0] == keys[1]
    assert not set(keys[0]) & set(keys[2])


def test_the_quick_experiment_is_smaller_and_shows_the_same():
    quick = replace(SMALL, quick=Quick(seeds=2, turns=20, world={"clients": 3}, every=2)).quickened()
    assert quick.seeds == 2
    assert quick.turns == 20
    assert quick.world == {"clients": 3, "dimension": 3}
    assert [point.label for point in quick.series[0].points] == ["γ=1.5", "γ=5"]
    assert quick.id == SMALL.id
    assert [cell.turns for _, _, cell in quick.cells()] == [20] * 6


def test_the_quick_experiment_never_has_more_seeds():
    assert replace(SMALL, seeds=1, quick=Quick(seeds=2)).quickened().seeds == 1


def test_without_a_length_of_its_own_the_quick_experiment_keeps_the_length():
    assert SMALL.quickened().turns == 50
    assert replace(SMALL, turns=None, rounds=7).quickened().rounds == 7


def test_a_quick_length_replaces_the_length_in_whichever_way_it_was_given():
    in_rounds = replace(SMALL, turns=None, rounds=100)
    quick = replace(in_rounds, quick=Quick(turns=20)).quickened()
    assert [cell.turns for _, _, cell in quick.cells()][:1] == [20]
    quick = replace(SMALL, quick=Quick(rounds=3)).quickened()
    assert [cell.turns for _, _, cell in quick.cells()][:1] == [15]
    quick.check()


def test_quick_sizes_reach_the_points_that_set_them():
    swept = replace(SMALL, series=(Series("Local", "local-linucb", along((Point(),), clients=[50])),))
    assert replace(swept, quick=Quick(world={"clients": 4})).quickened().series[0].points[0].world == {"clients": 4}


def test_a_registered_experiment_is_known_by_its_id():
    try:
        assert SMALL.register() is SMALL
        assert fb.experiments["test/small"] is SMALL
    finally:
        del fb.experiments._things["test/small"]


@pytest.mark.parametrize("name", list(fb.experiments))
def test_every_registered_experiment_can_be_run_whole_and_quick(name):
    experiment = fb.experiments[name]
    assert experiment.id == name
    assert experiment.title
    assert experiment.figures
    for each in (experiment, experiment.quickened()):
        each.check()
    assert experiment.quickened().seeds <= 2
