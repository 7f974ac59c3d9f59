"""What forgetting gains where the world changes, and what it costs where nothing does."""

from __future__ import annotations

from fedbandit.experiments.claims import Claim, Monotone
from fedbandit.experiments.comparisons import AtMost
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series
from fedbandit.experiments.figures import OverTime, TradeOff

TURNS, EPOCH = 6_000, 100
DISCOUNTS = (1.0, 0.98, 0.95, 0.9, 0.8, 0.6, 0.4, 0.2)
FED: dict[str, float | bool] = {"upload_threshold": 1.2, "use_own": True}
ASYNC: dict[str, float | bool] = {"upload_threshold": 1.2, "download_threshold": 20}
NOTHING = 1e-12  # what is left after a restart: a discount must be above 0
SAME_MEMORY = {25: 0.95, 100: 0.8, 400: 0.2}  # discounts by the length of an epoch: 500 turns of the federation


def _series(
    label: str, algorithm: str, points: dict[str, tuple[float, int]], parameters: dict[str, float | bool]
) -> Series:
    """Return runs of an algorithm by name: a discount each, and turns in an epoch."""
    return Series(
        label,
        algorithm,
        tuple(
            Point({**parameters, "discount": discount}, {"epoch_length": length}, name)
            for name, (discount, length) in points.items()
        ),
    )


FADING = {f"{each:g}": (each, EPOCH) for each in DISCOUNTS}
AT_ONCE = {"at the change": (NOTHING, TURNS // 2)}
SERIES = (
    _series("FedLinUCB", "fedlinucb", FADING, FED),
    _series("Async-LinUCB", "async-linucb", FADING, ASYNC),
    _series(
        "memory of 500 turns",
        "async-linucb",
        {f"epochs of {length}": (each, length) for length, each in SAME_MEMORY.items()},
        ASYNC,
    ),
    _series("FedLinUCB, restart", "fedlinucb", AT_ONCE, FED),
    _series("restart", "async-linucb", AT_ONCE, ASYNC),
)
ANSWERED, FORGETS, _, ANSWERED_ANEW, RESTART = (each.label for each in SERIES)
BOTH = (ANSWERED, FORGETS)
CLAIMS: dict[str, tuple[Claim, ...]] = {
    "abrupt": (
        Monotone("The more is forgotten, the less regret after an abrupt change", BOTH, along="discount", falls=False),
        *(
            AtMost("A discount of 0.6 has at most a fifth of the regret without", each, 0.2, each, ("0.6",), "1")
            for each in BOTH
        ),
        AtMost("Discounting pays at most 6 times what a restart at the change pays", FORGETS, 6.0, RESTART,
               ("0.4", "0.2")),
        AtMost("Discounting pays at most 6 times what a restart at the change pays", ANSWERED, 6.0, ANSWERED_ANEW,
               ("0.4", "0.2")),
    ),
    "slow": (
        AtMost("A discount of 0.4 has no more regret than one of 0.2, which forgets too soon", FORGETS, 1.0, FORGETS,
               ("0.4",), "0.2"),
        *(
            AtMost("A discount of 0.6 has at most a tenth of the regret without", each, 0.1, each, ("0.6",), "1")
            for each in BOTH
        ),
    ),
    "still": (
        *(
            AtMost("Where nothing changes, a discount of 0.6 costs at most half as much regret again", each, 1.5, each,
                   ("0.6",), "1")
            for each in BOTH
        ),
        Monotone("The more is forgotten, the more messages", BOTH, along="discount", y="messages"),
        *(
            AtMost("Where nothing changes, a discount of 0.6 has at most 6 times the messages", each, 6.0, each,
                   ("0.6",), "1", y="messages")
            for each in BOTH
        ),
    ),
}  # fmt: skip
TITLES = {
    "abrupt": "Theta turns by 120 degrees half-way",
    "slow": "Theta turns by 180 degrees over the run",
    "still": "Nothing changes: the price of forgetting",
}

for _drift, _title in TITLES.items():
    Experiment(
        id=f"forgetting/{_drift}",
        title=_title,
        environment="drifting",
        world={"drift": _drift, "length": TURNS, "clients": 20, "arms": 10, "dimension": 8, "source": "sphere"},
        turns=TURNS,
        series=SERIES,
        figures=(
            TradeOff(x="messages", y="regret", title=_title, log_y=True),
            OverTime(y="regret", title=_title, labels=("1", "0.8", "0.6", "0.4", "at the change")),
        ),
        claims=CLAIMS[_drift],
        quick=Quick(seeds=2),
        notes="Epochs of 100 turns unless said otherwise. The memory is epoch_length / (1 - discount) turns. 'restart' "
        "forgets all half-way, which is when the abrupt change comes.",
    ).register()
