"""In what settings the experiments of "Federated Neural Bandits" run, and the series and claims that they share.

Every experiment runs in three settings: `paper`, the algorithm as it is published; `practical`, with the initial
weights, features and regulariser of the authors' code (but with theta_0 frozen and networks averaged, which that code
does not do); and `synchronised`, which besides trains on from the latest average, in 30 steps for each client. That is
the part of the authors' shared network that can be had without sharing data: there all clients train one network, each
30 steps a round. On the synthetic worlds there are three more. `wide` is the published algorithm with 100 hidden units
instead of 20: its theory is about wide networks. `equal steps` gives everybody 150 steps, lone clients too: what is
left of the difference is due to the other clients. `network only` besides leaves the pooled bound out, which the lone
clients do not have either.

Published numbers are the authors' result files, 3 seeds, mean and standard error at t = 5000.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedbandit.experiments.claims import Monotone, Ordered
from fedbandit.experiments.comparisons import AtMost
from fedbandit.experiments.experiment import Point, Quick, Series
from fedbandit.experiments.figures import OverTime

ROUNDS = 5000
PRACTICAL: dict[str, Any] = {"initialisation": "normal", "scale_features": False, "regulariser": "decay"}
STEPS, MANY_STEPS = 30, 150
LONE: dict[str, dict[str, Any]] = {  # a lone client has nobody to synchronise with
    "paper": {},
    "wide": {"width": 100},
    "practical": PRACTICAL,
    "equal steps": {**PRACTICAL, "train_steps": MANY_STEPS},
}
SETTINGS = {"paper": "paper", "practical": "practical", "synchronised": "practical"}  # and the lone clients of each
SYNTHETIC = {"paper": "paper", "wide": "wide", **SETTINGS, "equal steps": "equal steps", "network only": "equal steps"}
WIDTHS = (1, 0.1, 0.01)
QUICK = Quick(seeds=1, rounds=150)


def parameters_of(setting: str, clients: int) -> dict[str, Any]:
    """Return what a setting means for so many clients.

    >>> parameters_of("paper", clients=2), parameters_of("synchronised", clients=2)["train_steps"]
    ({}, 60)
    """
    if setting == "network only":
        return {**parameters_of("equal steps", clients), "weight": 1}
    if setting in {"synchronised", "equal steps"}:
        steps = MANY_STEPS if setting == "equal steps" else STEPS * clients
        return {**PRACTICAL, "train_from": "average", "train_steps": steps}
    return LONE[setting]


def together(setting: str, clients: tuple[int, ...], name: str = "FN-UCB", **parameters: Any) -> Series:
    """Return FN-UCB (Less Comm.) with each number of clients."""
    points = tuple(
        Point({**parameters_of(setting, each), **parameters}, {"clients": each}, f"N={each}") for each in clients
    )
    return Series(f"{name} ({setting})", "fn-ucb-less", points)


def alone(label: str, algorithm: str, setting: str, **parameters: Any) -> Series:
    """Return a lone client's algorithm with the same network."""
    return Series(f"{label} ({setting})", algorithm, (Point({**LONE[setting], **parameters}, {"clients": 1}),))


def plain(label: str, algorithm: str, **parameters: Any) -> Series:
    """Return a linear or kernel baseline with each width of appendix E."""
    points = tuple(Point({**parameters, "width": width}, {"clients": 1}, f"ν={width:g}") for width in WIDTHS)
    return Series(label, algorithm, points)


def against_lone(
    clients: tuple[int, ...], settings: Mapping[str, str] = SETTINGS, **parameters: Any
) -> tuple[Series, ...]:
    """Return FN-UCB and the networks of lone clients, in several settings."""
    lone = {name: value for name, value in parameters.items() if name != "nu_pooled"}
    return (
        *(together(setting, clients, **parameters) for setting in settings),
        *(
            alone(label, algorithm, setting, **lone)
            for setting in dict.fromkeys(settings.values())
            for label, algorithm in (("NeuralUCB", "neural-ucb"), ("NeuralTS", "neural-ts"))
        ),
    )


