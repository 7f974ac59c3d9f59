"""The experiments of FedGLB-UCB: what is declared, and the claim of their own."""

from __future__ import annotations

import pytest

from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.fedglb_ucb import Similar
from fedbandit.experiments.table import Measured, Row, Table


@pytest.mark.parametrize("name", ["fedglb-ucb/synthetic", "fedglb-ucb/over-time"])
def test_the_paper_s_setting_is_declared(name):
    experiment = experiments[name]
    experiment.check()
    cells = [cell for _, _, cell in experiment.cells()]
    assert {cell.turns for cell in cells} == {400_000}
    assert {cell.world["clients"] for cell in cells} == {200}
    assert {cell.seed for cell in cells} == set(range(10))


@pytest.mark.parametrize(("right", "answer"), [(140.0, "holds"), (160.0, "does not hold"), (60.0, "does not hold")])
def test_similar_means_within_a_factor_either_way(right, answer):
    def row(label, value):
        return Row(label, "", {}, 1, {"regret": Measured(value, 0.0, 1)})

    table = Table((row("left", 100.0), row("right", right)))
    assert Similar("alike", ("left", "right"), y="regret", factor=1.5).judge(table).answer == answer
