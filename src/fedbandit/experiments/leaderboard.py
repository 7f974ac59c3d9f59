"""All algorithms on common ground, each tuned with the same budget: the runs behind docs/leaderboard.md.

For each kind of rewards there are two experiments with the same series and points. In the one every algorithm is tuned,
on worlds that are drawn for that; in the other the same settings are run on the worlds that are reported. Which setting
is reported follows from the stored runs of the first: `fedbandit.results.leaderboard` chooses, nobody by hand.

Every algorithm has six settings: three values of what it is most sensitive to, mostly the width of its confidence
bound, times two values of another knob, mostly the regulariser. All else is what it is by default, or a fact of the
world that whoever runs it would know. When an algorithm communicates is not tuned: by regret alone, all would talk as
much as they can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.environments.common_ground import REWARDS
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series
from fedbandit.experiments.figures import Against

CLIENTS, ROUNDS = 10, 200
WORLD = {"clients": CLIENTS, "arms": 4, "dimension": 10, "support": 3}
TUNING_SEEDS, REPORTED_SEEDS = 3, 8
SETTINGS = 6  # that each algorithm may try


class Knob(NamedTuple):
    """Parameters that are set alike, the name of their value, and the values to try."""

    name: str
    values: tuple[float, ...]
    parameters: tuple[str, ...] = ()  # the name's, if none are given

    def set_to(self, value: float) -> dict[str, float]:
        """Return the parameters at a value.

        >>> Knob("nu", (0.1, 1), ("nu_local", "nu_pooled")).set_to(0.1)
        {'nu_local': 0.1, 'nu_pooled': 0.1}
        """
        return dict.fromkeys(self.parameters or (self.name,), value)


WIDTHS = (0.05, 0.2, 0.8)
RIDGE = Knob("ridge", (0.1, 1))
# Contexts of unit length in ten dimensions: products of their features with rewards are of the order of 1/20, and a
# penalty beyond that leaves nothing. Rewards differ by at most 2, so that a gap of 5 screens no arm.
PENALTY = Knob("penalty", (0.003, 0.01, 0.03), ("forced_penalty", "private_penalty"))
NU, NU_ALONE = Knob("nu", WIDTHS, ("nu_local", "nu_pooled")), Knob("nu", WIDTHS, ("nu_local",))
KNOBS: Mapping[str, tuple[Knob, ...]] = {
    **dict.fromkeys(
        ("async-linucb", "async-linucb-am", "clustered-linucb", "fedlinucb", "lean-linucb", "local-linucb",
         "pooled-linucb", "sync-linucb"),
        (Knob("alpha", WIDTHS), RIDGE),
    ),
    "private-linucb": (Knob("alpha", WIDTHS), Knob("ridge", (1, 10))),  # over noise that would swamp a smaller one
    **dict.fromkeys(
        ("fedglb-ucb", "fedglb-ucb-1", "fedglb-ucb-2", "fedglb-ucb-3", "n-ons-glm", "n-ucb-glm", "one-ucb-glm"),
        (Knob("alpha", WIDTHS), RIDGE),
    ),
    **dict.fromkeys(("fldb-gd", "ldb"), (Knob("beta", WIDTHS), Knob("ridge", (0.01, 0.1)))),
    "fldb-ogd": (Knob("beta", WIDTHS), Knob("step_scale", (100, 1000))),
    **dict.fromkeys(("fedego-lasso", "lasso-bandit", "teamwork-lasso"), (PENALTY, Knob("gap", (0.5, 5)))),
    **dict.fromkeys(("fn-ucb", "fn-ucb-less"), (NU, RIDGE)),
    **dict.fromkeys(("neural-ucb", "neural-ts"), (NU_ALONE, RIDGE)),
    **dict.fromkeys(("linear-ucb", "linear-ts", "kernel-ucb", "kernel-ts"), (Knob("width", WIDTHS), RIDGE)),
    "random": (),  # has nothing to tune
}  # fmt: skip
ALONE = ("kernel-ts", "kernel-ucb", "lasso-bandit", "ldb", "linear-ts", "linear-ucb", "local-linucb", "n-ons-glm",
         "n-ucb-glm", "neural-ts", "neural-ucb", "random")  # fmt: skip
LEFT_OUT: Mapping[str, str] = {}  # algorithms that are not compared, each with the reason
EPSILON = 8.0  # of private-linucb: a promise, which is not for tuning
BATCHES = 10  # of private-linucb, in the whole run


def form_of(algorithm: type[Algorithm]) -> str:
    """Return the form in which an algorithm is shown the world.

    >>> form_of(algorithms["ldb"]), form_of(algorithms["lasso-bandit"]), form_of(algorithms["fn-ucb"])
    ('duels', 'contexts', 'arms')
    """
    return "duels" if algorithm.duels else "contexts" if algorithm.shares_context else "arms"


def known(algorithm: type[Algorithm], rewards: str) -> dict[str, Any]:
    """Return what is known before a run, and is no setting to try: the kind of rewards, their noise, a promise.

    >>> known(algorithms["one-ucb-glm"], "linear"), known(algorithms["lean-linucb"], "logistic")
    ({'link': 'identity'}, {'noise': 0.5})
    """
    facts = {
        "noise": 0.1 if rewards == "linear" else 0.5,  # that of the world, and the largest of a coin
        "link": "identity" if rewards == "linear" else "logistic",
        "epsilon": EPSILON,
        "batch": ROUNDS // BATCHES,
        "releases": BATCHES,
    }
    names = {each.name for each in algorithm.describe()}
    return {name: value for name, value in facts.items() if name in names}


def _series(name: str, rewards: str) -> Series:
    algorithm, knobs = algorithms[name], KNOBS[name]
    points = []
    for values in product(*(knob.values for knob in knobs)):
        chosen = list(zip(knobs, values, strict=True))
        settings = {key: each for knob, value in chosen for key, each in knob.set_to(value).items()}
        label = ", ".join(f"{knob.name} {value:g}" for knob, value in chosen)
        points.append(Point({**known(algorithm, rewards), **settings}, {"form": form_of(algorithm)}, label))
    return Series(name, name, tuple(points))


def _register(rewards: str) -> None:
    talking = tuple(name for name in KNOBS if name not in ALONE)
    reported = Experiment(
        id=f"leaderboard/{rewards}",
        title=f"All algorithms on common ground, {rewards} rewards",
        environment="common-ground",
        world={**WORLD, "rewards": rewards, "draw": "reported"},
        rounds=ROUNDS,
        seeds=REPORTED_SEEDS,
        series=tuple(_series(name, rewards) for name in KNOBS),
        figures=(Against(x="bytes", log_x=True, log_y=True, series=talking, title=f"All settings, {rewards} rewards"),),
        quick=Quick(seeds=1, rounds=20, every=SETTINGS),
        notes="Every setting that was tried is run; the leaderboard shows the one that the tuning runs chose.",
    ).register()
    replace(
        reported,
        id=f"leaderboard/{rewards}-tuning",
        title=f"The settings of all algorithms on worlds for tuning, {rewards} rewards",
        world={**WORLD, "rewards": rewards, "draw": "tuning"},
        seeds=TUNING_SEEDS,
        notes="The setting of the least mean regret is the one that the leaderboard shows.",
    ).register()


for _rewards in REWARDS:
    _register(_rewards)