BASELINES = (
    plain("Linear UCB", "linear-ucb"),
    plain("Linear TS", "linear-ts"),
    plain("Kernel UCB", "kernel-ucb", observations=1000),  # as many as the authors' code keeps
    plain("Kernel TS", "kernel-ts", observations=1000),
)
BASELINE_CLAIMS = tuple(
    Ordered(f"{lone} has less regret than {each.label} of any width (figure 4)", (f"{lone} (paper)", each.label),
            per_client=True)
    for lone in ("NeuralUCB", "NeuralTS")
    for each in BASELINES
)  # fmt: skip


def curves(title: str, name: str, **shown: Any) -> OverTime:
    """Return the paper's kind of figure: mean regret per client over rounds, with standard errors."""
    return OverTime(title=title, name=name, per_client=True, by_round=True, **shown)


def against_baselines(world: str) -> OverTime:
    """Return figure 4: two clients and a lone network against the linear and kernel bandits."""
    series = ("FN-UCB (paper)", "FN-UCB (synchronised)", "NeuralUCB (paper)", *(each.label for each in BASELINES))
    return curves(
        "Against linear and kernel bandits (figure 4)",
        f"{world}-baselines",
        series=series,
        labels=("", "N=2", "ν=0.1"),
    )


def shown_of(setting: str) -> tuple[str, ...]:
    """Return the series of a setting's figure: FN-UCB, and the lone networks to compare it with."""
    return (f"FN-UCB ({setting})", f"NeuralUCB ({SYNTHETIC[setting]})", f"NeuralTS ({SYNTHETIC[setting]})")


def claims_of(
    figure: str, settings: Mapping[str, str] = SETTINGS, name: str = "FN-UCB"
) -> tuple[Monotone | Ordered, ...]:
    """Return what the paper says of a world: more clients help, and two are better than one alone."""
    falls = tuple(
        Monotone(f"Regret per client falls with the number of clients, {setting} setting ({figure})",
                 (f"{name} ({setting})",), along="clients", per_client=True)
        for setting in settings
    )  # fmt: skip
    beats = tuple(
        Ordered(f"Two clients have less regret than {lone} alone, {setting} setting ({figure})",
                (f"{name} ({setting})", f"{lone} ({settings[setting]})"), per_client=True, points=("N=2",))
        for setting in settings
        for lone in ("NeuralUCB", "NeuralTS")
    )  # fmt: skip
    return (*falls, *beats)


def comparable_alone(figure: str) -> tuple[AtMost, ...]:
    """Return what the paper says of one client: it is no worse than the lone networks."""
    return tuple(
        AtMost(f"One client has at most 1.25 times the regret of {lone}, {setting} setting ({figure})",
               f"FN-UCB ({setting})", 1.25, f"{lone} ({SYNTHETIC[setting]})", ("N=1",), per_client=True)
        for setting in SYNTHETIC
        for lone in ("NeuralUCB", "NeuralTS")
    )  # fmt: skip


def thresholds(setting: str, values: tuple[float, ...], **parameters: Any) -> Series:
    """Return FN-UCB with each threshold of communication."""
    points = tuple(
        Point({**parameters_of(setting, 2), **parameters, "sync_threshold": value}, label=f"D={value:g}")
        for value in values
    )
    return Series(f"FN-UCB ({setting})", "fn-ucb-less", points)


ALL = tuple(f"FN-UCB ({setting})" for setting in SETTINGS)
THRESHOLD_CLAIMS = (
    Monotone("A larger D means fewer rounds of communication", ALL, along="sync_threshold", y="rounds"),
    *(Monotone(f"More frequent communication lowers regret, {setting} setting", (f"FN-UCB ({setting})",),
               along="sync_threshold", falls=False) for setting in SETTINGS),
)  # fmt: skip
