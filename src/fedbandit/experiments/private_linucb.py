"""What differential privacy costs, and from how many sites on a federation pays for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fedbandit.experiments.claims import Claim, Monotone
from fedbandit.experiments.comparisons import AtMost
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, grid
from fedbandit.experiments.figures import Against
from fedbandit.experiments.tuning import WIDTH, Knob, tuned

TURNS = 500  # of a site
EPSILONS = (0.5, 1, 2, 4, 8, 1e6)  # the last is as good as no noise: what is left is what batches cost
MANY = 100
ALONE = Series("alone, not private", "local-linucb", (Point({"alpha": 0.3}, {"clients": MANY}),))
SHARED = Series("100 sites, not private", "sync-linucb", (Point({"alpha": 0.3}, {"clients": MANY}),))


def _private(label: str, sites: int, bound: float, **more: Any) -> Series:
    given = {"batch": TURNS // 20, "releases": 20, "reward_bound": bound, **more}
    points = grid("ε={epsilon:g}", epsilon=EPSILONS, **{name: [value] for name, value in given.items()})
    return Series(label, "private-linucb", tuple(replace(each, world={"clients": sites}) for each in points))


def _experiment(name: str, title: str, noise: float, bound: float, seeds: int, *claims: Claim) -> None:
    """Register runs in a world whose rewards vary so much, and are clipped at a bound that few reach."""
    private = [_private(f"private, {_some(sites)}", sites, bound, alpha=0.3) for sites in (1, 10, MANY)]
    private.append(_private(f"{HUNDRED}, the theory's width", MANY, bound, noise=noise))
    labels = tuple(each.label for each in private)
    Experiment(
        id=f"private-linucb/{name}",
        title=title,
        environment="linear",
        world={"arms": 10, "dimension": 10, "noise": noise, "source": "sphere"},
        rounds=TURNS,
        seeds=seeds,
        series=(*private, ALONE, SHARED),
        figures=(Against(x="epsilon", series=labels, per_client=True, log_x=True, log_y=True, title=title),),
        claims=(Monotone("Regret falls as epsilon grows", labels, along="epsilon", per_client=True), *claims),
        quick=Quick(seeds=2, rounds=100),
        notes="Regret is that of all sites together: divide it by their number. Delta of the promise is 1e-6, the "
        "mechanism toeplitz, the schedule rounds, 20 batches.",
    ).register()


def _some(sites: int) -> str:
    return "1 site" if sites == 1 else f"{sites} sites"


ONE, TEN, HUNDRED = (f"private, {_some(sites)}" for sites in (1, 10, MANY))

_experiment(
    "epsilon", "Regret of a site against epsilon, where rewards vary much", 1.0, 2.0, 4,
    AtMost("One private site has no less regret than alone", ALONE.label, 1.0, ONE, of_point="ε=8", per_client=True),
    AtMost("Ten sites pay with epsilon 8", TEN, 1.0, ALONE.label, points=("ε=8",), per_client=True),
    AtMost("A hundred sites pay with epsilon 2", HUNDRED, 1.0, ALONE.label, points=("ε=2",), per_client=True),
)  # fmt: skip
_experiment(
    "quiet", "Regret of a site against epsilon, where rewards vary little", 0.1, 1.0, 10,
    AtMost("Not even a hundred sites pay with epsilon 8", ALONE.label, 1.0, HUNDRED, of_point="ε=8", per_client=True),
)  # fmt: skip

tuned("private-linucb", knobs=(WIDTH, Knob("ridge", (1, 10))))  # over noise that would swamp a smaller one
