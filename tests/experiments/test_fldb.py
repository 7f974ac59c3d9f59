"""The dueling experiments are those of the paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fedbandit as fb

NAMES = ["fldb/agents", "fldb/more-agents", "fldb/heterogeneous", "fldb/period", "fldb/curvature"]


@pytest.mark.parametrize("name", NAMES)
def test_every_run_is_valid_and_has_the_papers_length(name):
    experiment = fb.experiments[name]
    experiment.check()
    assert experiment.seeds >= 5
    for _, _, cell in experiment.cells():
        assert cell.turns == 500 * cell.world["clients"]
        assert cell.world["dimension"] == 5


@pytest.mark.usefixtures("unwritten_figures")
@pytest.mark.parametrize("name", NAMES)
def test_every_figure_and_every_claim_finds_its_series(tmp_path, name):
    quick = fb.experiments[name].quickened()
    found = fb.reproduce(replace(quick, seeds=1, rounds=3), tmp_path)
    assert len(found.figures) == 2 * len(quick.figures)
    assert len(found.verdicts) == len(quick.claims)
    assert all(verdict.evidence for _, verdict in found.verdicts)
