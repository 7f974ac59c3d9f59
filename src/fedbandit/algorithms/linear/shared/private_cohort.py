"""What private clients keep: sums that nobody sees, the noise that hides them, and the model that they were sent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Floats, Ints


@dataclass
class PrivateCohortState:
    """The clients of a simulation, or one site; the first axis is the client."""

    gram: Floats  # the sum of x x^T over all observations of the stream, on the grid, without noise
    moment: Floats  # the sum of x y
    observations: Ints
    fresh: Ints  # observations since the last release or synchronisation
    releases: Ints  # that were made
    questions: Ints  # that were asked when no release was left
    normals: Floats  # (clients, room, size) z_1, z_2, .. in units of nu: those of the releases made and of the next
    drawn: Ints  # how many of these there are
    released_gram: Floats  # the last release, to be told again
    released_moment: Floats
    released_observations: Ints
    stream: Ints  # which of a client's streams this is
    estimate: Floats  # theta of the last download
    inverse: Floats
    bonus: Floats
    version: Ints  # of the last download; 0 before the first


def nothing_observed(clients: int, dimension: int, size: int) -> PrivateCohortState:
    """Return clients that have observed nothing and have no noise yet."""
    return PrivateCohortState(
        gram=np.zeros((clients, dimension, dimension)),
        moment=np.zeros((clients, dimension)),
        observations=np.zeros(clients, dtype=np.int64),
        fresh=np.zeros(clients, dtype=np.int64),
        releases=np.zeros(clients, dtype=np.int64),
        questions=np.zeros(clients, dtype=np.int64),
        normals=np.zeros((clients, 0, size)),
        drawn=np.zeros(clients, dtype=np.int64),
        released_gram=np.zeros((clients, dimension, dimension)),
        released_moment=np.zeros((clients, dimension)),
        released_observations=np.zeros(clients, dtype=np.int64),
        stream=np.zeros(clients, dtype=np.int64),
        estimate=np.zeros((clients, dimension)),
        inverse=np.zeros((clients, dimension, dimension)),
        bonus=np.zeros(clients),
        version=np.zeros(clients, dtype=np.int64),
    )
