"""All algorithms on common ground, each tuned with the same budget: the runs behind docs/leaderboard.md.

For each kind of rewards there are two experiments with the same series and points. In the one every algorithm is tuned,
on worlds that are drawn for that; in the other the same settings are run on the worlds that are reported. Which setting
is reported follows from the stored runs of the first: `fedbandit.results.leaderboard` chooses, nobody by hand.

Every algorithm has six settings, declared beside its paper's experiments (`tuning`). All else is what it is by default,
or a fact of the world that whoever runs it would know. When an algorithm communicates is not tuned: by regret alone,
all would talk as much as they can.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.environments.common_ground import REWARDS
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series
from fedbandit.experiments.figures import Against
from fedbandit.experiments.tuning import TUNED, tuned

CLIENTS, ROUNDS = 10, 200
WORLD = {"clients": CLIENTS, "arms": 4, "dimension": 10, "support": 3}
TUNING_SEEDS, REPORTED_SEEDS = 3, 8
SETTINGS = 6  # that each algorithm may try; `random` has nothing to tune

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
    algorithm = algorithms[name]
    facts, world = known(algorithm, rewards), {"form": form_of(algorithm)}
    settings = TUNED[name].settings()
    return Series(name, name, tuple(Point({**facts, **tried}, world, label) for label, tried in settings))


def _register(rewards: str) -> None:
    talking = tuple(name for name in sorted(TUNED) if not TUNED[name].alone)
    reported = Experiment(
        id=f"leaderboard/{rewards}",
        title=f"All algorithms on common ground, {rewards} rewards",
        environment="common-ground",
        world={**WORLD, "rewards": rewards, "draw": "reported"},
        rounds=ROUNDS,
        seeds=REPORTED_SEEDS,
        series=tuple(_series(name, rewards) for name in sorted(TUNED)),
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


tuned("random", alone=True)
for _file in iter_modules(import_module("fedbandit.experiments").__path__, "fedbandit.experiments."):
    if not _file.ispkg:
        import_module(_file.name)  # which declares what is tried for its algorithms
for _rewards in REWARDS:
    _register(_rewards)
