"""The experiments of "Federated High-Dimensional Online Decision Making" (Wang, Li and Lin 2023).

The paper names neither the unit, nor the gap, nor the penalties of its runs. Those used here were chosen by trying, and
docs/lasso.md shows what others give. Bands are two standard deviations over ten trials, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping

from fedbandit.experiments.claims import Monotone, Ordered
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, along
from fedbandit.experiments.figures import Against, Figure, OverTime
from fedbandit.experiments.tuning import Knob, tuned

CLIENTS = (5, 10, 15)
DIMENSIONS = (50, 100, 200)
ARMS = (5, 10, 15)
FEDEGO, ALONE, POOLED = "Fedego Lasso", "Lasso Bandit", "Teamwork Lasso"
ALGORITHMS = {FEDEGO: "fedego-lasso", ALONE: "lasso-bandit", POOLED: "teamwork-lasso"}


def _compared(parameters: Mapping[str, float], name: str = "") -> tuple[Series, ...]:
    """Return the three algorithms, each for every number of clients."""
    points = along((Point(parameters),), clients=CLIENTS)
    return tuple(Series(f"{label}{name}", algorithm, points) for label, algorithm in ALGORITHMS.items())


def _over_time(name: str, title: str, series: tuple[str, ...], clients: tuple[int, ...], rate: bool = False) -> Figure:
    labels = tuple(f"clients={each}" for each in clients)
    return OverTime(title=title, series=series, labels=labels, per_client=True, by_round=True, rate=rate, band=2.0,
                    spread="standard deviation", name=name)  # fmt: skip


def _figures(letter: str, rate: bool = False) -> tuple[Figure, ...]:
    return (
        _over_time(f"figure-3{letter}", "Three algorithms, five clients", tuple(ALGORITHMS), CLIENTS[:1], rate),
        _over_time(f"figure-4{letter}", "More clients", (FEDEGO,), CLIENTS, rate),
    )


def _claims(letter: str, suffix: str = "", setting: str = "") -> tuple[Ordered | Monotone, ...]:
    fedego, alone = FEDEGO + suffix, ALONE + suffix
    return (
        Ordered(f"Fedego Lasso has less regret per client than Lasso Bandit (figure 3{letter}){setting}",
                (fedego, alone), per_client=True),
        Monotone(f"Regret per client falls as clients are added (figure 4{letter}){setting}", (fedego,),
                 along="clients", per_client=True),
    )  # fmt: skip


def _grid_label(dimension: int, arms: int) -> str:
    return f"d={dimension}, K={arms}"


GRID = {
    (dimension, arms): Series(
        _grid_label(dimension, arms),
        "fedego-lasso",
        tuple(
            Point(world={"clients": clients, "dimension": dimension, "arms": arms}, label=f"clients={clients}")
            for clients in CLIENTS
        ),
    )
    for dimension in DIMENSIONS
    for arms in ARMS
}
NARROW = ", h=2"
INFINITE = float("inf")

Experiment(
    id="fedego-lasso/synthetic",
    title="Sparse parameters that differ a little between clients (figures 3a, 4a and 5)",
    environment="sparse",
    world={"clients": 5, "arms": 5, "dimension": 100, "support": 5, "candidates": 10, "noise": 0.1},
    rounds=2_000,
    series=(*_compared({}), *_compared({"gap": 2.0}, NARROW)[:2], *GRID.values()),
    figures=(
        *_figures("a"),
        _over_time("narrow-gap", "More clients, with the narrow gap h = 2", (FEDEGO + NARROW,), CLIENTS),
        *(
            _over_time(f"figure-5-M{clients}-d{dimension}", f"M = {clients}, d = {dimension}",
                       tuple(_grid_label(dimension, arms) for arms in ARMS), (clients,))
            for clients in CLIENTS
            for dimension in DIMENSIONS
        ),
        Against(x="clients", per_client=True, series=tuple(each.label for each in GRID.values()),
                title="The grid of figure 5: final regret", name="grid"),
    ),
    claims=(*_claims("a"), *_claims("a", NARROW, " when the gap is narrow, h = 2")),
    quick=Quick(seeds=2, rounds=150),
    notes="With the default gap of 5 the average of five clients keeps nearly every arm: the private estimates alone "
    "decide, and more clients cannot help. With h = 2 screening decides as well, and they do.",
).register()  # fmt: skip

# Rewards are 0 or 1 under N(0, 1) noise: penalties ten times the default, and a gap within the range of the rewards.
REAL = {"unit": 3, "gap": 0.5, "forced_penalty": 0.5, "private_penalty": 0.5}
UNSCREENED = _compared({**REAL, "gap": INFINITE}, ", no screen")[0]
DEFAULTS = _compared({"private_penalty": 0.5}, ", defaults")[:2]

Experiment(
    id="fedego-lasso/warfarin",
    title="Warfarin doses for 5,528 patients (figures 3b and 4b: error rate)",
    environment="warfarin",
    rounds=1_105,
    series=(*_compared(REAL), UNSCREENED, *DEFAULTS),
    figures=_figures("b", rate=True),
    claims=_claims("b"),
    quick=Quick(seeds=2, rounds=100),
    notes="Needs the data set: fedbandit data fetch warfarin. With five clients every patient but three is seen once; "
    "with more clients the patients come again, in another order.",
).register()

Experiment(
    id="fedego-lasso/medical-mnist",
    title="Six kinds of medical scans from the features of a small network (figures 3c and 4c)",
    environment="medical-mnist",
    rounds=1_000,
    series=(*_compared(REAL), UNSCREENED, *DEFAULTS),
    figures=_figures("c"),
    claims=_claims("c"),
    quick=Quick(seeds=2, rounds=100),
    notes="Needs the data set: fedbandit data fetch medical-mnist. The features are learnt by fedbandit features "
    "medical-mnist, or by the first run.",
).register()

GAPS = (1.0, 2.0, 3.0, 5.0, INFINITE)
PENALTIES = (0.02, 0.05, 0.2, 0.5, 1.0)


def _by_gap(label: str, algorithm: str, clients: int, unit: int) -> Series:
    points = tuple(Point({"unit": unit, "gap": gap}, {"clients": clients}, f"h={gap:g}") for gap in GAPS)
    return Series(f"{label}, M={clients}, q={unit}", algorithm, points)


def _by_penalty(label: str, noise: float, name: str) -> Series:
    points = tuple(Point({name: value}, {"noise": noise}, f"{value:g}") for value in PENALTIES)
    return Series(f"{label}, noise {noise:g}", "fedego-lasso", points)


Experiment(
    id="fedego-lasso/settings",
    title="What the gap, the unit and the penalties do to regret (beyond the paper)",
    environment="sparse",
    world={"clients": 5, "arms": 5, "dimension": 100, "support": 5, "candidates": 10, "noise": 0.1},
    rounds=2_000,
    seeds=5,
    series=(
        *(_by_gap(ALONE, "lasso-bandit", 5, unit) for unit in (1, 5)),
        *(_by_gap(FEDEGO, "fedego-lasso", clients, unit) for unit in (1, 5) for clients in (5, 15)),
        *(_by_penalty("private penalty", noise, "private_penalty") for noise in (0.1, 1.0)),
        *(_by_penalty("forced penalty", noise, "forced_penalty") for noise in (0.1, 1.0)),
    ),
    figures=(Against(x="private_penalty", series=("private penalty, noise 0.1", "private penalty, noise 1"),
                     per_client=True, log_x=True, title="Regret by the private penalty", name="private-penalty"),),
    claims=(
        Ordered("With a unit of 1 five clients' average screens better than a client's own estimates, and "
                "fifteen clients' better still",
                (f"{FEDEGO}, M=15, q=1", f"{FEDEGO}, M=5, q=1", f"{ALONE}, M=5, q=1"), per_client=True),
    ),
    quick=Quick(seeds=2, rounds=150),
).register()  # fmt: skip

# On the leaderboard's world, of unit contexts in ten dimensions: products of features with rewards are of the order of
# 1/20, and a penalty beyond that leaves nothing. Rewards differ by at most 2, so that a gap of 5 screens no arm.
TRIED = (Knob("penalty", (0.003, 0.01, 0.03), ("forced_penalty", "private_penalty")), Knob("gap", (0.5, 5)))
tuned("fedego-lasso", "teamwork-lasso", knobs=TRIED)
tuned("lasso-bandit", knobs=TRIED, alone=True)
