"""The panels of "Federated High-Dimensional Online Decision Making" (Wang, Li and Lin 2023).

The paper's text has no number of its experiments, so nothing published stands beside ours.
"""

from __future__ import annotations

from fedbandit.experiments.fedego_lasso import CLIENTS, DIMENSIONS
from fedbandit.experiments.panel import Panel, Quote

PAPER = "fedego-lasso"
WORLDS = {
    "a": (
        "synthetic",
        "synthetic data",
        "In synthetic data scenario, Fedego Lasso enjoys substantial regret reduction",
    ),
    "b": (
        "warfarin",
        "Warfarin doses (PharmGKB)",
        "In the task of personalized dosage searching, Fedego Lasso enjoys faster error rate convergence",
    ),
    "c": (
        "medical-mnist",
        "Medical MNIST",
        "In the task of medical image labeling, Fedego Lasso again enjoys substantial regret reduction",
    ),
}
MORE = {
    "b": "Fedego Lasso with more clients enjoy faster error rate convergence",
    "a": "Fedego Lasso enjoys further regret reduction by recruiting more clients in bandit learning",
}

for _letter, (_world, _title, _words) in WORLDS.items():
    Panel(
        PAPER,
        f"figure 3{_letter}",
        f"{_title}: three algorithms",
        f"fedego-lasso/{_world}",
        (f"figure-3{_letter}",),
        (Quote(_words, ("Fedego Lasso has less regret per client than Lasso Bandit",)),),
    ).register()
    Panel(
        PAPER,
        f"figure 4{_letter}",
        f"{_title}: more clients",
        f"fedego-lasso/{_world}",
        (f"figure-4{_letter}",),
        (Quote(MORE.get(_letter, MORE["a"]), ("Regret per client falls as clients are added",)),),
    ).register()

for _clients in CLIENTS:
    for _dimension in DIMENSIONS:
        Panel(
            PAPER,
            f"figure 5 M={_clients} d={_dimension}",
            f"synthetic data with {_clients} clients and {_dimension} features, by the number of arms",
            "fedego-lasso/synthetic",
            (f"figure-5-M{_clients}-d{_dimension}",),
            (
                Quote(
                    "We provide some additional experimental results for different choices of d, K, M in Figure 5 for "
                    "readers interested in the effect of changing these hyper-parameters",
                    unanswered="the paper shows the curves and says nothing of them",
                ),
            ),
        ).register()
