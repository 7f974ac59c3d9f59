"""The panels of "Federated Neural Bandits" (Dai et al. 2023).

Published numbers of regret are the authors' result files: three seeds, mean and standard error at t = 5000.
"""

from __future__ import annotations

from fedbandit.experiments.panel import Panel, Published, Quote

PAPER = "fn-ucb"
FILES = "the authors' result files"
LONE = ("NeuralUCB", "NeuralTS")


def _regret(**values: float | tuple[float, float]) -> tuple[Published, ...]:
    """Return regrets per client, by the lone network or by the number of clients (N1, N2, ...)."""
    found = []
    for name, value in values.items():
        mean, error = value if isinstance(value, tuple) else (value, None)
        series, point = (f"{name} (paper)", "") if name in LONE else ("FN-UCB (paper)", f"N={name[1:]}")
        found.append(Published(mean, "regret", series, point, FILES, error, per_client=True))
    return tuple(found)


def _rounds(source: str, **values: float) -> tuple[Published, ...]:
    """Return rounds of communication by the threshold D, given in hundredths (D250 is 2.5)."""
    return tuple(
        Published(value, "rounds", "FN-UCB (paper)", f"D={int(name[1:]) / 100:g}", source)
        for name, value in values.items()
    )


FALLS = ("Regret per client falls with the number of clients",)
TWO = ("Two clients have less regret",)
MORE = Quote("the federation of a larger number N of agents consistently improves the performance of our FN-UCB", FALLS)
SOON = Quote(
    "the federation of N = 2 agents can already provide significant improvements over non-federated algorithms", TWO
)
ONE = Quote("our FN-UCB with N = 1 agent performs comparably with Neural UCB and Neural TS", ("One client has",))
REAL = Quote(
    "our FN-UCB with N = 2 agents consistently outperforms standard Neural UCB and Neural TS, and its performance also "
    "improves with the federation of more agents",
    (*TWO, *FALLS),
)
DIAGONAL = "the corresponding results are consistent with those in Fig. 2a"
SMALLER = "the regrets in Fig. 2c are in general smaller than those in Fig. 2a"

for _place, _world, _published in (
    ("figure 1a", "cosine", _regret(NeuralUCB=(91.6, 21), NeuralTS=(121.6, 35), N1=(80.9, 19), N2=(38.3, 2),
                                    N5=(27.3, 4), N10=(9.8, 1))),
    ("figure 1b", "square", _regret(NeuralUCB=187, NeuralTS=(166, 8), N1=158, N2=(99.8, 13), N5=42, N10=21)),
):  # fmt: skip
    Panel(
        PAPER, _place, f"more clients on the {_world} function", f"fn-ucb/{_world}",
        tuple(f"{_world}-{setting}" for setting in ("paper", "wide", "practical", "synchronised", "equal-steps",
                                                    "network-only")),
        (ONE, MORE, SOON), _published,
    ).register()  # fmt: skip

Panel(
    PAPER,
    "figure 1c",
    "what each part is good for, on the cosine function",
    "fn-ucb/ablation",
    tuple(f"ablation-{setting}" for setting in ("paper", "practical", "synchronised")),
    (
        Quote(
            "leads to significantly larger regrets in the long run due to its inability to utilize NNs to model the "
            "reward "
            "functions",
            (
                "The network's bound alone has less regret in the end",
                "Both bounds together have less regret than the pooled",
            ),
        ),
        Quote(
            "the green curve incurs larger regrets than the red curve initially",
            unanswered="the table has regret at the end only; the early phase is seen in the curves",
        ),
        Quote(
            "the aggregation of the NN parameters significantly improves the performance of FN-UCB",
            ("Averaging the networks lowers regret",),
        ),
    ),
).register()

