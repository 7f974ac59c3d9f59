"""What clients in groups that nobody knows gain by Clustered-LinUCB, and what false data cost the honest ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedbandit.experiments.comparisons import AtMost
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, grid
from fedbandit.experiments.figures import Against, TradeOff

CLIENTS = 40
GROUPS = (1, 2, 4, 10, CLIENTS)
SIZES = {"arms": 10, "dimension": 10, "source": "sphere"}
ALONE, TOGETHER, POOLED, CLUSTERED, UNTESTED, TOLD = (
    "alone", "Async-LinUCB", "pooled", "Clustered-LinUCB", "Clustered, level 0", "told the groups",
)  # fmt: skip
ALGORITHMS: dict[str, tuple[str, Mapping[str, Any]]] = {
    ALONE: ("local-linucb", {}),
    TOGETHER: ("async-linucb", {}),
    POOLED: ("pooled-linucb", {}),
    CLUSTERED: ("clustered-linucb", {}),
    UNTESTED: ("clustered-linucb", {"test_level": 0}),
    TOLD: ("clustered-linucb", {"test_level": 0}),
}
VARIANTS: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {  # of the world, and what algorithms are told
    "": ({}, {}),
    ", 0.3 apart": ({"distance": 0.3}, {}),
    ", noise 0.5": ({"noise": 0.5}, {"noise": 0.5}),
    ", skewed": ({"arrivals": "skewed"}, {}),
}


def _by_groups(label: str, variant: str) -> Series:
    """Return one algorithm in one kind of world, by the number of groups.

    Who was told the groups has one federation a group: as many turns a client, and only clients that are alike.
    """
    algorithm, parameters = ALGORITHMS[label]
    world, told = VARIANTS[variant]
    points = []
    for groups in GROUPS:
        sizes = {"clients": CLIENTS // groups, "groups": 1} if label == TOLD else {"clients": CLIENTS, "groups": groups}
        points.append(Point({**parameters, **told}, {**world, **sizes}, f"G={groups}"))
    return Series(label + variant, algorithm, tuple(points))


def _settings(label: str, groups: int, points: tuple[Point, ...]) -> Series:
    named = [Point(each.parameters, {"clients": CLIENTS, "groups": groups}, each.label) for each in points]
    return Series(f"{label}, G={groups}", "clustered-linucb", tuple(named))


LEVELS = grid("{test_level:g}", test_level=[0.001, 0.01, 0.1, 0.5, 0.9])
THRESHOLDS = grid(
    "{upload_threshold:g}/{download_threshold:g}", upload_threshold=[2, 5, 10], download_threshold=[2, 10, 100]
)
IN_EVERY_WORLD = (ALONE, TOGETHER, POOLED, CLUSTERED, UNTESTED)
SWEEPS = tuple(
    _settings(label, groups, points)
    for label, points in (("test level", LEVELS), ("thresholds", THRESHOLDS))
    for groups in (1, 4)
)

Experiment(
    id="clustered-linucb/groups",
    title="Clients in groups that nobody knows: regret by the number of groups",
    environment="grouped",
    world=SIZES,
    rounds=500,
    series=(
        *(_by_groups(label, variant) for variant in VARIANTS for label in IN_EVERY_WORLD),
        *(_by_groups(TOLD, variant) for variant in VARIANTS if variant != ", skewed"),
        *SWEEPS,
    ),
    figures=(
        *(Against(x="groups", series=tuple(label + variant for label in IN_EVERY_WORLD), log_x=True, log_y=True,
                  title=f"Regret by the number of groups{variant}", name=f"by-groups{variant.replace(', ', '-')}"
                  .replace(" ", "-").replace(".", "-"))
          for variant in VARIANTS),
        TradeOff(x="messages", y="regret", series=tuple(each.label for each in SWEEPS), log_y=True,
                 title="Levels of the test, and thresholds"),
    ),
    claims=(
        AtMost("Four hidden groups: at most half of the regret of clients alone", CLUSTERED, 0.5, ALONE, ("G=4",)),
        AtMost("Four hidden groups: at most 3.5 times the regret of those who are told the groups", CLUSTERED, 3.5,
               TOLD, ("G=4",), per_client=True),
        AtMost("Without groups: no more regret than Async-LinUCB", CLUSTERED, 1.0, TOGETHER, ("G=1",)),
        *(AtMost(f"All different{variant}: at most 1.25 times the regret of clients alone", CLUSTERED + variant, 1.25,
                 ALONE + variant, (f"G={CLIENTS}",)) for variant in VARIANTS),
        *(AtMost(f"Between the two{variant}: less regret than alone", CLUSTERED + variant, 1.0, ALONE + variant,
                 ("G=2", "G=4", "G=10")) for variant in VARIANTS),
        *(AtMost(f"The level of the test hardly matters (G={groups})", f"test level, G={groups}", 1.25,
                 f"test level, G={groups}", of_point="0.1") for groups in (1, 4)),
        *(AtMost(f"Thresholds hardly matter (G={groups})", f"thresholds, G={groups}", 1.5,
                 f"thresholds, G={groups}", of_point="5/10") for groups in (1, 4)),
    ),
    quick=Quick(seeds=1, rounds=40),
    notes="Every client has 500 turns in the mean. 'Told the groups' is one federation of the clients of a group, so "
    "that regret is compared a client. With skewed arrivals nobody is told: how often a group acts is chance.",
).register()  # fmt: skip

LIES = ("flipped", "extreme", "slight")
LIARS = (0, 1, 3, 5)


def _by_liars(label: str, lie: str) -> Series:
    algorithm, parameters = ALGORITHMS[label]
    points = tuple(Point(parameters, {"liars": liars, "lie": lie}, f"{liars} liars") for liars in LIARS)
    return Series(f"{label}, {lie}", algorithm, points)


Experiment(
    id="clustered-linucb/poisoned",
    title="Clients that report false rewards: the regret of the honest ones",
    environment="grouped",
    world={**SIZES, "clients": 10, "groups": 1},
    turns=5_000,
    series=tuple(_by_liars(label, lie) for label in (ALONE, TOGETHER, POOLED, CLUSTERED) for lie in LIES),
    figures=tuple(
        Against(x="liars", series=tuple(f"{label}, {lie}" for label in (ALONE, TOGETHER, POOLED, CLUSTERED)),
                log_y=True, title=f"Regret of honest clients by the number of liars ({lie})", name=f"by-liars-{lie}")
        for lie in LIES
    ),
    claims=(
        *(AtMost(f"One liar of ten ({lie}): honest clients have at most 3 times their regret without it",
                 f"{CLUSTERED}, {lie}", 3.0, f"{CLUSTERED}, {lie}", ("1 liars",), of_point="0 liars")
          for lie in LIES),
        *(AtMost(f"Half of all lie ({lie}): honest clients have at most the regret of clients alone",
                 f"{CLUSTERED}, {lie}", 1.0, f"{ALONE}, {lie}", ("5 liars",)) for lie in LIES),
        *(AtMost(f"One liar of ten ({lie}): Async-LinUCB has more than 10 times the regret of Clustered-LinUCB",
                 f"{CLUSTERED}, {lie}", 0.1, f"{TOGETHER}, {lie}", ("1 liars",)) for lie in ("extreme",)),
    ),
    quick=Quick(seeds=1, turns=500),
    notes="The expected rewards of a liar's arms count as 0, so that regret is that of the honest clients; with more "
    "liars there are fewer of them. With nobody who lies the three lies are one world.",
).register()  # fmt: skip
