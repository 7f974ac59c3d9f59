"""The federations that are put to the test, and one faulty run of one of them."""

from __future__ import annotations

from typing import Any

from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.ending import Ending
from fedbandit.simulation.faults.ending import EndingRun
from fedbandit.simulation.faults.failover import FAILOVERS, FailoverRun
from fedbandit.simulation.faults.living import LivingRun
from fedbandit.simulation.faults.revised import REVISIONS, RevisedRun
from fedbandit.simulation.faults.run import FAULTS, FaultyRun
from fedbandit.simulation.faults.troubled import TroubledRun
from simulation.tagged import DENSE, tagged_setting, tagged_turns

TURNS, SITES = 40, 4
NUMBERS = 8  # for sites that come and go
FADING_FAULTS = {**FAULTS, "fall_behind": 0.5}  # where the federation forgets
FEDERATIONS = [
    ("async-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0}),
    ("async-linucb", {"upload_threshold": 3000.0, "download_threshold": 30.0}),
    ("sync-linucb", {"sync_threshold": 0.5}),
    ("sync-linucb", {"sync_threshold": 40.0}),
    ("clustered-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0, "noise": 0.0}),  # tells many apart
    ("clustered-linucb", {"upload_threshold": 3000.0, "download_threshold": 30.0}),
    ("lean-linucb", {"precision": "float64", "upload_threshold": 20.0, "download_threshold": 1.0}),
    ("lean-linucb", {"precision": "float64", "upload_threshold": 3000.0, "delivery": "upload"}),
    ("fedlinucb", {"upload_threshold": 20.0}),
    ("lean-linucb", {"upload_threshold": 300.0, "download_threshold": 1.0}),  # rounded, as it is by default
    ("lean-linucb", {"upload_threshold": 3000.0, "delivery": "upload"}),
    ("async-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0, "discount": 0.5}),
    ("async-linucb", {"upload_threshold": 3000.0, "download_threshold": 30.0, "discount": 0.5}),
    ("sync-linucb", {"sync_threshold": 40.0, "discount": 0.5}),
    ("fedlinucb", {"upload_threshold": 20.0, "discount": 0.5}),
    ("lean-linucb", {"precision": "float64", "upload_threshold": 20.0, "download_threshold": 1.0, "discount": 0.5}),
    ("lean-linucb", {"precision": "float64", "upload_threshold": 3000.0, "delivery": "upload", "discount": 0.5}),
]
BY_SEED = 4  # the first so many have their turns among the seeds; the others are run by name
CLUSTERED, ASKING, ROUNDED, FADING = (4, 5), (6, 7, 8), (9, 10), (11, 12, 13, 14, 15, 16)
ENDING = (0, 1, 2, 3, 6, 8, 11, 13)
FAILING_OVER = (0, 1, 2, 3, 4, 6, 7, 8)
REVISED = (0, 1, 2, 3, 6, 7, 8)  # whose sums can be carried over, and travel as they are
LIVING = (0, 1, 2, 3, 6, 7, 8)  # the same; of these sync-linucb forgets nobody
THRESHOLDS = {  # that a change may give, by algorithm
    "async-linucb": ({"upload_threshold": 1.0}, {"upload_threshold": 100.0, "download_threshold": 2.0}),
    "sync-linucb": ({"sync_threshold": 0.5}, {"sync_threshold": 30.0}),
    "lean-linucb": ({"upload_threshold": 5.0}, {"upload_threshold": 100.0, "download_threshold": 2.0}),
    "fedlinucb": ({"upload_threshold": 5.0}, {"upload_threshold": 100.0}),
}
EPOCH_STEPS = 20  # of a run in an epoch, where a federation forgets
LIMITS = Limits(
    Bounds(context=2.0, reward=1.0),  # of the tagged world
    observations_per_second=0.5,
    observations_ahead=10.0,
    uploads_ahead=16,
    epochs=24,
)


def faulty_run(seed: int, federation: int | None = None, **how: Any) -> FaultyRun:
    """Run one schedule; of the first federations each has its turn among the seeds, unless one is named."""
    name, parameters = FEDERATIONS[seed % BY_SEED if federation is None else federation]
    charter = Charter.named(name, tagged_setting(TURNS, SITES), **parameters)
    return FaultyRun(charter, tagged_turns(seed, TURNS, SITES), seed, **{**_epochs(charter), **how}).run()


def revised_run(seed: int, federation: int | None = None, **how: Any) -> RevisedRun:
    """Run one schedule in which the charter is revised."""
    name, parameters = FEDERATIONS[REVISED[seed % len(REVISED)] if federation is None else federation]
    charter = Charter.named(name, tagged_setting(TURNS, SITES), **parameters)
    more = _epochs(charter)
    faults = {"faults": more.pop("faults", FAULTS) | REVISIONS}
    given = {"removable": DENSE, "thresholds": THRESHOLDS[name], **more, **faults, **how}
    return RevisedRun(charter, tagged_turns(seed, TURNS, SITES), seed, **given).run()


def ending_run(seed: int, federation: int | None = None, **how: Any) -> EndingRun:
    """Run one schedule in which many decisions end without their reward."""
    name, parameters = FEDERATIONS[ENDING[seed % len(ENDING)] if federation is None else federation]
    ending = Ending(default_reward=0.5)
    charter = Charter.named(name, tagged_setting(TURNS, SITES), ending=ending, **parameters)
    return EndingRun(charter, tagged_turns(seed, TURNS, SITES), seed, **{**_epochs(charter), **how}).run()


def failover_run(seed: int, federation: int | None = None, **how: Any) -> FailoverRun:
    """Run one schedule in which coordinators take over from each other; a clock that lags is another matter."""
    name, parameters = FEDERATIONS[FAILING_OVER[seed % len(FAILING_OVER)] if federation is None else federation]
    charter = Charter.named(name, tagged_setting(TURNS, SITES), **parameters)
    more = {"faults": FAULTS | FAILOVERS, **how}
    return FailoverRun(charter, tagged_turns(seed, TURNS, SITES), seed, **more).run()


def living_run(seed: int, federation: int | None = None, **how: Any) -> LivingRun:
    """Run one schedule in which sites come and go, and all else changes."""
    name, parameters = FEDERATIONS[LIVING[seed % len(LIVING)] if federation is None else federation]
    charter = Charter.named(name, tagged_setting(TURNS, NUMBERS), **parameters)
    given = {"removable": DENSE, "thresholds": THRESHOLDS[name], **how}
    return LivingRun(charter, tagged_turns(seed, TURNS, NUMBERS), seed, **given).run()


def troubled_run(
    seed: int, federation: int | None = None, kind: type[TroubledRun] = TroubledRun, **how: Any
) -> TroubledRun:
    """Run one schedule with a hostile site, which has the last number, and with operators' mistakes."""
    name, parameters = FEDERATIONS[seed % BY_SEED if federation is None else federation]
    setting = tagged_setting(TURNS, SITES + 1)
    charter = Charter.named(name, setting, **parameters)
    other = Charter.named(name, setting, **parameters, ridge=0.7)
    how = {"limits": LIMITS, "other_charter": other} | how
    return kind(charter, tagged_turns(seed, TURNS, SITES), seed, **how).run()


def _epochs(charter: Charter) -> dict[str, Any]:
    """Return how epochs pass where a federation forgets, and what may go wrong with that."""
    return {"epoch_steps": EPOCH_STEPS, "faults": FADING_FAULTS} if charter.algorithm.discount < 1.0 else {}
