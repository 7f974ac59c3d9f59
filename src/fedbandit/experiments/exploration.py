"""What exact propensities cost: inverse gap weighting beside optimism, in worlds in which ways to explore differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedbandit.environments.testbed import CASES
from fedbandit.experiments.comparisons import AtMost, NearBest
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series
from fedbandit.experiments.figures import OverTime

AUTO, UCB = "igw, auto", "ucb"
NUMBERS = {f"igw, {greed:,}": {"exploration": "igw", "greed": greed} for greed in (10, 100, 1_000, 10_000, 100_000)}
WAYS: dict[str, Mapping[str, Any]] = {
    UCB: {"exploration": "ucb"},
    AUTO: {"exploration": "igw"},
    **NUMBERS,
    f"{UCB}, explore": {"exploration": "ucb", "explore": 0.01},
    f"{AUTO}, explore": {"exploration": "igw", "explore": 0.01},
}


def _everywhere(label: str) -> Series:
    """Return one way to explore in every world, told its noise."""
    points = tuple(
        Point({**WAYS[label], "noise": case.noise, "upload_threshold": 1.2}, {"case": name}, name)
        for name, case in CASES.items()
    )
    return Series(label, "fedlinucb", points)


Experiment(
    id="exploration/igw",
    title="Ways to explore with exact propensities, in eight worlds",
    environment="testbed",
    turns=4_000,
    series=tuple(_everywhere(label) for label in WAYS),
    figures=tuple(
        OverTime(y="regret", series=(UCB, AUTO, *NUMBERS), labels=(case,), log_y=True, title=f"Regret in {case}",
                 name=f"regret-in-{case}")
        for case in CASES
    ),
    claims=(
        NearBest("Greed auto has at most 1.4 times the regret of the best number, in seven worlds of eight", AUTO, 1.4,
                 tuple(NUMBERS), share=7 / 8),
        AtMost("Greed auto has at most 1.5 times the regret of optimism", AUTO, 1.5, UCB),
    ),
    quick=Quick(seeds=2, turns=500),
    notes="FedLinUCB with an upload threshold of 1.2, ten clients. 'explore' is a share of 0.01.",
).register()  # fmt: skip
