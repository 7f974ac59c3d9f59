"""A hostile site and operators' mistakes among federations of other families, whose sums are not exact.

What is checked of them: the coordinator lives, what it sends is finite, its log gives its state, and all come to rest.
"""

from __future__ import annotations

from dataclasses import replace

from contract.small_worlds import small_setting, small_turns
from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.run import FAULTS
from fedbandit.simulation.faults.troubled import ATTACKS, TroubledRun
from simulation import checkers
from simulation.trouble_checkers import downloads_are_finite, honest_uploads_are_not_refused, memory_is_bounded

FAMILIES = ("async-linucb-am", "fedglb-ucb", "fldb-ogd", "fldb-gd", "fedego-lasso")
ROUNDS = 12
LIMITS = Limits(Bounds(context=1.0 + 1e-9, reward=1.0), observations_per_second=1.0, uploads_ahead=16, epochs=24)
EVENTS = FAULTS | ATTACKS | {"back_up_server": 0.6, "set_clock": 0.5}
CHECKERS = (
    downloads_are_finite,
    honest_uploads_are_not_refused,
    memory_is_bounded,
    checkers.versions_only_rise,
    checkers.the_log_gives_the_same_state,
)


def troubled_family(name: str, seed: int) -> TroubledRun:
    setting = small_setting(name, ROUNDS)
    charter = Charter.named(name, replace(setting, clients=setting.clients + 1))
    faults = {fault: weight for fault, weight in EVENTS.items() if fault not in ("restore", "lose_disk")}
    return TroubledRun(charter, small_turns(name, ROUNDS, seed), seed, faults=faults, limits=LIMITS).run()


def family_amiss(run: TroubledRun) -> list[str]:
    """Return all that is amiss, in words."""
    return [f"{checker.__name__}: {finding}" for checker in CHECKERS for finding in checker(run)]
