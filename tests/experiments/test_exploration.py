"""The experiments on ways to explore and on forgetting are those of the specification."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fedbandit as fb
from fedbandit.environments.testbed import CASES

NAMES = ["exploration/igw", "forgetting/abrupt", "forgetting/slow", "forgetting/still", "forgetting/detector"]


@pytest.mark.parametrize("name", NAMES)
def test_every_run_is_valid(name):
    experiment = fb.experiments[name]
    experiment.check()
    assert experiment.seeds == 10


@pytest.mark.usefixtures("unwritten_figures")
@pytest.mark.parametrize("name", ["exploration/igw", "forgetting/abrupt", "forgetting/detector"])
def test_every_figure_and_every_claim_finds_its_series(tmp_path, name):
    quick = replace(fb.experiments[name].quickened(), turns=120, seeds=1)
    found = fb.reproduce(quick, tmp_path)
    assert len(found.figures) == 2 * len(quick.figures)
    assert all(verdict.answer != "cannot be judged" for _, verdict in found.verdicts)


def test_algorithms_are_told_the_noise_of_each_world():
    for _, _, cell in fb.experiments["exploration/igw"].cells():
        assert cell.parameters["noise"] == CASES[cell.world["case"]].noise


def test_forgetting_runs_have_epochs():
    for name in NAMES[1:4]:
        assert all(cell.world["epoch_length"] > 0 for _, _, cell in fb.experiments[name].cells())
