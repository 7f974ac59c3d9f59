"""The experiments on the bytes that regret costs, on precision and on scale are those of the specification."""

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


@pytest.mark.parametrize(("name", "turns", "seeds"), [("precision", 30_000, 10), ("precision-long", 1_000_000, 3)])
def test_precisions_are_compared_in_the_same_worlds(name, turns, seeds):
    experiment = fb.experiments[f"lean-linucb/{name}"]
    experiment.check()
    assert (experiment.turns, experiment.seeds) == (turns, seeds)
    worlds = {
        series.label: {(cell.world["dimension"], cell.seed) for label, _, cell in experiment.cells() if label == series}
        for series in experiment.series
    }
    assert set(worlds) == {"float64", "float16"}
    assert worlds["float64"] == worlds["float16"] == {(size, seed) for size in (10, 25, 100) for seed in range(seeds)}


def test_a_million_clients_have_thirty_turns_each():
    experiment = fb.experiments["lean-linucb/scale"]
    experiment.check()
    sizes = [(cell.world["clients"], cell.turns) for _, _, cell in experiment.cells()]
    assert sizes == [(10**k, 30 * 10**k) for k in (3, 4, 5, 6)]


@pytest.mark.usefixtures("unwritten_figures")
@pytest.mark.parametrize(
    "name", [FRONTIERS[0], *(f"lean-linucb/{name}" for name in ("steps", "precision", "precision-long", "scale"))]
)
def test_every_figure_and_every_claim_finds_its_series(tmp_path, name):
    quick = replace(fb.experiments[name].quickened(), turns=60, rounds=None)
    found = fb.reproduce(quick, tmp_path)
    assert len(found.figures) == 2 * len(quick.figures)
    assert all(verdict.answer != "cannot be judged" for _, verdict in found.verdicts)
