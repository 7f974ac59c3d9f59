"""Where lean-linucb stands between everybody alone and pooled raw data, in bytes, and what each of its steps buys.

Also what half precision costs, and what a turn costs with a million clients.
"""

from __future__ import annotations

from typing import Any

from fedbandit.experiments.async_linucb import ASYNC, SYNC
from fedbandit.experiments.comparisons import AtMost, Level
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, grid
from fedbandit.experiments.figures import Against, TradeOff

SIZES = {"arms": 25, "dimension": 25, "noise": 0.1}
LEAN = Series("Lean-LinUCB", "lean-linucb", (Point({}, label="default"),))
FEWER_BYTES = Series(
    "Lean-LinUCB, fewer bytes",
    "lean-linucb",
    (
        Point({"upload_threshold": 1.05}, label="1.05"),
        Point({"download_threshold": 100, "ask_growth": 2.0}, label="ask 2"),
        Point({"delivery": "upload", "upload_threshold": 1.1}, label="upload 1.1"),
        Point({"delivery": "upload", "upload_threshold": 1.3}, label="upload 1.3"),
    ),
)
FED = Series("FedLinUCB", "fedlinucb", grid("{upload_threshold:.4g}", upload_threshold=[1.05, 1.2, 2, 5]))
POOLED = Series("pooled raw data", "pooled-linucb", (Point({}),))
ALONE = Series("alone", "local-linucb", (Point({}),))
FRONTIER = (LEAN, FEWER_BYTES, ASYNC, SYNC, FED, POOLED, ALONE)
CLAIMS = (
    AtMost("Lean-LinUCB has at most 1.25 times the regret of pooled raw data", LEAN.label, 1.25, POOLED.label),
    AtMost("Lean-LinUCB sends no more bytes than pooled raw data", LEAN.label, 1.0, POOLED.label, y="bytes"),
    AtMost("Lean-LinUCB has at most a tenth of the regret of Async-LinUCB with γ = 1.658", LEAN.label, 0.1, ASYNC.label,
           of_point="γ=1.658"),
)  # fmt: skip
WORLDS: dict[str, tuple[str, dict[str, Any]]] = {
    "": ("arms from the authors' pool, uniform arrivals", {"arrivals": "uniform"}),
    "-skewed": ("arms from the authors' pool, few clients arrive often", {"arrivals": "skewed"}),
    "-sphere": ("fresh arms, uniform arrivals", {"source": "sphere"}),
    "-sphere-skewed": ("fresh arms, few clients arrive often", {"source": "sphere", "arrivals": "skewed"}),
}

for _name, (_title, _world) in WORLDS.items():
    Experiment(
        id=f"lean-linucb/frontier{_name}",
        title=f"Regret against bytes: {_title}",
        environment="linear",
        world={"clients": 1000, **SIZES, **_world},
        turns=30_000,
        series=FRONTIER,
        figures=(TradeOff(x="bytes", y="regret", title=f"Regret against bytes: {_title}", log_y=True),),
        claims=CLAIMS,
        quick=Quick(seeds=2, turns=3_000, world={"clients": 100}),
        notes="Bytes are those of all frames, signals and questions included.",
    ).register()

APART = {"upload_threshold": 1.1, "download_threshold": 1000}
STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "published": ("async-linucb", {}),
    "+ separate thresholds": ("async-linucb", APART),
    "+ welcome": ("async-linucb", {**APART, "welcome": True}),
    "+ factors, float32": ("async-linucb", {**APART, "welcome": True, "precision": "float32"}),
    "+ float16": ("async-linucb", {**APART, "welcome": True, "precision": "float16"}),
    "+ questions before every turn": ("lean-linucb", {**APART, "ask_growth": 1.0}),
    "+ rarer questions": ("lean-linucb", APART),
    "pooled raw data": ("pooled-linucb", {}),
}

Experiment(
    id="lean-linucb/steps",
    title="From Async-LinUCB as published to Lean-LinUCB, one step after the other",
    environment="linear",
    world={"clients": 200, **SIZES, "source": "sphere"},
    turns=6_000,
    series=tuple(
        Series(
            label,
            algorithm,
            tuple(Point(parameters, {"arrivals": arrivals}, arrivals) for arrivals in ("uniform", "skewed")),
        )
        for label, (algorithm, parameters) in STEPS.items()
    ),
    figures=(TradeOff(x="bytes", y="regret", title="What each step buys", log_y=True),),
    claims=(
        AtMost("Separate thresholds send at most a third of the bytes", "+ separate thresholds", 1 / 3, "published",
               y="bytes"),
        AtMost("A welcome leaves at most a third of the regret", "+ welcome", 1 / 3, "+ separate thresholds"),
        AtMost("Factors of half precision send at most a third of the bytes", "+ float16", 1 / 3, "+ welcome",
               y="bytes"),
        AtMost("Questions send no more bytes than pushes", "+ questions before every turn", 1.0, "+ float16",
               y="bytes"),
    ),
    quick=Quick(seeds=2, turns=1_000, world={"clients": 40}),
).register()  # fmt: skip

DIMENSIONS = (10, 25, 100)
PRECISION = tuple(
    Series(
        precision,
        "lean-linucb",
        tuple(Point({"precision": precision}, {"dimension": size}, f"d={size}") for size in DIMENSIONS),
    )
    for precision in ("float64", "float16")
)

for _name, _turns, _seeds in (("", 30_000, 10), ("-long", 1_000_000, 3)):
    Experiment(
        id=f"lean-linucb/precision{_name}",
        title=f"Half precision beside double precision, {_turns:,} turns",
        environment="linear",
        world={"clients": 100, "arms": 10},
        turns=_turns,
        seeds=_seeds,
        series=PRECISION,
        figures=(
            Against(x="dimension", y="regret", title="Regret by dimension", log_y=True, name="regret"),
            Against(x="dimension", y="bytes", title="Bytes by dimension", log_y=True, name="bytes"),
        ),
        claims=(
            Level("With half precision the regret is level with that of double precision", "float16", "float64"),
            AtMost("Half precision sends at most half of the bytes", "float16", 0.5, "float64", y="bytes"),
        ),
        quick=Quick(seeds=2, turns=2_000, world={"clients": 20}),
        notes="Level: the interval of the difference, seed by seed, has zero in it.",
    ).register()

SCALE = Series(
    "delivery=upload",
    "lean-linucb",
    tuple(
        Point({"delivery": "upload"}, {"clients": clients}, f"{clients:,}")
        for clients in (1_000, 10_000, 100_000, 1_000_000)
    ),
)

Experiment(
    id="lean-linucb/scale",
    title="What a turn costs, from a thousand clients to a million",
    environment="linear",
    world={"arms": 10, "dimension": 10},
    rounds=30,
    seeds=1,
    series=(SCALE,),
    figures=(
        Against(x="clients", y="seconds", per_client=True, title="Time for 30 turns", log_x=True, name="seconds"),
        Against(x="clients", y="bytes", per_client=True, title="Bytes sent in 30 turns", log_x=True, name="bytes"),
    ),
    claims=(
        AtMost("A turn takes at most 1.5 times as long as with 1,000 clients", SCALE.label, 1.5, SCALE.label,
               of_point="1,000", y="seconds", per_client=True),
        AtMost("A client sends and gets no more bytes than with 1,000 clients", SCALE.label, 1.0, SCALE.label,
               of_point="1,000", y="bytes", per_client=True),
    ),
    quick=Quick(seeds=1, rounds=1, every=2),
    notes="Uniform arrivals, 30 turns a client. The run of a million clients takes some 7 GiB, and minutes.",
).register()  # fmt: skip
