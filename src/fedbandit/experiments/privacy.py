"""What it costs in regret and messages that uploads rest on enough observations, and what lessens that."""

from __future__ import annotations

from typing import Any

from fedbandit.experiments.claims import Monotone
from fedbandit.experiments.comparisons import AtMost
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series
from fedbandit.experiments.figures import TradeOff

DIMENSION = 8
SMALLEST = (1, 10, 2 * DIMENSION)


def _series(label: str, algorithm: str, **parameters: Any) -> Series:
    points = (Point({**parameters, "smallest_upload": each}, label=f"n={each}") for each in SMALLEST)
    return Series(label, algorithm, tuple(points))


ASYNC = _series("Async-LinUCB", "async-linucb", upload_threshold=1.2, download_threshold=1.2)
SYNC = _series("Sync-LinUCB", "sync-linucb", sync_threshold=1.0)
LEAN = _series("Lean-LinUCB", "lean-linucb")
WELCOMED = _series("Async-LinUCB, welcome", "async-linucb", upload_threshold=1.2, download_threshold=1.2, welcome=True)
BOUND = ASYNC.label, SYNC.label, LEAN.label
ALONE = Series("alone", "local-linucb", (Point({}),))

TITLE = "The price of uploads that rest on enough observations"
LENGTHS = {"": 3_000, "-long": 12_000}

for _name, _turns in LENGTHS.items():
    Experiment(
        id=f"privacy/smallest-upload{_name}",
        title=f"{TITLE}: {_turns // 20} turns a site",
        environment="linear",
        world={"clients": 20, "arms": 10, "dimension": DIMENSION, "source": "sphere"},
        turns=_turns,
        series=(ASYNC, SYNC, LEAN, WELCOMED, ALONE),
        figures=(TradeOff(x="messages", y="regret", title=TITLE, log_y=True),),
        claims=(
            Monotone("The more observations an upload rests on, the more regret", BOUND, along="smallest_upload",
                     falls=False),
            Monotone("With Async-LinUCB messages become fewer by it", (ASYNC.label,), along="smallest_upload",
                     y="messages"),
            Monotone("With Sync-LinUCB messages become more by it", (SYNC.label,), along="smallest_upload",
                     y="messages", falls=False),
            *(
                AtMost("With n = 2 d there is less regret than without federation", each, 1.0, ALONE.label, ("n=16",))
                for each in BOUND
            ),
        ),
        quick=Quick(seeds=2),
        notes="The price is paid once, in the first n turns of a site, in which nobody hears of what it has seen.",
    ).register()  # fmt: skip
