"""The panels of "Communication Efficient Federated Learning for Generalized Linear Bandits" (Li and Wang 2022)."""

from __future__ import annotations

from fedbandit.experiments.panel import Panel, Quote

PAPER = "fedglb-ucb"

Panel(
    PAPER,
    "figure 2a",
    "regret against communication on synthetic data",
    "fedglb-ucb/synthetic",
    ("trade-off", "trade-off-scalars"),
    (
        Quote(
            "for FedGLB-UCB and its variants, R_T decreases as C_T increases, interpolating between the two extreme "
            "cases",
            ("Regret falls as communication grows", "One model over everyone's data", "Clients alone by Newton steps"),
        ),
        Quote("its regret is even comparable with One-UCB-GLM", ("FedGLB-UCB that communicates often",)),
        Quote(
            "as the key components of FedGLB-UCB are gradually removed to create the three variants, there is a clear "
            "degeneration in communication efficiency to obtain the same R_T",
            ("FedGLB-UCB needs fewer",),
        ),
    ),
).register()
Panel(
    PAPER,
    "figure 2b",
    "reward against communication on MovieLens",
    "fedglb-ucb/movielens",
    ("trade-off",),
    (
        Quote(
            "FedGLB-UCB strikes a better balance between reward and communication than the baselines, i.e., higher "
            "reward "
            "under most of the communication budget region",
            ("FedGLB-UCB needs fewer", "FedGLB-UCB earns more"),
        ),
        Quote("its inferior performance in the high-communication budget region", ("With much communication",)),
    ),
).register()
Panel(
    PAPER,
    "figure 3a",
    "regret and communication over time on synthetic data",
    "fedglb-ucb/over-time",
    ("regret-over-time", "messages-over-time"),
    (
        Quote(
            "incur similar total communication cost, but FedGLB-UCB ($D = 5.0$) attains much smaller regret than the "
            "others",
            ("FedGLB-UCB (D=5)",),
        ),
        Quote(
            "FedGLB-UCB ($D = 5000.0$) attains almost the same regret as FedGLB-UCB₂ ($B = 10.0$), but its "
            "communication "
            "cost is much lower",
            ("FedGLB-UCB (D=5000)",),
        ),
    ),
).register()
Panel(
    PAPER,
    "figure 3b",
    "reward and communication over time on MovieLens",
    "fedglb-ucb/movielens-over-time",
    ("reward-over-time", "scalars-over-time"),
    (
        Quote(
            "FedGLB-UCB ($D = 900.0$) attains similar or even higher reward than FedGLB-UCB₂ ($B = 20.0$) and "
            "DisLinUCB "
            "($D = 0.3$) with only half of their communication cost",
            ("FedGLB-UCB (D=900)",),
        ),
    ),
).register()
