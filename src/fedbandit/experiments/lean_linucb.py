"""Where lean-linucb stands between everybody alone and pooled raw data, in bytes; and what each of its steps buys."""

from __future__ import annotations

from typing import Any

from fedbandit.experiments.async_linucb import ASYNC, SYNC
from fedbandit.experiments.comparisons import AtMost
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, grid
from fedbandit.experiments.figures import TradeOff

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
