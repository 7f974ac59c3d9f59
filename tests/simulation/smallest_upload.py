"""Faulty runs with the smallest upload of deployments, and what must hold of all that ever left a site in them."""

from __future__ import annotations

from collections.abc import Iterator

import fedbandit as fb
from contract.small_worlds import small_setting, small_turns
from fedbandit.core.smallest_upload import has_smallest_upload, usual_smallest_upload
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.run import FaultyRun
from fedbandit.wire import decode
from simulation.federations import FEDERATIONS, SITES
from simulation.tagged import tagged_setting, tagged_turns

LINEAR = range(9)  # of the federations whose sums are exact; their thresholds are passed before the number is
WITH_IT = [name for name in fb.algorithms if has_smallest_upload(fb.algorithms[name])]


def covered_run(seed: int, federation: int, turns: int = 3) -> FaultyRun:
    """Run one schedule of a linear federation, in which a site has so many times the turns of an upload."""
    name, parameters = FEDERATIONS[federation]
    least = usual_smallest_upload(tagged_setting(1, SITES).dimension)
    count = turns * least * SITES
    charter = Charter.named(name, tagged_setting(count, SITES), **parameters, smallest_upload=least)
    return FaultyRun(charter, tagged_turns(seed, count, SITES), seed).run()


def small_run(name: str, seed: int, least: int = 10) -> FaultyRun:
    """Run one schedule of any algorithm."""
    rounds = 3 * least
    period = {"period": least} if name == "fldb-ogd" else {}
    charter = Charter.named(name, small_setting(name, rounds), smallest_upload=least, **period)
    return FaultyRun(charter, small_turns(name, rounds, seed), seed).run()


def too_small(run: FaultyRun) -> Iterator[str]:
    """Whatever has left a site, be it taken in or not, rests on no observation, or on as many as were agreed on."""
    least = run.charter.algorithm.smallest_upload
    for (site, _, number), bodies in run.history.uploads.items():
        for body in bodies:
            observations = decode(body).rests_on(0)
            if 0 < observations < least:
                yield f"upload {number} of site {site} rests on {observations} observations, not on {least}"


def told(run: FaultyRun) -> int:
    """How many uploads rest on something."""
    return sum(decode(body).rests_on(0) > 0 for bodies in run.history.uploads.values() for body in bodies)
