"""Everyone's gradient near the last models, from sums that are kept between global updates; simulations alone use it.

Once there are many observations, models move little from one global update to the next. Then a polynomial about one
of them (`kernels.glm.taylor_sums`) gives the gradient of all losses at every iterate, to far below what a search stops
at, and what it costs does not grow with the observations. Where it would not be exact enough it gives none: a pass over
the data must do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.glm.kept_data import Kept
from fedbandit.kernels.glm.taylor_sums import (
    add_up_to,
    begin_anew,
    gradient_near,
    largest_share,
    nothing_summed,
    rest,
    terms_of,
)

MOST_TERMS = 20_000  # of a polynomial: with more of them it would seldom pay
EXACT = 1e-8  # the most that a polynomial may leave out, as a part of the gradient at which a search stops
ROUNDING = 2.0**-52  # of a sum, times the root of how many are summed
TERM_COST = 1 / 40  # of adding an observation to one sum; 1 is that of its part in a plain pass, about
PATIENCE = 2.0  # passes that were made or saved must be worth so many times what the next sums cost


def is_worthwhile(link: int, dimension: int) -> bool:
    """Tell whether the polynomial has few enough terms.

    >>> from fedbandit.kernels.glm.links import LOGISTIC
    >>> is_worthwhile(LOGISTIC, 10), is_worthwhile(LOGISTIC, 25)
    (True, False)
    """
    return terms_of(link, dimension) <= MOST_TERMS


class Losses(NamedTuple):
    """What a search minimises: the losses of the observations of each client before its `stop`."""

    kept: Kept
    stop: Ints  # (clients,)
    gram: Floats  # sum x x^T of these observations
    observations: int
    smallest: float  # the length of their gradient at which the search stops


class NearbyGradients:
    """The gradient of the losses of one cohort, about one centre after another."""

    def __init__(self, kept: Kept, dimension: int, link: int) -> None:
        """Begin with no centre."""
        self._of = kept.length  # it stays the same array while the cohort keeps more and more
        self._link = link
        self._share = largest_share(link)
        self._taylor = nothing_summed(len(kept.length), dimension, link)
        self._has_centre = False
        self._passed = 0  # observations in all passes since the centre was taken, ...
        self._saved = 0  # ... and in those that it made needless
        self._is_outgrown = False  # the update under way needed a pass

    def is_of(self, kept: Kept) -> bool:
        """Tell whether these are sums over the observations of this cohort."""
        return self._of is kept.length

    def at(self, model: Floats, losses: Losses) -> Floats | None:
        """Return the gradient of the losses at a model; None where it is not exact enough."""
        delta = model - self._taylor.centre
        if self._has_centre and self._is_exact(delta, losses):
            if (self._taylor.counted < losses.stop).any():
                add_up_to(self._taylor, losses.kept, losses.stop, self._link)
            if self._is_exact(delta, losses):  # longer arms may have come
                self._saved += losses.observations
                return gradient_near(self._taylor, delta)
        self._passed += losses.observations
        self._is_outgrown = True
        return None

    def end_update(self, model: Floats, observations: int) -> None:
        """Take the model of an update that has ended as the next centre, if the last one is outgrown and it pays.

        What the last centre has saved is the best guess at what the next one will. Together with the passes that were
        made since, it must be worth some times what the sums cost.
        """
        price = PATIENCE * TERM_COST * self._taylor.sums.size * observations
        if self._is_outgrown and self._passed + self._saved >= price:
            begin_anew(self._taylor, model)
            self._has_centre = True
            self._passed = self._saved = 0
        self._is_outgrown = False

    def _is_exact(self, delta: Floats, losses: Losses) -> bool:
        rounding = ROUNDING * math.sqrt(losses.observations)
        return rest(self._taylor, self._link, self._share, losses.gram, delta) + rounding <= EXACT * losses.smallest