OFTEN = Quote(
    "more frequent communications (i.e., smaller values of D which make it easier to initiate a communication round; "
    "see "
    "line 11 of Algo. 1) lead to smaller regrets",
    ("More frequent communication lowers regret", "A larger D"),
)
Panel(
    PAPER, "figure 1d", "thresholds of communication on the cosine function", "fn-ucb/threshold",
    tuple(f"threshold-{setting}" for setting in ("paper", "practical", "synchronised")), (OFTEN,),
    _rounds("caption of figure 1", D500=348.0, D400=380.0, D250=456.7),
).register()  # fmt: skip

for _place, _world, _published in (
    ("figure 2a", "shuttle", _regret(NeuralUCB=721, NeuralTS=(558, 29), N1=463, N2=282, N5=139)),
    ("figure 2b", "magic",
     _regret(NeuralUCB=(950, 16), NeuralTS=(994, 11), N1=(922, 7), N2=(907, 4), N5=865)),
):  # fmt: skip
    Panel(
        PAPER, _place, f"classification as a bandit: {_world}", f"fn-ucb/{_world}",
        tuple(f"{_world}-{setting}" for setting in ("paper", "practical", "synchronised", "network-only")), (REAL,),
        _published,
    ).register()  # fmt: skip

Panel(
    PAPER, "figure 2c", "Shuttle by diagonals, m = 50", "fn-ucb/shuttle-diagonal",
    tuple(f"diagonal-{setting}" for setting in ("paper", "practical", "synchronised")),
    (Quote(DIAGONAL, (*TWO, *FALLS)), Quote(SMALLER, ("m = 50 by diagonals has less regret",))),
    _regret(NeuralUCB=(286, 3), NeuralTS=(920, 214), N1=288, N2=266, N5=184),
).register()  # fmt: skip
Panel(
    PAPER, "figure 2d", "thresholds of communication, Shuttle by diagonals", "fn-ucb/shuttle-threshold",
    tuple(f"shuttle-threshold-{setting}" for setting in ("paper", "practical", "synchronised")),
    (Quote("more frequent communications lead to better performances", OFTEN.answered_by),),
    _rounds("caption of figure 2", D5=3850.7, D3=4442.7, D1=4906.3),
).register()  # fmt: skip

for _place, _world, _experiment in (("figure 3a", "cosine", "less"), ("figure 3b", "square", "less-square")):
    Panel(
        PAPER, _place, f"both forms on the {_world} function", f"fn-ucb/{_experiment}", ("less",),
        (Quote("Their performances are very similar for both functions.", ("Both forms have very similar regret",)),),
    ).register()  # fmt: skip

OUTPERFORMED = Quote(
    "both linear and kernelized contextual bandit algorithms are outperformed by neural contextual bandit algorithms",
    ("NeuralUCB has less regret than", "NeuralTS has less regret than"),
)
for _place, _experiment, _figure in (
    ("figure 4a", "cosine", "cosine-baselines"),
    ("figure 4b", "square", "square-baselines"),
    ("figure 4c", "shuttle-diagonal", "diagonal-baselines"),
    ("figure 4d", "magic", "magic-baselines"),
):
    Panel(
        PAPER, _place, f"linear and kernel bandits beside networks: {_experiment.partition('-')[0]}",
        f"fn-ucb/{_experiment}", (_figure,), (OUTPERFORMED,),
    ).register()  # fmt: skip

Panel(
    PAPER, "figure 5", "Shuttle at m = 20: full matrices and diagonals", "fn-ucb/shuttle-diagonal",
    tuple(f"diagonal-narrow-{setting}" for setting in ("paper", "practical", "synchronised")),
    (Quote("using an NN with the same width m = 20, diagonalization indeed deteriorates the performances",
          ("At m = 20 diagonals have more regret",)),),
).register()  # fmt: skip
for _place, _world in (("figure 6a", "cosine"), ("figure 6b", "square")):
    Panel(
        PAPER, _place, f"final regret by the number of clients on the {_world} function", f"fn-ucb/{_world}",
        (f"{_world}-clients",),
        (Quote("the average cumulative regret (averaged across all N agents) is indeed decreasing as the number N of "
              "agents "
              "increases", FALLS),),
    ).register()  # fmt: skip
