"""The experiments of "Asynchronous UCB Algorithms for Federated Linear Bandits" (Li and Wang 2022), and one beyond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fedbandit.experiments.claims import Monotone
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, grid
from fedbandit.experiments.figures import OverTime, TradeOff
from fedbandit.experiments.frontiers import CheaperAtEqual
from fedbandit.experiments.tuning import RIDGE, WIDTH, tuned

WORLD = {"clients": 1000, "arms": 25, "dimension": 25, "noise": 0.1, "source": "pool", "pool": 1000}
GROWTHS = np.round(np.logspace(-2, 3, 12), 4).tolist()  # gamma - 1
CALLS = np.round(np.logspace(-2, 3, 12), 4).tolist()  # D


def _equal(growths: Sequence[float]) -> tuple[Point, ...]:
    """Return points whose two thresholds are one number, gamma = 1 + growth."""
    gammas = [round(1 + growth, 4) for growth in growths]
    return tuple(
        Point({"upload_threshold": gamma, "download_threshold": gamma}, label=f"γ={gamma:.4g}") for gamma in gammas
    )


ASYNC = Series("Async-LinUCB", "async-linucb", _equal(GROWTHS))
APART = Series(
    "Async, γ_D=1000",
    "async-linucb",
    grid("γ_U={upload_threshold:.4g}", upload_threshold=[1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 5],
         download_threshold=[1000]),
)  # fmt: skip
SYNC = Series("Sync-LinUCB", "sync-linucb", grid("D={sync_threshold:.4g}", sync_threshold=CALLS))
QUICK = Quick(seeds=2, turns=3_000, world={"clients": 100}, every=2)
NOTES = (
    "Every client's first turn under Async-LinUCB is blind: the server meets it there and sends it nothing before. "
    "Sync-LinUCB sends every snapshot to the whole roster, also to clients that have not acted yet. With a thousand "
    "clients that alone is a regret of about 350, whatever the thresholds; 'later regret' leaves each client's first "
    "turn out. In the authors' published code only clients that have acted take part in a synchronisation, and a "
    "download takes effect only after the client's next own update, so that there both algorithms pay for blind "
    "turns. With equal thresholds an upload sets off nearly all downloads; a large download threshold saves most of "
    "the messages at almost equal regret."
)
FIGURES = (
    TradeOff(x="messages", y="regret", title="Regret against communication"),
    TradeOff(
        x="messages",
        y="later_regret",
        title="Regret against communication, without each client's first turn",
        name="trade-off-later",
    ),
    OverTime(
        y="regret",
        title="Regret over time",
        labels=(ASYNC.points[0].label, ASYNC.points[4].label, ASYNC.points[6].label, SYNC.points[4].label,
                SYNC.points[6].label, SYNC.points[8].label),
    ),
)  # fmt: skip

Experiment(
    id="async-linucb/homogeneous-uniform",
    title="Homogeneous clients that arrive uniformly (figure 2a)",
    environment="linear",
    world={**WORLD, "arrivals": "uniform"},
    turns=30_000,
    series=(ASYNC, SYNC, APART),
    figures=FIGURES,
    claims=(
        CheaperAtEqual("With uniform arrivals Sync-LinUCB needs fewer messages than Async-LinUCB at equal regret "
                       "(figure 2a)", cheaper=SYNC.label, dearer=ASYNC.label),
        CheaperAtEqual("The same without each client's first turn", cheaper=SYNC.label, dearer=ASYNC.label,
                       y="later_regret"),
        CheaperAtEqual("The same against Async-LinUCB with separate thresholds", cheaper=SYNC.label,
                       dearer=APART.label, y="later_regret"),
        Monotone("Regret falls as Async-LinUCB communicates more", (ASYNC.label,), along="messages"),
    ),
    quick=QUICK,
    notes=NOTES,
).register()  # fmt: skip

Experiment(
    id="async-linucb/homogeneous-skewed",
    title="Homogeneous clients of which few arrive often (figure 2b)",
    environment="linear",
    world={**WORLD, "arrivals": "skewed", "skew": 1.0},
    turns=30_000,
    series=(ASYNC, SYNC, APART),
    figures=FIGURES,
    claims=(
        CheaperAtEqual("With skewed arrivals Async-LinUCB needs fewer messages than Sync-LinUCB at equal regret "
                       "(figure 2b)", cheaper=ASYNC.label, dearer=SYNC.label),
        CheaperAtEqual("The same without each client's first turn", cheaper=ASYNC.label, dearer=SYNC.label,
                       y="later_regret"),
        CheaperAtEqual("The same with separate thresholds for upload and download", cheaper=APART.label,
                       dearer=SYNC.label, y="later_regret"),
        Monotone("Regret falls as Async-LinUCB communicates more", (ASYNC.label,), along="messages"),
    ),
    quick=QUICK,
    notes=NOTES,
).register()  # fmt: skip

MET = Series(
    "Sync-LinUCB, met",
    "sync-linucb",
    grid("D={sync_threshold:.4g}", sync_threshold=CALLS[::2], roster=["met"]),
)
OFTEN, SOMETIMES = replace(ASYNC, points=ASYNC.points[::2]), replace(APART, points=APART.points[::2])

Experiment(
    id="async-linucb/met-skewed",
    title="Figure 2b if only clients that have had a turn synchronise, as in the authors' code (beyond the paper)",
    environment="linear",
    world={**WORLD, "arrivals": "skewed", "skew": 1.0},
    turns=30_000,
    seeds=5,
    series=(OFTEN, replace(SYNC, points=SYNC.points[::2]), MET, SOMETIMES),
    figures=FIGURES[:2],
    claims=(
        CheaperAtEqual("If only met clients synchronise, Async-LinUCB needs fewer messages than Sync-LinUCB at equal "
                       "regret", cheaper=ASYNC.label, dearer=MET.label),
        CheaperAtEqual("The same without each client's first turn", cheaper=ASYNC.label, dearer=MET.label,
                       y="later_regret"),
        CheaperAtEqual("The same with separate thresholds for upload and download", cheaper=APART.label,
                       dearer=MET.label),
        CheaperAtEqual("Sync-LinUCB needs fewer messages if only met clients synchronise, without each client's first "
                       "turn", cheaper=MET.label, dearer=SYNC.label, y="later_regret"),
    ),
    quick=Quick(seeds=2, turns=3_000, world={"clients": 100}, every=2),
).register()  # fmt: skip

UPLOADS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
DOWNLOADS = (1.2, 2.0, 5.0, 20.0)


def _decoupled(download: float) -> Series:
    points = tuple(
        Point({"upload_threshold": 1 + growth, "download_threshold": download}, label=f"{1 + growth:g}/{download:g}")
        for growth in UPLOADS
    )
    return Series(f"γ_D={download:g}", "async-linucb", points)


EQUAL = Series("equal thresholds", "async-linucb", _equal(UPLOADS))

Experiment(
    id="async-linucb/decoupled",
    title="What separate thresholds for upload and download save (beyond the paper)",
    environment="linear",
    world={"clients": 100, "arms": 25, "dimension": 25, "noise": 0.1, "arrivals": "uniform"},
    turns=10_000,
    series=(EQUAL, *(_decoupled(download) for download in DOWNLOADS)),
    figures=(TradeOff(x="messages", y="regret", title="Separate thresholds for upload and download (γ_U/γ_D)"),),
    claims=(
        CheaperAtEqual("A larger download threshold needs fewer messages than equal thresholds at equal regret",
                       cheaper="γ_D=5", dearer=EQUAL.label),
    ),
    quick=Quick(seeds=2, turns=2_000, world={"clients": 20}, every=2),
).register()  # fmt: skip

tuned(
    "async-linucb", "async-linucb-am", "clustered-linucb", "fedlinucb", "lean-linucb", "pooled-linucb", "sync-linucb",
    knobs=(WIDTH, RIDGE),
)  # fmt: skip
tuned("local-linucb", knobs=(WIDTH, RIDGE), alone=True)
