"""The experiments of "Federated Neural Bandits" (Dai et al. 2023) on the synthetic functions.

In the settings of `fedbandit.experiments.fn_ucb_settings`.
"""

from __future__ import annotations

from typing import Any

from fedbandit.experiments.claims import Ordered
from fedbandit.experiments.comparisons import Similar
from fedbandit.experiments.experiment import Experiment, Point, Series
from fedbandit.experiments.figures import Against
from fedbandit.experiments.fn_ucb_settings import (
    BASELINE_CLAIMS,
    BASELINES,
    QUICK,
    ROUNDS,
    SETTINGS,
    SYNTHETIC,
    THRESHOLD_CLAIMS,
    against_baselines,
    against_lone,
    claims_of,
    comparable_alone,
    curves,
    parameters_of,
    shown_of,
    thresholds,
)
from fedbandit.experiments.tuning import RIDGE, WIDTHS, Knob, tuned

for _world, _figure, _published in (
    (
        "cosine",
        "figures 1a and 6",
        "NeuralUCB 91.6±21, NeuralTS 121.6±35, N=1 80.9±19, N=2 38.3±2, N=5 27.3±4, N=10 9.8±1",
    ),
    ("square", "figures 1b and 6", "NeuralUCB 187, NeuralTS 166±8, N=1 158, N=2 99.8±13, N=5 42, N=10 21"),
):
    Experiment(
        id=f"fn-ucb/{_world}",
        title=f"More clients, less regret: the {_world} function ({_figure})",
        environment=_world,
        rounds=ROUNDS,
        seeds=3,
        series=(*against_lone((1, 2, 5, 10), SYNTHETIC), *BASELINES),
        figures=(
            *(curves(f"{setting} setting ({_figure})", f"{_world}-{setting.replace(' ', '-')}",
                      series=shown_of(setting)) for setting in SYNTHETIC),
            against_baselines(_world),
            Against(x="clients", per_client=True, log_x=True, log_y=True,
                    title="Final regret against the number of clients (figure 6)",
                    name=f"{_world}-clients", series=tuple(f"FN-UCB ({setting})" for setting in SYNTHETIC)),
        ),
        claims=(*claims_of(_figure, SYNTHETIC), *comparable_alone(_figure), *BASELINE_CLAIMS),
        quick=QUICK,
        notes=f"Published regret per client at t = 5000: {_published}.",
    ).register()  # fmt: skip


def _ablation(label: str, setting: str, **parameters: Any) -> Series:
    return Series(f"{label} ({setting})", "fn-ucb-less", (Point({**parameters_of(setting, 2), **parameters}),))


def _without_averaging(setting: str) -> Series:
    on_its_own = {"train_from": "own"} if setting == "synchronised" else {}  # nobody has an average to begin at
    return _ablation("without averaging", setting, aggregate=False, **on_its_own)


Experiment(
    id="fn-ucb/ablation",
    title="What each part of FN-UCB is good for, on the cosine function (figure 1c)",
    environment="cosine",
    world={"clients": 2},
    rounds=ROUNDS,
    seeds=3,
    series=tuple(
        series
        for setting in SETTINGS
        for series in (
            _ablation("FN-UCB", setting),
            _ablation("without UCB^b", setting, weight=0),
            _ablation("without UCB^a", setting, weight=1),
            _without_averaging(setting),
        )
    ),
    figures=tuple(
        curves(f"{setting} setting (figure 1c)", f"ablation-{setting}",
                series=tuple(f"{part} ({setting})" for part in
                             ("FN-UCB", "without UCB^b", "without UCB^a", "without averaging")))
        for setting in SETTINGS
    ),
    claims=tuple(
        Ordered(f"{sentence}, {setting} setting (figure 1c)", (f"{less} ({setting})", f"{more} ({setting})"))
        for setting in SETTINGS
        for sentence, less, more in (
            ("The network's bound alone has less regret in the end than the pooled bound alone", "without UCB^a",
             "without UCB^b"),
            ("Both bounds together have less regret than the pooled bound alone", "FN-UCB", "without UCB^b"),
            ("Both bounds together have less regret than the network's bound alone", "FN-UCB", "without UCB^a"),
            ("Averaging the networks lowers regret", "FN-UCB", "without averaging"),
        )
    ),
    quick=QUICK,
).register()  # fmt: skip


Experiment(
    id="fn-ucb/threshold",
    title="Regret and rounds of communication by the threshold D, on the cosine function (figure 1d)",
    environment="cosine",
    world={"clients": 2},
    rounds=ROUNDS,
    seeds=3,
    series=tuple(thresholds(setting, (0, 2.5, 4, 5)) for setting in SETTINGS),
    figures=(
        *(curves(f"{setting} setting (figure 1d)", f"threshold-{setting}", series=(f"FN-UCB ({setting})",))
          for setting in SETTINGS),
        Against(x="rounds", per_client=True, title="Regret against rounds of communication"),
    ),
    claims=THRESHOLD_CLAIMS,
    quick=QUICK,
    notes="Published rounds of communication: 348 at D = 5, 380 at D = 4, 457 at D = 2.5.",
).register()  # fmt: skip

BOTH_FORMS = (("FN-UCB", "fn-ucb"), ("FN-UCB (Less Comm.)", "fn-ucb-less"))

for _id, _world, _figure in (("less", "cosine", "figure 3a"), ("less-square", "square", "figure 3b")):
    Experiment(
        id=f"fn-ucb/{_id}",
        title=f"Broadcasting every inverse, or their average: the {_world} function ({_figure})",
        environment=_world,
        world={"clients": 2},
        rounds=ROUNDS,
        seeds=3,
        series=tuple(
            Series(f"{label} ({setting})", algorithm, (Point(parameters_of(setting, 2)),))
            for setting in SETTINGS
            for label, algorithm in BOTH_FORMS
        ),
        figures=(curves(f"Both forms on the {_world} function ({_figure})", "less"),),
        claims=tuple(
            Similar(f"Both forms have very similar regret (within a tenth), {setting} setting ({_figure})",
                    f"{BOTH_FORMS[0][0]} ({setting})", f"{BOTH_FORMS[1][0]} ({setting})", factor=1.1)
            for setting in SETTINGS
        ),
        quick=QUICK,
    ).register()  # fmt: skip

tuned("fn-ucb", "fn-ucb-less", knobs=(Knob("nu", WIDTHS, ("nu_local", "nu_pooled")), RIDGE))
tuned("neural-ucb", "neural-ts", knobs=(Knob("nu", WIDTHS, ("nu_local",)), RIDGE), alone=True)
tuned("kernel-ts", "kernel-ucb", "linear-ts", "linear-ucb", knobs=(Knob("width", WIDTHS), RIDGE), alone=True)
