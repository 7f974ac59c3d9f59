"""The panels of "Federated Linear Dueling Bandits" (Huang et al. 2025)."""

from __future__ import annotations

from fedbandit.experiments.panel import Panel, Quote

PAPER = "fldb"
ALONE = "both FLDB-GD and FLDB-OGD consistently outperform the single-agent baseline LDB across all settings"
EXACT = "FLDB-GD achieves lower cumulative regret than FLDB-OGD"


def _compared(*claims: str) -> tuple[Quote, ...]:
    return (Quote(ALONE, claims), Quote(EXACT, claims))


THREE = "FLDB-GD has less regret than FLDB-OGD"
for _place, _title, _experiment, _figure, _claim in (
    ("figure 1a", "three algorithms, N = 50", "fldb/agents", "agents-50", THREE),
    ("figure 1b", "three algorithms, N = 100", "fldb/agents", "agents-100", THREE),
    ("figure 1c", "three algorithms, N = 100, two rounds a period", "fldb/agents", "agents-100-two", "The same"),
    ("figure 1d", "three algorithms on MovieLens", "fldb/movielens", "movielens-anyone", THREE),
):
    Panel(PAPER, _place, _title, _experiment, (_figure,), _compared(_claim)).register()

MORE = Quote(
    "the cumulative regret of FLDB-OGD decreases as the number of agents N becomes larger",
    ("Regret per client falls with the number of clients",),
)
Panel(PAPER, "figure 2a", "more clients, ten arms", "fldb/more-agents", ("more-agents-10",), (MORE,)).register()
Panel(PAPER, "figure 2b", "more clients, fifty arms", "fldb/more-agents", ("more-agents-50",), (MORE,)).register()

DIFFERENT = Quote(
    "Both FLDB-OGD and FLDB-GD incur higher cumulative regrets as the level of degree of heterogeneity increases",
    ("Regret rises with heterogeneity",),
)
ROBUST = Quote(
    "Both FLDB-GD and FLDB-OGD exhibit robustness under different levels of agent-specific perturbations, maintaining "
    "competitive performance as the degree of heterogeneity increases",
    ("At every spread",),
)
for _place, _title, _figure, _said in (
    ("figure 2c", "two spreads of the clients' utilities", "heterogeneous-two", DIFFERENT),
    ("figure 3a", "FLDB-GD by the spread of the clients' utilities", "heterogeneous-gd", ROBUST),
    ("figure 3b", "FLDB-OGD by the spread of the clients' utilities", "heterogeneous-ogd", ROBUST),
):
    Panel(PAPER, _place, _title, "fldb/heterogeneous", (_figure,), (_said,)).register()

RARER = ("With the step as printed, regret rises", "With the averaged gradient")
ROUNDS = "a larger number of communication rounds (i.e., smaller τ) leads to smaller regrets"
PERIOD = "The results show that the final regret increases with larger τ"
LDB = "FLDB-OGD consistently outperforms the LDB baseline across all values of τ"
for _place, _title, _figures, _said in (
    ("figure 2d", "final regret by rounds of communication", ("against-rounds",), Quote(ROUNDS, RARER)),
    ("figure 4", "regret over time by the period", ("period-literal", "period-averaged"),
     Quote(LDB, ("FLDB-OGD has less regret than LDB",))),
    ("figure 5a", "final regret by the period", ("against-period",), Quote(PERIOD, RARER)),
    ("figure 5b", "final regret by rounds of communication, K = 10 and 50", ("against-rounds",), Quote(ROUNDS, RARER)),
):  # fmt: skip
    Panel(PAPER, _place, _title, "fldb/period", _figures, (_said,)).register()
