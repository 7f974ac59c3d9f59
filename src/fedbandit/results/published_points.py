"""Published numbers in our figures: hollow diamonds in the colour of the series that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.panel import Published, panels

LOOK = {"marker": "D", "mfc": "white", "ms": 6, "mew": 1.3, "ls": "none", "capsize": 2, "elinewidth": 1.0, "zorder": 5}


def published_of(experiment: Experiment) -> list[Published]:
    """Return the numbers that papers have for points of an experiment; a quick run is of another size and has none.

    >>> from fedbandit.experiments.experiment import experiments
    >>> [each.value for each in published_of(experiments["async-linucb/delicious"])][:2]
    [1.6891, 1.8348]
    """
    if experiment.is_quick:
        return []
    return [each for name in panels if panels[name].experiment == experiment.id for each in panels[name].published]


def found(
    published: Sequence[Published], quantity: str, series: str, point: str, clients: int, per_client: bool
) -> tuple[float, float] | None:
    """Return the published number of a point and its error (0 if none is known), as a sum or for each client."""
    for each in published:
        if (each.quantity, each.series, each.point) == (quantity, series, point):
            share = (1 if each.per_client else 1 / clients) if per_client else (clients if each.per_client else 1)
            return each.value * share, (each.error or 0.0) * share
    return None


def mark(axes: Any, across: float, value: tuple[float, float], colour: str, at_the_edge: bool = False) -> None:
    """Draw a published number; one that has no place across stands at the left edge of the axes."""
    y, error = value
    place = {"transform": axes.get_yaxis_transform(), "clip_on": False} if at_the_edge else {}
    axes.errorbar(0.0 if at_the_edge else across, y, yerr=error or None, color=colour, mec=colour, **LOOK, **place)


def explain(axes: Any) -> None:
    """Add what the diamonds are to the legend."""
    axes.plot([], [], color="#4d4d4d", label="published", **{key: LOOK[key] for key in ("marker", "mfc", "ms", "ls")})
