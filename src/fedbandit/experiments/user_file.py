"""Experiments of a user's own, from a TOML file.

id = "mine"
title = "Two thresholds"
environment = "linear"
turns = 5000
seeds = 3
world = { clients = 50, dimension = 10 }
# baseline = "Random"                 # the label of a series: all rewards are divided by its own

[[series]]
label = "Async"
algorithm = "async-linucb"
grid = { upload_threshold = [1.1, 2, 5] }
along = { clients = [10, 50] }        # sizes of the world, optional
set = { download_threshold = 3 }      # parameters that all points share, optional

[[figures]]
kind = "trade-off"                    # or "over-time", "against" (with x = "upload_threshold")
x = "messages"
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series, along, grid
from fedbandit.experiments.figures import Against, Figure, Groups, Map, OverTime, TradeOff
from fedbandit.files.toml import read_toml

KINDS: dict[str, type[Figure]] = {each.kind: each for each in (TradeOff, OverTime, Against, Groups, Map)}


def read_experiment(path: Path) -> Experiment:
    """Read and check an experiment; anything wrong is said in one sentence that names the file."""
    data = read_toml(path)
    try:
        experiment = _experiment(data, path)
        experiment.check()
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    return experiment


def _experiment(data: dict[str, Any], path: Path) -> Experiment:
    _only(
        data,
        {
            "id",
            "title",
            "environment",
            "world",
            "turns",
            "rounds",
            "seeds",
            "series",
            "figures",
            "quick",
            "notes",
            "baseline",
        },
    )
    for name in ("environment", "series"):
        if name not in data:
            raise InvalidInput(f"{name!r} is missing: an experiment needs an environment and [[series]]")
    _whole(data, "turns", "rounds", "seeds")
    return Experiment(
        id=str(data.get("id", path.stem)),
        title=str(data.get("title", path.stem)),
        environment=str(data["environment"]),
        world=_mapping(data, "world"),
        turns=data.get("turns"),
        rounds=data.get("rounds"),
        seeds=data.get("seeds", 10),
        series=tuple(_series(each) for each in _tables(data, "series")),
        figures=tuple(_figure(each) for each in _tables(data, "figures")) or (TradeOff(), OverTime()),
        quick=_quick(_mapping(data, "quick")),
        notes=str(data.get("notes", "")),
        baseline=str(data.get("baseline", "")),
    )


def _series(data: dict[str, Any]) -> Series:
    _only(data, {"label", "algorithm", "grid", "along", "set"})
    if "algorithm" not in data:
        raise InvalidInput("a [[series]] has no algorithm: name one of `fedbandit list`")
    shared, swept, worlds = _mapping(data, "set"), _lists(data, "grid"), _lists(data, "along")
    points = [
        replace(point, parameters={**shared, **point.parameters}) for point in (grid(**swept) if swept else (Point(),))
    ]
    return Series(
        str(data.get("label", data["algorithm"])),
        str(data["algorithm"]),
        along(points, **worlds) if worlds else tuple(points),
    )


def _figure(data: dict[str, Any]) -> Figure:
    kind = str(data.get("kind", "trade-off"))
    if kind not in KINDS:
        raise unknown("kind of figure", kind, KINDS)
    known = {each.name for each in fields(KINDS[kind])}
    _only(data, {"kind", *known})
    defaults = KINDS[kind]()
    return replace(defaults, **{name: _like(getattr(defaults, name), name, data[name]) for name in data.keys() & known})


def _quick(data: dict[str, Any]) -> Quick:
    _only(data, {each.name for each in fields(Quick)})
    _whole(data, "seeds", "turns", "rounds", "every")
    return Quick(**{**data, "world": _mapping(data, "world")})


def _only(data: dict[str, Any], known: set[str]) -> None:
    for name in data:
        if name not in known:
            raise unknown("key", name, known)


def _whole(data: dict[str, Any], *names: str) -> None:
    for name in names:
        if name in data and (not isinstance(data[name], int) or isinstance(data[name], bool) or data[name] < 1):
            remedy = f"write one, as in {name} = 10"
            raise InvalidInput(f"{name} must be a whole number of at least 1, not {data[name]!r}: {remedy}")


def _like(default: Any, name: str, value: Any) -> Any:
    """Return a value if it is of the default's kind; lists become tuples."""
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise InvalidInput(f'{name} must be a list of labels, not {value!r}: write one, as in {name} = ["a", "b"]')
    kind, wanted = {
        bool: (bool, "true or false"), str: (str, "text"), float: (int | float, "a number"),
    }[type(default)]  # fmt: skip
    if not isinstance(value, kind) or isinstance(value, bool) != isinstance(default, bool):
        raise InvalidInput(f"{name} must be {wanted}, not {value!r}: write {wanted}")
    return value


def _lists(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a table of lists; a value that stands alone is a list of one."""
    return {key: value if isinstance(value, list) else [value] for key, value in _mapping(data, name).items()}


def _mapping(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name, {})
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} must be a table, not {value!r}: write one, as in {name} = {{ clients = 10 }}")
    return value


def _tables(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = data.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise InvalidInput(f"{name} must be a list of tables, not {value!r}: write each as [[{name}]]")
    return value
