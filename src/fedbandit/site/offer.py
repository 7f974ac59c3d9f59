"""What an application offers at a decision: checked, and where there are features made into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.checked_input import InputCheck, checked_limits
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.forms import Forms
from fedbandit.protocol.revisions import Agreed
from fedbandit.site.decision import check_ids

if TYPE_CHECKING:
    from fedbandit.features.features import Features, Values


class Offers:
    """Reads what is on offer.

    >>> from fedbandit.core.algorithm import Setting
    >>> offers = Offers(Charter.named("async-linucb", Setting(1, 1, 2, 1)), Bounds(context=1.0, reward=1.0))
    >>> offers.read([[1, 0], [0, 1]], ["red", "blue"], None)[1]
    ['red', 'blue']
    """

    def __init__(
        self, charter: Charter, bounds: Bounds, features: Features | None = None, forms: Forms | None = None
    ) -> None:
        """Take what the federation has agreed on, the limits of vectors and rewards, and the features if any.

        Vectors may have any of the `forms`, as far as their lengths tell them apart.
        """
        self.check = InputCheck(charter.algorithm, charter.setting.dimension, bounds, forms)
        self._arms = charter.setting.arms  # where they share a context
        self.features = features
        if features is not None and bounds.context < 1:
            raise InvalidInput(
                f"limits['context'] is {bounds.context:g}, but vectors of features have lengths up to 1: give 1"
            )

    def revised(self, agreed: Agreed) -> Offers:
        """Return what reads by a later revision of the charter, with the limits that it tells."""
        charter = agreed.charter
        return Offers(charter, checked_limits(charter.limits), self.features, Forms(agreed))

    def read(self, arms: Any, ids: Sequence[Any] | None, context: Values | None) -> tuple[Floats, Sequence[Any] | None]:
        """Return the vectors of a turn and the ids of its arms."""
        features = self.features
        if features is not None:
            offer = features.encode(context, arms)[np.newaxis]  # new, finite and at most of length 1 by construction
            ids = features.arm_names if ids is None else ids
        elif context is not None:
            raise InvalidInput("context is for sites with features: give them, or hand in arms as vectors alone")
        else:
            offer = self.check.offer(arms)
        if ids is not None:
            check_ids(ids, self.arms_in(offer))
        return offer, ids

    def arms_in(self, offer: Floats) -> int:
        """Return how many arms the vectors of a turn stand for."""
        return self._arms if offer.ndim == 2 else offer.shape[1]
