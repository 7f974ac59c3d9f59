"""The experiments of FedGLB-UCB: what is declared."""

from __future__ import annotations

import pytest

from fedbandit.experiments.experiment import experiments


@pytest.mark.parametrize("name", ["fedglb-ucb/synthetic", "fedglb-ucb/over-time"])
def test_the_paper_s_setting_is_declared(name):
    experiment = experiments[name]
    experiment.check()
    cells = [cell for _, _, cell in experiment.cells()]
    assert {cell.turns for cell in cells} == {400_000}
    assert {cell.world["clients"] for cell in cells} == {200}
    assert {cell.seed for cell in cells} == set(range(10))
