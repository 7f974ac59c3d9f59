"""The experiments of "Communication Efficient Federated Learning for Generalized Linear Bandits" (Li and Wang 2022)."""

from __future__ import annotations

from fedbandit.experiments.claims import Monotone, Ordered
from fedbandit.experiments.comparisons import AtMost, Similar
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, grid
from fedbandit.experiments.figures import OverTime, TradeOff
from fedbandit.experiments.frontiers import CheaperAtEqual
from fedbandit.experiments.tuning import RIDGE, WIDTH, tuned

WORLD = {"clients": 200, "arms": 25, "dimension": 10, "radius": 1.0, "source": "sphere"}
THRESHOLDS = (0.05, 0.5, 5, 50, 500, 5000)  # D
TIMES = (10, 30, 100, 300)  # B
STEPS = (10, 100, 1000, 5000)  # B, where an update is two messages a client

_EVENT, _CALENDAR = "D={sync_threshold:g}", "B={rounds_of_update}"
FEDERATED = Series("FedGLB-UCB", "fedglb-ucb", grid(_EVENT, sync_threshold=THRESHOLDS))
NEWTON = Series("FedGLB-UCB, Newton", "fedglb-ucb", grid(_EVENT, sync_threshold=THRESHOLDS, solver=["newton"]))
FIRST = Series("variant 1", "fedglb-ucb-1", grid(_CALENDAR, rounds_of_update=TIMES))
SECOND = Series("variant 2", "fedglb-ucb-2", grid(_CALENDAR, rounds_of_update=TIMES))
THIRD = Series("variant 3", "fedglb-ucb-3", grid(_CALENDAR, rounds_of_update=STEPS))
POOLED = Series("One-UCB-GLM", "one-ucb-glm", (Point({"refit_every": 20}),))
REFITTED = Series("N-UCB-GLM", "n-ucb-glm")
ALONE = Series("N-ONS-GLM", "n-ons-glm")
LINEAR = Series(
    "Sync-LinUCB",
    "sync-linucb",
    grid(_EVENT, sync_threshold=(0.5, 5, 50, 500), ridge=[1], noise=[0.5], delta=[0.01]),
)
PAPERS = tuple(each.label for each in (FEDERATED, FIRST, SECOND, THIRD, POOLED, REFITTED, ALONE))
COSTS = ("messages", "scalars")

Experiment(
    id="fedglb-ucb/synthetic",
    title="Regret against communication on synthetic data (figure 2a)",
    environment="logistic",
    world=WORLD,
    rounds=2000,
    series=(FEDERATED, FIRST, SECOND, THIRD, POOLED, REFITTED, ALONE, NEWTON, LINEAR),
    figures=(
        TradeOff(x="messages", title="Regret against messages (figure 2a)", series=PAPERS, log_y=True),
        TradeOff(x="scalars", title="Regret against scalars", series=PAPERS, log_y=True, name="trade-off-scalars"),
        TradeOff(x="scalars", title="What Newton steps save, and what a linear model does", name="trade-off-newton",
                 series=(FEDERATED.label, NEWTON.label, LINEAR.label, POOLED.label), log_y=True),
    ),
    claims=(
        *(Monotone("Regret falls as communication grows", (each.label,), along="messages")
          for each in (FEDERATED, FIRST, SECOND, THIRD)),
        *(CheaperAtEqual(f"FedGLB-UCB needs fewer {cost} than {each.label} at equal regret", cheaper=FEDERATED.label,
                         dearer=each.label, x=cost)
          for each in (FIRST, SECOND, THIRD) for cost in COSTS),
        Ordered("One model over everyone's data has less regret than FedGLB-UCB, and clients alone by refits have more",
                (POOLED.label, FEDERATED.label, REFITTED.label)),
        Ordered("Clients alone by Newton steps have more regret than FedGLB-UCB", (FEDERATED.label, ALONE.label)),
        AtMost("FedGLB-UCB that communicates often (D up to 0.5) has at most 1.5 times the regret of One-UCB-GLM",
               FEDERATED.label, 1.5, POOLED.label, ("D=0.05", "D=0.5")),
        *(CheaperAtEqual(f"With Newton steps FedGLB-UCB needs fewer {cost} at equal regret (beyond the paper)",
                         cheaper=NEWTON.label, dearer=FEDERATED.label, x=cost)
          for cost in COSTS),
        CheaperAtEqual("Sync-LinUCB, whose model is linear, needs fewer scalars than FedGLB-UCB at equal regret "
                       "(beyond the paper)", cheaper=LINEAR.label, dearer=FEDERATED.label, x="scalars"),
    ),
    quick=Quick(seeds=2, rounds=200, world={"clients": 30}),
    notes=(
        "Arms are fresh from the unit sphere; theta has length 1, so |mu'| >= c_mu holds and the ball of radius S = 1 "
        "just holds theta. Widths are the lemmas' with the factors of the authors' code: 0.1, and 1 for variant 1, "
        "One-UCB-GLM and N-UCB-GLM. One-UCB-GLM refits after every 20 turns."
    ),
).register()  # fmt: skip


