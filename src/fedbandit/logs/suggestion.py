"""A first declaration of features, from a log: something to edit, not something fitted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.features.columns import Column
from fedbandit.features.declaration import NAME
from fedbandit.features.features import Features
from fedbandit.features.kinds import read_feature
from fedbandit.features.layout import message_bytes
from fedbandit.features.values import texts_of
from fedbandit.features.writing import feature_line
from fedbandit.logs.log import Log

AIM = 32  # coordinates
CROSSED = 3  # columns of the context
FEW, MANY = 10, 1000  # different texts: at most so many are a category, at most so many are hashed as they are
SIZE = 16  # of what is hashed
GROUPS = 4  # into which numbers are put to see what they explain


def suggest(log: Log) -> str:
    """Return a file of features for a log, with its dimension and the bytes of a message as comments.

    Numbers range from the 0.5 % to the 99.5 % quantile. The three columns of the context whose groups, crossed with
    those of a column of the arms, explain most of the rewards (adjusted R^2 of their means) are crossed with it.
    """
    context, arms = _parts(log)
    kinds = {name: _feature(column) for name, column in (*context.items(), *arms.items())}
    usable = {name: kind for name, kind in kinds.items() if kind is not None and NAME.fullmatch(name)}
    arm = {name: usable[name] for name in arms if name in usable}
    if not arm:
        raise InvalidInput("the log has no column that tells one arm from another: name one of candidates, or of ids")
    known = {name: context[name] for name in context if name in usable}
    explained = _explained(log, known, {name: arms[name] for name in arm})
    chosen = sorted(explained, key=lambda name: -explained[name][0])[:CROSSED]
    tables: dict[str, dict[str, Any]] = {
        "context": {name: usable[name] for name in context if name in chosen},
        "arm": arm,
        "cross": {f"{name}.{explained[name][1]}": {"of": [name, explained[name][1]]} for name in chosen},
    }
    features = _small_enough(tables)
    size = message_bytes(features.dimension)
    lines = [f"# dimension {features.dimension}: a message of a linear algorithm has {size:,} bytes", ""]
    lines += [f"# not crossed: {feature_line(name, usable[name])}" for name in known if name not in chosen]
    lines += [f"# left out, since {_why(name)}: {name}" for name in kinds if name not in usable]
    return "\n".join([*lines, *([""] if len(lines) > 2 else []), features.toml])


def _why(name: str) -> str:
    return "it says nothing, or is no text or number" if NAME.fullmatch(name) else "features have names without spaces"


def _parts(log: Log) -> tuple[Mapping[str, Column], Mapping[str, Column]]:
    """Return the columns of the context and of the arms; a column that is in both goes where it varies."""
    if log.candidates is None:
        return log.context, {}
    both = [name for name in log.context if name in log.arms]
    varying = [name for name in both if _varies(log.arms[name], log.offered)]
    fixed = [name for name in both if name not in varying]
    context = {name: log.context[name] for name in log.context if name not in varying}
    return context, {name: log.arms[name] for name in log.arms if name not in fixed}


def _varies(column: Column, offered: Ints) -> bool:
    places = column.as_values().places[np.where(offered < 0, offered[:, :1], offered)]
    return bool((places != places[:, :1]).any())


def _feature(column: Column) -> dict[str, Any] | None:
    """Return what is declared of a column, None where it says nothing."""
    if column.numbers is not None:
        return _number(column.numbers)
    try:
        texts = {texts_of(value) for value in column.values}
    except TypeError:
        return None
    if len(texts) + bool((column.places < 0).any()) < 2:
        return None
    if any(isinstance(text, tuple) for text in texts):
        return {"kind": "hashed", "size": SIZE}
    if len(texts) <= FEW:
        return {"kind": "category", "levels": sorted(str(text) for text in texts)}
    return {"kind": "hashed" if len(texts) <= MANY else "text", "size": SIZE}


def _number(numbers: Floats) -> dict[str, Any] | None:
    known = numbers[np.isfinite(numbers)]
    if not len(known) or known.min() == known.max():
        return None
    low, high = np.quantile(known, [0.005, 0.995])
    if low == high:
        low, high = known.min(), known.max()
    ends = [_rounded(float(low), math.floor), _rounded(float(high), math.ceil)]
    scale = {"scale": "log"} if ends[0] > 0 and ends[1] / ends[0] > 100 else {}
    missing = {"missing": "indicator"} if np.isnan(numbers).any() else {}
    return {"kind": "number", "range": ends, **scale, **missing}


def _rounded(value: float, way: Any) -> float | int:
    """Return a number of two digits beside another.

    >>> _rounded(0.01234, math.floor), _rounded(-1234, math.floor), _rounded(1234, math.ceil)
    (0.012, -1300, 1300)
    """
    if value == 0:
        return 0
    digits = 1 - math.floor(math.log10(abs(value)))
    scaled = way(round(value * 10.0**digits, 9))
    found = float(f"{scaled}e{-digits}")
    return int(found) if found.is_integer() else found


def _explained(log: Log, context: Mapping[str, Column], arms: Mapping[str, Column]) -> dict[str, tuple[float, str]]:
    """Return of each context column how much of the rewards it explains with a column of the arms, and with which."""
    if log.candidates is None or not context:
        return {}
    chosen = log.offered[np.arange(len(log)), log.choice]
    groups = {name: _groups(column.take(chosen)) for name, column in arms.items()}
    found = {}
    for name, column in context.items():
        own = _groups(column)
        found[name] = max((_share(log.reward, own * (other.max() + 1) + other), arm) for arm, other in groups.items())
    return found


def _groups(column: Column) -> Ints:
    """Return the group of each row: a quarter of the numbers, or one of the most frequent values, or the others."""
    if column.numbers is not None:
        known = column.numbers[~np.isnan(column.numbers)]
        edges = np.unique(np.quantile(known, np.arange(1, GROUPS) / GROUPS)) if len(known) else np.empty(0)
        return np.where(np.isnan(column.numbers), len(edges) + 1, np.searchsorted(edges, column.numbers, side="right"))
    counts = np.bincount(column.places + 1, minlength=len(column.values) + 1)
    group = np.full(len(counts), FEW, dtype=np.int64)
    frequent = np.argsort(-counts, kind="stable")[:FEW]
    group[frequent] = np.arange(len(frequent))
    return group[column.places + 1]


def _share(reward: Floats, group: Ints) -> float:
    """Return the adjusted R^2 of the means of groups."""
    _, group = np.unique(group, return_inverse=True)
    counts = np.bincount(group)
    total = float(((reward - reward.mean()) ** 2).sum())
    if total == 0 or len(reward) <= len(counts):
        return -math.inf
    left = float(((reward - (np.bincount(group, weights=reward) / counts)[group]) ** 2).sum())
    return 1 - (left / (len(reward) - len(counts))) / (total / (len(reward) - 1))


def _small_enough(tables: dict[str, dict[str, Any]]) -> Features:
    """Return the features with what is hashed made smaller, and wide crosses hashed, until they are few."""
    single = {**tables["context"], **tables["arm"]}
    for size in (SIZE, 8, 4):
        for each in single.values():
            if each.get("size", 0) > size:
                each["size"] = size
        width = {name: len(read_feature(name, each).names(name)) for name, each in single.items()}
        for cross in tables["cross"].values():
            if size < SIZE and math.prod(width[name] for name in cross["of"]) > size:
                cross["size"] = size
        if Features({**tables, "features": {"largest": 2**20}}).dimension <= AIM:
            return Features(tables)
    return Features({**tables, "features": {"hash_to": AIM}})
