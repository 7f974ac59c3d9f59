"""Tables of made-up numbers, for what judges and shows them."""

from __future__ import annotations

from fedbandit.experiments.table import Measured, Row, Table


def spread(mean, deviation, seeds):
    """A quantity with this mean and deviation over an even number of seeds (or one, which has no deviation)."""
    step = deviation * ((seeds - 1) / seeds) ** 0.5
    return Measured(tuple(mean + step * (-1) ** seed for seed in range(seeds)) if seeds > 1 else (mean,))


def row(series, point, settings=None, clients=1, **quantities):
    """A row whose quantities are given seed by seed, or as one number of one seed."""
    values = {
        name: Measured(tuple(value) if isinstance(value, list | tuple) else (value,))
        for name, value in quantities.items()
    }
    return Row(series, point, settings or {}, clients, values)


def costs(**series):
    """A table of series, each a list of points: what it costs in messages, and the regret that it has."""
    return Table(
        tuple(
            row(label, str(place), messages=messages, regret=regret)
            for label, points in series.items()
            for place, (messages, regret) in enumerate(points)
        )
    )
