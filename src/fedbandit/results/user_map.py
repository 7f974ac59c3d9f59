"""Where users lie: in the plane of the two principal components of the means of what each of them had."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.environments.recommendation import Recommendation
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.figures import Map
from fedbandit.results.record import Record, group_of
from fedbandit.simulation.run import environment as environment_named


def positions(experiment: Experiment) -> Floats:
    """Return the place of each user of an experiment's world, with their centre at 0."""
    return _positions(experiment.environment, tuple(sorted(experiment.world.items())))


@lru_cache(maxsize=2)
def _positions(environment: str, sizes: tuple[tuple[str, Any], ...]) -> Floats:
    world = environment_named(environment, **dict(sizes))
    if not isinstance(world, Recommendation):
        raise InvalidInput(f"a map of users needs the environment 'recommendation', not {world.id!r}: choose another")
    return in_plane(world.data().user_means())


def in_plane(means: Floats) -> Floats:
    """Return points in the plane in which they lie farthest apart, with their centre at 0.

    >>> np.abs(in_plane(np.array([[3.0, 5.0, 1.0], [1.0, 5.0, 1.0]]))).round(9).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    centred = means - means.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(centred @ directions[:2].T)


def group_distances(record: Record, figure: Map, experiment: Experiment) -> Mapping[str, float]:
    """Return how far from the centre the users of each group lie in the mean, as in "distance 10-19".

    All users lie 1 from it in the mean; of a group without users nothing is known.
    """
    distance = np.linalg.norm(positions(experiment), axis=1)
    group = group_of(record.by_client["turns"], figure)
    return {
        f"distance {label}": float(distance[group == place].mean() / distance.mean())
        for place, label in enumerate(figure.labels())
        if (group == place).any()
    }
