"""What a federation gains that notices changes by itself, and whether it sees any where nothing changes."""

from __future__ import annotations

from typing import Any

from fedbandit.experiments.comparisons import AtMost
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series
from fedbandit.experiments.figures import OverTime, TradeOff
from fedbandit.experiments.forgetting import ASYNC, FED, NOTHING, TURNS

WORLDS: dict[str, dict[str, Any]] = {
    "abrupt": {"drift": "abrupt"},
    "slow": {"drift": "slow"},
    "still": {"drift": "still"},
    "heavy tails": {"drift": "still", "tails": "heavy"},
    "noise told half": {"drift": "still", "noise": 0.2},
}
STILL = ("still", "heavy tails", "noise told half")


def _series(label: str, algorithm: str, parameters: dict[str, Any], worlds: dict[str, dict[str, Any]]) -> Series:
    return Series(label, algorithm, tuple(Point(parameters, world, name) for name, world in worlds.items()))


def _three(name: str, algorithm: str, parameters: dict[str, Any]) -> tuple[Series, ...]:
    """Return an algorithm that detects changes, one that never forgets, and one that is told when the change comes."""
    told = {"abrupt": {**WORLDS["abrupt"], "epoch_length": TURNS // 2}}
    return (
        _series(f"{name}, detector", algorithm, {**parameters, "restart_quorum": 3}, WORLDS),
        _series(f"{name}, never forgets", algorithm, parameters, WORLDS),
        _series(f"{name}, restart at the change", algorithm, {**parameters, "discount": NOTHING}, told),
    )


SERIES = (*_three("FedLinUCB", "fedlinucb", FED), *_three("Async-LinUCB", "async-linucb", ASYNC))
DETECTS, KEEPS, TOLD, PUSHED_DETECTS, PUSHED_KEEPS, PUSHED_TOLD = (each.label for each in SERIES)
TITLE = "A federation that notices changes by itself"

Experiment(
    id="forgetting/detector",
    title=TITLE,
    environment="drifting",
    world={"length": TURNS, "clients": 20, "arms": 10, "dimension": 8, "source": "sphere"},
    turns=TURNS,
    series=SERIES,
    figures=(
        TradeOff(x="messages", y="regret", title=TITLE, log_y=True),
        OverTime(y="regret", title="Theta turns by 120 degrees half-way", labels=("abrupt",)),
    ),
    claims=(
        AtMost("The detector pays at most 1.5 times what a restart at the change pays", DETECTS, 1.5, TOLD,
               ("abrupt",)),
        AtMost("The detector pays at most twice what a restart at the change pays", PUSHED_DETECTS, 2.0, PUSHED_TOLD,
               ("abrupt",)),
        *(
            claim
            for detects, keeps in ((DETECTS, KEEPS), (PUSHED_DETECTS, PUSHED_KEEPS))
            for claim in (
                AtMost("After an abrupt change it has at most a twentieth of the regret without", detects, 0.05, keeps,
                       ("abrupt",)),
                AtMost("In a world that changes slowly it has at most a third of the regret without", detects, 1 / 3,
                       keeps, ("slow",)),
                AtMost("Where nothing changes it never restarts: the regret is that without", detects, 1.0, keeps,
                       STILL),
                AtMost("Where nothing changes it sends no more messages", detects, 1.0, keeps, STILL, y="messages"),
            )
        ),
    ),
    quick=Quick(seeds=2),
    notes="'noise told half' has a noise of 0.2, and algorithms are told 0.1; 'heavy tails' has the noise of Student's "
    "t with 3 degrees of freedom. A restart where nothing changes would add to the regret and to the messages.",
).register()  # fmt: skip
