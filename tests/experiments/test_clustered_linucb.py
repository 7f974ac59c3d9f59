"""The experiments on groups and false data are those of the specification."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fedbandit as fb

NAMES = ["clustered-linucb/groups", "clustered-linucb/poisoned"]


@pytest.mark.parametrize("name", NAMES)
def test_every_run_is_valid(name):
    experiment = fb.experiments[name]
    experiment.check()
    assert experiment.seeds == 10
    for _, _, cell in experiment.cells():
        assert cell.turns == (500 * cell.world["clients"] if name.endswith("groups") else 5000)
        assert (cell.world["dimension"], cell.world["arms"], cell.world["source"]) == (10, 10, "sphere")
        assert cell.parameters.get("noise", 0.1) == cell.world.get("noise", 0.1), "algorithms are told the noise"


@pytest.mark.usefixtures("unwritten_figures")
@pytest.mark.parametrize("name", NAMES)
def test_every_figure_and_every_claim_finds_its_series(tmp_path, name):
    quick = fb.experiments[name].quickened()
    shorter = replace(quick, rounds=2) if quick.rounds else replace(quick, turns=40)
    found = fb.reproduce(shorter, tmp_path)
    assert len(found.figures) == 2 * len(quick.figures)
    assert all(verdict.answer != "cannot be judged" for _, verdict in found.verdicts)


def test_who_is_told_the_groups_has_one_federation_a_group():
    series = {each.label: each for each in fb.experiments["clustered-linucb/groups"].series}
    worlds = [point.world for point in series["told the groups"].points]
    assert [(world["clients"], world["groups"]) for world in worlds] == [(40, 1), (20, 1), (10, 1), (4, 1), (1, 1)]
