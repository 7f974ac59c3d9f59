"""The lots that a site draws, and how likely they were to fall on what was chosen.

A choice without randomness has propensity 1. One by lot has the chance that the lot gave it, exactly. One that a sample
names, without a lot, has none that is known: `explore` adds the lot. Given the sample the chance is then 1 - explore +
explore / K for the arm that the sample names and explore / K for another. With `propensity_samples` = m it is given
m more samples too, any of which might as well have decided: (1 - explore) c / (m + 1) + explore / K, where c of the
m + 1 name the chosen arm. Both are exact, and weights of 1 / propensity unbiased; the second vary less.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Clients, Decided
from fedbandit.core.lots import propensity_without_lot
from fedbandit.core.randomness import stream
from fedbandit.durable.site.frozen_life import WHO
from fedbandit.protocol.charter import Charter

_NO_LOTS = np.empty((1, 0))


class Lots:
    """The standard normals of a site's choices; the life keeps a site from drawing the same ones after a restart.

    >>> lots = Lots(seed=1, life=7, size=2)
    >>> lots.draw().shape
    (1, 2)
    """

    def __init__(self, seed: int, life: int, size: int) -> None:
        """Take the seed, the life and how many a turn needs."""
        self.size = size
        self._choices = stream(seed, "exploration", life)

    def draw(self) -> Floats:
        """Return the lots of one turn."""
        return self._choices.standard_normal((1, self.size)) if self.size else _NO_LOTS


class Propensities:
    """Tells how likely the choices of a site were."""

    def __init__(self, side: Clients, samples: int, seed: int, life: int) -> None:
        """Take the client side, how many further samples to draw at each choice, and what they are drawn from."""
        self._samples = samples
        self._normals = stream(seed, "propensity", life)
        self.take_up(side)

    def take_up(self, side: Clients) -> None:
        """Go on with the client side of another revision of the charter."""
        self._side = side
        without_lot = propensity_without_lot(side)
        self._without_lot = None if math.isnan(without_lot) else without_lot
        self._drawn = self._samples if side.samples else 0

    def of(self, decided: Decided, state: Any, offer: Floats, draws: Floats) -> float | None:
        """Return how likely a choice was, or None where no exact number is known."""
        if decided.propensity is None:
            return self._without_lot
        if not self._drawn:
            return float(decided.propensity[0])
        side = self._side
        normals = np.vstack([draws[:, 1:], self._normals.standard_normal((self._drawn, side.samples))])
        chosen = int(decided.choices[0])
        named = [side.named(state, WHO, offer, each[np.newaxis])[0] for each in normals]
        how_many = sum(each[chosen] for each in named)
        return float((1.0 - side.explore) * how_many / len(normals) + side.explore / len(named[0]))


def chances_given(
    side: Clients, state: Any, offer: Floats, draws: Floats, chosen: int, arms: int
) -> Floats | None:  # fmt: skip
    """Return how likely each arm was before the lot was drawn, after a sample given that; None where none was drawn.

    Without randomness the chosen arm was certain.
    """
    if side.draws_lot:
        return np.asarray(side.chances(state, WHO, offer, draws)[0])
    if side.draws:
        return None
    certain = np.zeros(arms)
    certain[chosen] = 1.0
    return certain


def check_samples(samples: int, charter: Charter, number: int) -> None:
    """Refuse a number of further samples that is none, or that would change nothing.

    >>> from fedbandit.core.algorithm import Setting
    >>> check_samples(5, Charter.named("async-linucb", Setting(1, 2, 3, 4)), 0)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: propensity_samples=5 is for samples mixed with uniform choices: give explore \
above 0 and an exploration that samples, or leave it out
    """
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 0:
        raise InvalidInput(f"propensity_samples must be a whole number of at least 0, not {samples!r}: give how many")
    if samples and not charter.build_for(number).clients.samples:
        raise InvalidInput(
            f"propensity_samples={samples} is for samples mixed with uniform choices: give explore above 0 and an "
            "exploration that samples, or leave it out"
        )
