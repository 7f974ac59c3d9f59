"""The experiments of "Federated Linear Dueling Bandits" (Huang et al. 2025), and one beyond.

All have T = 500 rounds, ridge 1/T, step_scale 1000 and curvature (kappa_mu) 0.25 unless the series says otherwise. The
paper does not name its kappa_mu; `fldb/curvature` shows what it does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fedbandit.experiments.claims import Monotone, Ordered
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, grid
from fedbandit.experiments.figures import Against, OverTime
from fedbandit.experiments.tuning import WIDTHS, Knob, tuned

WORLD = {"clients": 100, "arms": 10, "dimension": 5}
ROUNDS = 500
NOTES = "curvature (kappa_mu) is 0.25 unless a point says otherwise; regret is 2 f(best) - f(first) - f(second)."


def _worlds(name: str, symbol: str, values: Iterable[Any], **parameters: Any) -> tuple[Point, ...]:
    """Return a point for each value of one size of the world."""
    return tuple(Point(parameters, {name: value}, f"{symbol}={value:g}") for value in values)


def _curves(title: str, name: str, **shown: Any) -> OverTime:
    """Return the paper's kind of figure: mean regret per client over rounds, with standard errors."""
    return OverTime(title=title, name=name, per_client=True, by_round=True, **shown)


CLIENTS = (50, 100)
GD, OGD, OGD_TWO, LDB = "FLDB-GD", "FLDB-OGD", "FLDB-OGD, τ=2", "LDB"

Experiment(
    id="fldb/agents",
    title="Three algorithms with 50 and 100 clients (figures 1a to 1c)",
    environment="dueling",
    world=WORLD,
    rounds=ROUNDS,
    series=(
        Series(GD, "fldb-gd", _worlds("clients", "N", CLIENTS)),
        Series(OGD, "fldb-ogd", _worlds("clients", "N", CLIENTS)),
        Series(OGD_TWO, "fldb-ogd", _worlds("clients", "N", CLIENTS, period=2)),
        Series(LDB, "ldb", _worlds("clients", "N", CLIENTS)),
    ),
    seeds=30,
    figures=(
        _curves("N = 50 (figure 1a)", "agents-50", labels=("N=50",), series=(GD, OGD, LDB)),
        _curves("N = 100 (figure 1b)", "agents-100", labels=("N=100",), series=(GD, OGD, LDB)),
        _curves("N = 100, τ = 2 (figure 1c)", "agents-100-two", labels=("N=100",), series=(GD, OGD_TWO, LDB)),
    ),
    claims=(
        Ordered("FLDB-GD has less regret than FLDB-OGD, and that less than LDB (figures 1a, 1b)", (GD, OGD, LDB),
                per_client=True),
        Ordered("The same with two rounds between communications (figure 1c)", (GD, OGD_TWO, LDB), per_client=True),
    ),
    quick=Quick(seeds=2, rounds=100),
    notes=NOTES,
).register()  # fmt: skip

MORE = (10, 20, 50, 100, 200)
FEW_ARMS, MANY_ARMS = "K=10", "K=50"


def _more(arms: int) -> tuple[Point, ...]:
    return tuple(Point({}, {"clients": clients, "arms": arms}, f"N={clients}") for clients in MORE)


Experiment(
    id="fldb/more-agents",
    title="FLDB-OGD with more and more clients (figures 2a, 2b)",
    environment="dueling",
    world=WORLD,
    rounds=ROUNDS,
    series=(Series(FEW_ARMS, "fldb-ogd", _more(10)), Series(MANY_ARMS, "fldb-ogd", _more(50))),
    figures=(
        _curves("Ten arms (figure 2a)", "more-agents-10", series=(FEW_ARMS,)),
        _curves("Fifty arms (figure 2b)", "more-agents-50", series=(MANY_ARMS,)),
        Against(x="clients", per_client=True, log_x=True, title="Final regret against the number of clients"),
    ),
    claims=(
        Monotone("Regret per client falls with the number of clients (figures 2a, 2b)", (FEW_ARMS, MANY_ARMS),
                 along="clients", per_client=True),
    ),
    quick=Quick(seeds=2, rounds=100),
    notes=NOTES,
).register()  # fmt: skip

SPREADS = (0.0, 0.1, 0.2, 0.3162, 0.4, 0.5)  # of theta_i around theta; squared: 0, 0.01, 0.04, 0.1, 0.16, 0.25

