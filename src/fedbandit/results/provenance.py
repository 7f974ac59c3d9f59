"""Where the numbers of a report come from: its size, seeds and world, what made its runs, and the data.

Each run is kept with the code, the versions and the machine that made it: a report may be written elsewhere, and later.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fedbandit.core.environment import environments
from fedbandit.core.version import VERSION
from fedbandit.experiments.experiment import Experiment

PACKAGES = ("numpy", "numba", "scipy", "jax")
MADE = ("code", "versions", "machine")  # what is kept with a run
NOT_KEPT = "not kept with the runs"


def provenance(experiment: Experiment, made: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return what a reader needs to know to judge an experiment's numbers, or to make them again.

    `made` is what was kept with each of its runs; runs of several machines, or of several commits, name them all.
    """
    world = ", ".join(f"{name}={value}" for name, value in experiment.world.items())
    told = {
        "size": "quick: a smaller world and fewer seeds" if experiment.is_quick else "full",
        "seeds": str(experiment.seeds),
        "world": f"{experiment.environment}{f' ({world})' if world else ''}, {experiment.length}",
    }
    runs = list(made)
    for name in MADE:
        told[name] = "; also ".join(dict.fromkeys(run.get(name, NOT_KEPT) for run in runs))
    data = [f"{name}: {_completeness(name, path)}" for name, path in sorted(_data_sets(experiment))]
    return {**told, "data": "; ".join(data)} if data else told


def made_here() -> dict[str, str]:
    """Return what makes the runs of this process: the code, its versions, and the machine."""
    return {"code": _code(), "versions": _versions(), "machine": _machine()}


@cache
def _code() -> str:
    return f"fedbandit {VERSION}, {commit()}"


def _machine() -> str:
    """Return the system, its cores, and the accelerator that JAX computes on, if it was needed and found one."""
    words = [f"{platform.system()} on {platform.machine()}", f"{os.cpu_count()} cores"]
    jax = sys.modules.get("jax")
    if jax is not None and jax.default_backend() != "cpu":
        words.append(str(jax.devices()[0].device_kind))
    return ", ".join(words)


def commit() -> str:
    """Return the commit of the sources, and whether they were changed since; an installed package has none."""
    try:
        _git(
            "ls-files", "--error-unmatch", Path(__file__).name
        )  # a copy that another repository ignores is not its own
        said = _git("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return "no commit known"
    return f"commit {said.removesuffix('-dirty')}" + (", with changes" if said.endswith("-dirty") else "")


def _git(*arguments: str) -> str:
    command = ("git", "-C", str(Path(__file__).parent), *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@cache
def _versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # an extra that is not installed
            continue
    return ", ".join(found)


def _data_sets(experiment: Experiment) -> set[tuple[str, str]]:
    """Return the data sets behind an experiment's worlds, each with the path that was given for it."""
    worlds = [
        environments[experiment.environment].from_values({**experiment.world, **point.world})
        for series in experiment.series
        for point in series.points
    ]
    return {found for world in worlds if (found := world.data_set()) is not None}


def _completeness(name: str, path: str) -> str:
    from fedbandit.datasets import catalogue, load  # slow to import, and only reports need it

    if name not in {description.name for description in catalogue()}:
        return "not in the catalogue, so nobody knows what may be missing"
    missing = load(name, path or None).missing
    return "not complete, " + "; ".join(missing) if missing else "complete"
