"""The experiments of FedGLB-UCB (Li and Wang 2022) on MovieLens: figures 2b and 3b."""

from __future__ import annotations

import math

from fedbandit.experiments.claims import Claim, Ordered
from fedbandit.experiments.comparisons import Beats
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, grid
from fedbandit.experiments.figures import OverTime, TradeOff
from fedbandit.experiments.frontiers import CheaperAtEqual

WORLD = {
    "dataset": "movielens-1m",
    "users": 37,
    "above": 2.0,
    "scale": "unit",
    "constant": True,
    "arrivals": "round-robin",
}
LINEAR_FIXED = {"ridge": [0.2], "alpha": [0.3]}  # as in the authors' code
FIXED = {**LINEAR_FIXED, "arm_bound": [round(math.sqrt(2.0), 4)]}  # unit rows and a constant
_EVENT, _CALENDAR = "D={sync_threshold:g}", "B={rounds_of_update}"

FEDERATED = Series("FedGLB-UCB", "fedglb-ucb", grid(_EVENT, sync_threshold=[5, 50, 300, 900, 3000], **FIXED))
NEWTON = Series(
    "FedGLB-UCB, Newton", "fedglb-ucb", grid(_EVENT, sync_threshold=[5, 50, 300, 900], solver=["newton"], **FIXED)
)
FIRST = Series("variant 1", "fedglb-ucb-1", grid(_CALENDAR, rounds_of_update=[20, 100], **FIXED))
SECOND = Series("variant 2", "fedglb-ucb-2", grid(_CALENDAR, rounds_of_update=[20, 100], **FIXED))
THIRD = Series("variant 3", "fedglb-ucb-3", grid(_CALENDAR, rounds_of_update=[100, 1000], **FIXED))
LINEAR = Series("Sync-LinUCB", "sync-linucb", grid(_EVENT, sync_threshold=[0.3, 3, 30, 300, 3000], **LINEAR_FIXED))
POOLED = Series("One-UCB-GLM", "one-ucb-glm", tuple(Point(each.parameters) for each in grid(refit_every=[20], **FIXED)))
ALONE = Series("N-ONS-GLM", "n-ons-glm", tuple(Point(each.parameters) for each in grid(**FIXED)))
RANDOM = Series("Random", "random")
NOTES = (
    "The paper's extract is of MovieLens 20M (121,934 interactions, TF-IDF of tags and genres). MovieLens 1M has no "
    "tags: features are of genres and words of titles. The 37 users with most ratings above 2 act in rounds until the "
    "first has none left: 819 rounds. Features are 25 of unit length and a constant, so that |x| is at most the root "
    "of 2: with standardised columns one film has |x| = 13, and acceleration, whose step must fit the longest, needs "
    "far more steps."
)
OTHERS = (FIRST, SECOND, THIRD, LINEAR)
CHEAPER: tuple[Claim, ...] = tuple(
    CheaperAtEqual(f"FedGLB-UCB needs fewer scalars than {each.label} at equal reward (figure 2b)",
                   cheaper=FEDERATED.label, dearer=each.label, x="scalars", y="reward")
    for each in OTHERS
)  # fmt: skip

for _id, _release, _world, _notes in (
    ("movielens", "MovieLens 1M", WORLD, NOTES),
    ("movielens-20m", "MovieLens 20M, which you must have", {**WORLD, "dataset": "movielens-20m", "above": 2.5},
     "The paper's extract: ratings of 3 and more, the 37 users who have most of them, TF-IDF of tags and genres."),
):  # fmt: skip
    Experiment(
        id=f"fedglb-ucb/{_id}",
        title=f"Reward against communication on {_release} (figure 2b)",
        environment="recommendation",
        world=_world,
        series=(FEDERATED, *OTHERS, POOLED, ALONE, NEWTON, RANDOM),
        seeds=10,
        figures=(
            TradeOff(x="scalars", y="normalised", title="Normalised reward against scalars (figure 2b)",
                     series=(FEDERATED.label, *(each.label for each in OTHERS), POOLED.label, ALONE.label)),
            TradeOff(x="scalars", y="normalised", title="What Newton steps save (beyond the paper)",
                     series=(FEDERATED.label, NEWTON.label, LINEAR.label), name="trade-off-newton"),
        ),
        claims=(
            *CHEAPER,
            Beats("With much communication FedGLB-UCB earns more than Sync-LinUCB (figure 2b)", FEDERATED.label,
                  LINEAR.label, winner_points=("D=5",), loser_points=("D=0.3",)),
            Beats("FedGLB-UCB earns more than clients alone by Newton steps", FEDERATED.label, ALONE.label),
        ),
        quick=Quick(seeds=1, world={"users": 8}, every=2),
        notes=_notes,
        baseline=RANDOM.label,
    ).register()  # fmt: skip


def _one(series: Series, label: str) -> Series:
    point = next(point for point in series.points if point.label == label)
    return Series(f"{series.label}, {label}", series.algorithm, (Point(point.parameters),))


EVENT, SCHEDULE, CLOSED_FORM = _one(FEDERATED, "D=900"), _one(SECOND, "B=20"), _one(LINEAR, "D=0.3")

Experiment(
    id="fedglb-ucb/movielens-over-time",
    title="Reward and communication over time on MovieLens 1M (figure 3b)",
    environment="recommendation",
    world=WORLD,
    series=(EVENT, SCHEDULE, CLOSED_FORM),
    seeds=10,
    figures=(
        OverTime(y="reward", title="Reward over time (figure 3b)", by_round=True, name="reward-over-time"),
        OverTime(y="scalars", title="Scalars over time (figure 3b)", by_round=True, log_y=True,
                 name="scalars-over-time"),
    ),
    claims=(
        Ordered("FedGLB-UCB (D=900) earns no less than variant 2 (B=20) (appendix F)", (SCHEDULE.label, EVENT.label),
                y="reward"),
        Ordered("FedGLB-UCB (D=900) earns no less than Sync-LinUCB (D=0.3) (appendix F)",
                (CLOSED_FORM.label, EVENT.label), y="reward"),
        Ordered("FedGLB-UCB (D=900) needs fewer scalars than variant 2 (B=20) (appendix F)",
                (EVENT.label, SCHEDULE.label), y="scalars"),
        Ordered("FedGLB-UCB (D=900) needs fewer scalars than Sync-LinUCB (D=0.3) (appendix F)",
                (EVENT.label, CLOSED_FORM.label), y="scalars"),
    ),
    quick=Quick(seeds=1, world={"users": 8}),
    notes=NOTES,
).register()  # fmt: skip