Experiment(
    id="fldb/heterogeneous",
    title="Clients whose utilities differ (figures 2c, 3)",
    environment="dueling",
    world={**WORLD, "arms": 5},
    rounds=ROUNDS,
    series=(
        Series(GD, "fldb-gd", _worlds("spread", "σ", SPREADS)),
        Series(OGD, "fldb-ogd", _worlds("spread", "σ", SPREADS)),
        Series(LDB, "ldb", _worlds("spread", "σ", SPREADS)),
    ),
    figures=(
        _curves("σ² = 0.1 and 0.25 (figure 2c)", "heterogeneous-two", labels=("σ=0.3162", "σ=0.5"), series=(GD, OGD)),
        _curves("FLDB-GD (figure 3)", "heterogeneous-gd", series=(GD,)),
        _curves("FLDB-OGD (figure 3)", "heterogeneous-ogd", series=(OGD,)),
        Against(x="spread", per_client=True, title="Final regret against the clients' spread"),
    ),
    claims=(
        Monotone("Regret rises with heterogeneity (figures 2c, 3)", (GD, OGD), along="spread", falls=False,
                 per_client=True),
        Ordered("At every spread FLDB-GD has less regret than FLDB-OGD, and that less than LDB", (GD, OGD, LDB),
                per_client=True),
    ),
    quick=Quick(seeds=2, rounds=100, every=2),
    notes=NOTES,
).register()  # fmt: skip

PERIODS = tuple(range(1, 9))


def _periods(arms: int, average: bool) -> tuple[Point, ...]:
    return tuple(
        Point({"period": period, "average_gradient": average}, {"arms": arms}, f"τ={period}") for period in PERIODS
    )


LITERAL, AVERAGED = "literal step, K=10", "averaged gradient, K=10"
LITERAL_MANY, AVERAGED_MANY = "literal step, K=50", "averaged gradient, K=50"

Experiment(
    id="fldb/period",
    title="Fewer communications (figures 2d, 4, 5)",
    environment="dueling",
    world=WORLD,
    rounds=ROUNDS,
    series=(
        Series(LITERAL, "fldb-ogd", _periods(10, average=False)),
        Series(AVERAGED, "fldb-ogd", _periods(10, average=True)),
        Series(LITERAL_MANY, "fldb-ogd", _periods(50, average=False)),
        Series(AVERAGED_MANY, "fldb-ogd", _periods(50, average=True)),
        Series(LDB, "ldb"),
    ),
    figures=(
        _curves("Literal step (figure 4)", "period-literal", series=(LITERAL, LDB)),
        _curves("Averaged gradient (figure 4)", "period-averaged", series=(AVERAGED, LDB)),
        Against(x="period", per_client=True, name="against-period", title="Final regret against τ (figure 5a)",
                series=(LITERAL, AVERAGED, LITERAL_MANY, AVERAGED_MANY)),
        Against(x="rounds", per_client=True, name="against-rounds", log_x=True,
                title="Final regret against communication rounds (figures 2d, 5b)",
                series=(LITERAL, AVERAGED, LITERAL_MANY, AVERAGED_MANY)),
    ),
    claims=(
        Monotone("With the step as printed, regret rises with the period (figures 2d, 5)", (LITERAL, LITERAL_MANY),
                 along="period", falls=False, per_client=True),
        Monotone("With the step as printed, regret falls with the period", (LITERAL, LITERAL_MANY), along="period",
                 per_client=True),
        Monotone("With the averaged gradient, regret rises with the period", (AVERAGED, AVERAGED_MANY),
                 along="period", falls=False, per_client=True),
        Ordered("FLDB-OGD has less regret than LDB at every period (figure 4)", (LITERAL, LDB), per_client=True),
    ),
    quick=Quick(seeds=2, rounds=100, world={"clients": 50}, every=3),
    notes=NOTES + " As printed, the step sums the gradients of a period's rounds and divides by t / period.",
).register()  # fmt: skip

CURVATURES = (1.0, 0.25, 0.1, 0.01)

Experiment(
    id="fldb/curvature",
    title="What the assumed curvature does (beyond the paper)",
    environment="dueling",
    world=WORLD,
    rounds=ROUNDS,
    series=tuple(
        Series(label, algorithm, grid("κ={curvature:g}", curvature=CURVATURES))
        for label, algorithm in ((GD, "fldb-gd"), (OGD, "fldb-ogd"), (LDB, "ldb"))
    ),
    figures=(Against(x="curvature", per_client=True, log_x=True, log_y=True, title="Final regret against κ_μ"),),
    claims=(
        Ordered("The order FLDB-GD, FLDB-OGD, LDB holds whatever curvature is assumed", (GD, OGD, LDB),
                per_client=True),
        Monotone("A smaller curvature costs regret", (GD, OGD, LDB), along="curvature", per_client=True),
    ),
    quick=Quick(seeds=2, rounds=100, world={"clients": 50}),
    notes=NOTES,
).register()  # fmt: skip

BETA, FLDB_RIDGE = Knob("beta", WIDTHS), Knob("ridge", (0.01, 0.1))
tuned("fldb-gd", knobs=(BETA, FLDB_RIDGE))
tuned("fldb-ogd", knobs=(BETA, Knob("step_scale", (100, 1000))))
tuned("ldb", knobs=(BETA, FLDB_RIDGE), alone=True)
