"""The federations that are put to the test, and one faulty run of one of them."""

from __future__ import annotations

from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.run import FaultyRun
from simulation.tagged import tagged_setting, tagged_turns

TURNS, SITES = 40, 4
FEDERATIONS = [
    ("async-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0}),
    ("async-linucb", {"upload_threshold": 3000.0, "download_threshold": 30.0}),
    ("sync-linucb", {"sync_threshold": 0.5}),
    ("sync-linucb", {"sync_threshold": 40.0}),
]


def faulty_run(seed: int, federation: int | None = None, **nodes: type) -> FaultyRun:
    """Run one schedule; every federation has its turn among the seeds, unless one is named."""
    name, parameters = FEDERATIONS[seed % len(FEDERATIONS) if federation is None else federation]
    charter = Charter.named(name, tagged_setting(TURNS, SITES), **parameters)
    return FaultyRun(charter, tagged_turns(seed, TURNS, SITES), seed, **nodes).run()