def _one(series: Series, **parameters: float) -> Series:
    (point,) = grid(**{name: [value] for name, value in parameters.items()})
    value = next(iter(parameters.values()))
    symbol = "D" if "sync_threshold" in parameters else "B"
    return Series(f"{series.label}, {symbol}={value:g}", series.algorithm, (Point(point.parameters),))


OFTEN = _one(FEDERATED, sync_threshold=5)
SELDOM = _one(FEDERATED, sync_threshold=5000)
FIRST_TEN = _one(FIRST, rounds_of_update=10)
SECOND_TEN = _one(SECOND, rounds_of_update=10)
THIRD_MANY = _one(THIRD, rounds_of_update=5000)

Experiment(
    id="fedglb-ucb/over-time",
    title="Regret and communication over time on synthetic data (figure 3a)",
    environment="logistic",
    world=WORLD,
    rounds=2000,
    series=(OFTEN, SELDOM, FIRST_TEN, SECOND_TEN, THIRD_MANY),
    figures=(
        OverTime(y="regret", title="Regret over time (figure 3a)", by_round=True, name="regret-over-time"),
        OverTime(y="messages", title="Messages over time (figure 3a)", by_round=True, log_y=True,
                 name="messages-over-time"),
        OverTime(y="scalars", title="Scalars over time", by_round=True, log_y=True, name="scalars-over-time"),
    ),
    claims=(
        *(Ordered(f"FedGLB-UCB (D=5) has less regret than {other.label} (appendix F)", (OFTEN.label, other.label))
          for other in (FIRST_TEN, SECOND_TEN, THIRD_MANY)),
        *(Similar(f"FedGLB-UCB (D=5) and {other.label} need similar numbers of messages (appendix F)", OFTEN.label,
                  other.label, y="messages")
          for other in (FIRST_TEN, SECOND_TEN, THIRD_MANY)),
        Ordered("FedGLB-UCB (D=5000) needs fewer messages than variant 2 (B=10) (appendix F)",
                (SELDOM.label, SECOND_TEN.label), y="messages"),
        Similar("FedGLB-UCB (D=5000) and variant 2 (B=10) have almost the same regret, within a tenth (appendix F)",
                SELDOM.label, SECOND_TEN.label, factor=1.1),
    ),
    quick=Quick(seeds=2, rounds=200, world={"clients": 30}),
).register()  # fmt: skip

tuned("fedglb-ucb", "fedglb-ucb-1", "fedglb-ucb-2", "fedglb-ucb-3", "one-ucb-glm", knobs=(WIDTH, RIDGE))
tuned("n-ons-glm", "n-ucb-glm", knobs=(WIDTH, RIDGE), alone=True)
