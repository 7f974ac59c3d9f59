"""What a site predicts of its choices, to be compared with their rewards when these come."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fedbandit.core.arrays import Floats
from fedbandit.core.interfaces import Decided
from fedbandit.durable.site.frozen_life import WHO
from fedbandit.durable.site.journalled import JournalledSite
from fedbandit.logs.watching import Watch

if TYPE_CHECKING:
    from fedbandit.features.features import Features

SPARE = 1000  # predictions of decisions that have ended, before they are looked for


class Predictions:
    """Keeps the predictions of pending decisions in memory; of those from before the site was opened it knows none."""

    def __init__(self, node: JournalledSite, features: Features | None) -> None:
        """Take the site that decides."""
        self.watch = Watch(features)
        self._node = node
        self._made: dict[str, float] = {}

    def of(self, offer: Floats, decided: Decided) -> float | None:
        """Return the mean reward that the model gives a choice; None where it has no such model."""
        found = decided.expected
        if found is None:
            found = self._node.side.predicted(self._node.deciding, WHO, offer, decided.choices)
        predicted = math.nan if found is None else float(found[0])
        return predicted if math.isfinite(predicted) else None

    def chose(self, name: str, predicted: float | None, propensity: float | None, arms: int) -> tuple[str, ...]:
        """Note a decision; return what calls for attention from now on."""
        if predicted is not None:
            self._made[name] = predicted
            if len(self._made) > SPARE and len(self._made) > SPARE + 2 * self._node.pending:
                made = self._made.items()
                self._made = {each: value for each, value in made if self._node.is_pending(each)}
        return self.watch.chose(propensity, arms)

    def learnt(self, name: str, reward: float) -> tuple[str, ...]:
        """Note a reward; return what calls for attention from now on."""
        return self.watch.learnt(self._made.pop(name, None), reward)
