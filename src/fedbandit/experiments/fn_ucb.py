"""The experiments of "Federated Neural Bandits" (Dai et al. 2023).

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
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series
from fedbandit.experiments.figures import Against, OverTime

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
        claims=claims_of(_figure, SYNTHETIC),
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

Experiment(
    id="fn-ucb/less",
    title="Broadcasting every inverse, or their average (figure 3)",
    environment="cosine",
    world={"clients": 2},
    rounds=ROUNDS,
    seeds=3,
    series=tuple(
        Series(f"{label} ({setting})", algorithm, (Point(parameters_of(setting, 2)),))
        for setting in SETTINGS
        for label, algorithm in (("FN-UCB", "fn-ucb"), ("FN-UCB (Less Comm.)", "fn-ucb-less"))
    ),
    figures=(curves("Both forms on the cosine function (figure 3a)", "less"),),
    quick=QUICK,
    notes="The paper finds the two very similar.",
).register()
