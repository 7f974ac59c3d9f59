"""A row of the benchmark table, and the ways to measure one."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """Something that must cost at most so much."""

    name: str
    at_most: float
    unit: str
    measure: Callable[[], float]
    beside: str = ""  # what others take


def best_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of several times, after one unmeasured call that compiles and warms up."""
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def in_a_process(
    code: str, cores: int | None = 1, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, on so many cores, perhaps with other environment variables."""
    pin = f"import os; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{cores}]);" if cores else ""
    return subprocess.run(
        [sys.executable, "-c", pin + code], check=True, capture_output=True, text=True, env=environment
    )


def seconds_of_process(code: str, repeats: int = 3) -> float:
    """Return the shortest time of a whole process, interpreter included, after one unmeasured run."""
    return best_seconds(lambda: in_a_process(code, cores=None), repeats)


def peak_kibibytes() -> int:
    """Return the largest memory that this process held.

    What `getrusage` tells may be that of the process which started it: on Linux it is taken over from there.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM:"))


def peak_gibibytes(code: str) -> float:
    """Return the largest memory that a process running the code held."""
    tail = "\nfrom benchmarks.row import peak_kibibytes; print(peak_kibibytes())"
    return int(in_a_process(code + tail).stdout.split()[-1]) / 2**20
