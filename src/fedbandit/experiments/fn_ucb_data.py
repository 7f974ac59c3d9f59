"""The experiments of "Federated Neural Bandits" (Dai et al. 2023) on data sets: Shuttle and MAGIC as bandits.

In the settings of `fedbandit.experiments.fn_ucb_settings`, with ridge 10, nu_pooled 0.1 and nu_local 0.01
(section 5.2).
"""

from __future__ import annotations

from typing import Any

from fedbandit.experiments.claims import Ordered
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.fn_ucb_settings import (
    BASELINE_CLAIMS,
    BASELINES,
    QUICK,
    ROUNDS,
    SETTINGS,
    THRESHOLD_CLAIMS,
    against_baselines,
    against_lone,
    claims_of,
    curves,
    shown_of,
    thresholds,
    together,
)

ALONE_TOO = {**SETTINGS, "network only": "equal steps"}
CLASSIFICATION: dict[str, Any] = {"ridge": 10, "nu_pooled": 0.1, "nu_local": 0.01}

for _world, _figure, _published in (
    ("shuttle", "figure 2a", "NeuralUCB 721, NeuralTS 558±29, N=1 463, N=2 282, N=5 139"),
    ("magic", "figures 2b and 4", "NeuralUCB 950±16, NeuralTS 994±11, N=1 922±7, N=2 907±4, N=5 865"),
):
    Experiment(
        id=f"fn-ucb/{_world}",
        title=f"Classification as a bandit: {_world}, m = 20 ({_figure})",
        environment="classification",
        world={"dataset": _world},
        rounds=ROUNDS,
        seeds=3,
        series=(*against_lone((1, 2, 5), ALONE_TOO, **CLASSIFICATION), *BASELINES),
        figures=(
            *(curves(f"{setting} setting ({_figure})", f"{_world}-{setting.replace(' ', '-')}",
                      series=shown_of(setting)) for setting in ALONE_TOO),
            against_baselines(_world),
        ),
        claims=(*claims_of(_figure, ALONE_TOO), *BASELINE_CLAIMS),
        quick=QUICK,
        notes=f"Published regret per client at t = 5000: {_published}.",
    ).register()  # fmt: skip

WIDE = {**CLASSIFICATION, "width": 50, "diagonal": True}
NARROW = {**CLASSIFICATION, "diagonal": True}
WITHOUT = "without UCB^a"

Experiment(
    id="fn-ucb/shuttle-diagonal",
    title="Shuttle by diagonals, m = 50, and what diagonals cost at m = 20 (figures 2c, 4c and 5)",
    environment="classification",
    world={"dataset": "shuttle"},
    rounds=ROUNDS,
    seeds=3,
    series=(
        *against_lone((1, 2, 5), **WIDE),
        *(together(setting, (1, 2, 5), WITHOUT, **WIDE, weight=1) for setting in ("paper", "synchronised")),
        *(together(setting, (1, 2, 5), "m=20, diagonal", **NARROW) for setting in SETTINGS),
        *(together(setting, (1, 2, 5), "m=20, full", **CLASSIFICATION) for setting in SETTINGS),
        *BASELINES,
    ),
    figures=(
        *(curves(f"m = 50, diagonal, {setting} setting (figure 2c)", f"diagonal-{setting}",
                  series=shown_of(setting)) for setting in SETTINGS),
        *(curves(f"m = 50, diagonal, {setting} setting without the pooled bound", f"diagonal-{setting}-without",
                  series=(f"{WITHOUT} ({setting})", *shown_of(setting)[1:])) for setting in ("paper", "synchronised")),
        *(curves(f"m = 20, {setting} setting (figure 5)", f"diagonal-narrow-{setting}",
                  series=(f"m=20, diagonal ({setting})", f"m=20, full ({setting})"))
          for setting in SETTINGS),
        against_baselines("diagonal"),
    ),
    claims=(
        *claims_of("figure 2c"),
        *claims_of("figure 2c, without UCB^a", {"paper": "paper", "synchronised": "practical"}, WITHOUT),
        *(Ordered(f"At m = 20 diagonals have more regret than full matrices, {setting} setting (figure 5)",
                  (f"m=20, full ({setting})", f"m=20, diagonal ({setting})"), per_client=True)
          for setting in SETTINGS),
        *(Ordered(f"m = 50 by diagonals has less regret than m = 20 in full, {setting} setting (figures 2a, 2c)",
                  (f"FN-UCB ({setting})", f"m=20, full ({setting})"), per_client=True)
          for setting in SETTINGS),
        *BASELINE_CLAIMS,
    ),
    quick=QUICK,
    notes="Published regret per client at t = 5000, m = 50: NeuralUCB 286±3, NeuralTS 920±214, N=1 288, N=2 266, "
    "N=5 184.",
).register()  # fmt: skip

Experiment(
    id="fn-ucb/shuttle-threshold",
    title="Regret and rounds of communication by the threshold D, Shuttle by diagonals (figure 2d)",
    environment="classification",
    world={"dataset": "shuttle", "clients": 2},
    rounds=ROUNDS,
    seeds=3,
    series=tuple(thresholds(setting, (0, 0.01, 0.03, 0.05), **WIDE) for setting in SETTINGS),
    figures=tuple(
        curves(f"{setting} setting (figure 2d)", f"shuttle-threshold-{setting}", series=(f"FN-UCB ({setting})",))
        for setting in SETTINGS
    ),
    claims=THRESHOLD_CLAIMS,
    quick=QUICK,
    notes="Published rounds of communication: 3851 at D = 0.05, 4443 at D = 0.03, 4906 at D = 0.01.",
).register()  # fmt: skip
