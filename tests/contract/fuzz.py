"""A fuzz of every algorithm's coordinator: hostile frames among those of an honest run, by a seed.

    cd tests && python -m contract.fuzz --frames 1000000
    cd tests && python -m contract.fuzz --frames 100000 --without-limits

Before an honest upload arrives, any number of frames arrive that were made of it and of those before: fields with
extreme, swapped, repeated, stale and future values, wrong shapes, random bytes, any order, any epoch and number. What
must hold: nothing is raised, what is refused has a reason, no state and no download has a number that is not finite,
and a coordinator that is opened again from its journal knows the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from contract.fuzzed_run import LIMITS, FuzzedRun
from contract.small_worlds import algorithm_names
from fedbandit.core.errors import FedbanditError
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.validation import Limits

WITHOUT = (Limits(),)


@dataclass
class Tally:
    """What came of the frames against one algorithm."""

    frames: int = 0
    outcomes: Counter = field(default_factory=Counter)
    failed_sites: int = 0
    runs: int = 0
    seconds: float = 0.0


def fuzz(name, frames, seed=0, patience=1e9, limits=LIMITS):
    """Send so many hostile frames to coordinators of an algorithm, with each of some limits in turn.

    Return what came of them.
    """
    tally, began = Tally(), time.perf_counter()
    while tally.frames < frames and time.perf_counter() - began < patience:
        run = FuzzedRun(name, tally, seed + tally.runs, frames - tally.frames, limits=limits)
        try:
            run.play()
        except FedbanditError:
            tally.failed_sites += (
                1  # an honest site that was poisoned, within the limits, may give up; a server may not
            )
        run.check()
        run.check_journal()
        tally.frames += run.sent
        tally.runs += 1
        if not run.sent:
            break  # nobody ever sends anything
    tally.seconds = time.perf_counter() - began
    return tally


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=1_000_000, help="in all, or so many each with --each")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="algorithms")
    parser.add_argument("--without-limits", action="store_true", help="of contexts, rewards and rates")
    parser.add_argument("--patience", type=float, default=1e9, help="seconds for one algorithm, at most")
    options = parser.parse_args(arguments)
    names = [getattr(name, "values", [name])[0] for name in algorithm_names()]
    names = [name for name in names if not options.only or name in options.only]
    talking = [name for name in names if FuzzedRun(name, Tally(), 0, 0).server.validation.schema.known]
    share = options.frames if options.each else -(-options.frames // len(talking))
    print("| algorithm | frames | refused | not yet | accepted | repeated | runs | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    total = 0
    for name in talking:
        tally = fuzz(name, share, options.seed, options.patience, WITHOUT if options.without_limits else LIMITS)
        total += tally.frames
        counts = [
            tally.outcomes[each] for each in (Outcome.REFUSED, Outcome.NOT_YET, Outcome.ACCEPTED, Outcome.REPEATED)
        ]
        cells = [name, tally.frames, *counts, tally.runs, f"{tally.seconds:.0f}"]
        print("|", " | ".join(map(str, cells)), "|", flush=True)
    print(f"{total} frames")
    return 0


if __name__ == "__main__":
    sys.exit(main())
