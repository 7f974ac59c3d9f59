"""The experiments on the bytes that regret costs are those of the specification."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fedbandit as fb

FRONTIERS = [f"lean-linucb/frontier{name}" for name in ("", "-skewed", "-sphere", "-sphere-skewed")]


@pytest.mark.parametrize("name", [*FRONTIERS, "lean-linucb/steps"])
def test_every_run_is_valid(name):
    experiment = fb.experiments[name]
    experiment.check()
    assert experiment.seeds == 10
    for _, _, cell in experiment.cells():
        assert (cell.world["dimension"], cell.world["arms"]) == (25, 25)
        assert cell.turns == (6_000 if name.endswith("steps") else 30_000)


@pytest.mark.parametrize("name", [FRONTIERS[0], "lean-linucb/steps"])
def test_every_figure_and_every_claim_finds_its_series(tmp_path, name):
    quick = replace(fb.experiments[name].quickened(), turns=60)
    found = fb.reproduce(quick, tmp_path)
    assert len(found.figures) == 2 * len(quick.figures)
    assert all(verdict.answer != "cannot be judged" for _, verdict in found.verdicts)
