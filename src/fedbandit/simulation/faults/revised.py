"""Faulty runs of federations that change: at random moments thresholds, the ridge and the features are others.

Which features of a turn there are depends on what its site has heard of: those that were added have values of their
own. The first so many features may be removed, and those that were added; the others mark turns, and stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.randomness import stream
from fedbandit.durable.coordinator.retuning import Retuned
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.changing import changed
from fedbandit.protocol.forms import Forms
from fedbandit.simulation.faults.run import FAULTS, FaultyRun

REVISIONS = {"revise": 1.0}
MOST_ADDED = 6


@dataclass
class RevisedRun(FaultyRun):
    """A run in which the charter is revised now and then."""

    faults: dict[str, float] = field(default_factory=lambda: FAULTS | REVISIONS)
    removable: int = 0  # of the first features
    thresholds: tuple[dict[str, float], ...] = ()  # values that may be given

    def offered(self, turn: int, node: DurableClient) -> Floats:
        """Return the arms of a turn with the features that the site knows of; those that were added have values too."""
        forms = Forms(node.agreed)
        features = super().offered(turn, node)
        fitted = forms.fitted(features, 0)
        is_new = forms.fitted(np.ones_like(features), 0)[0, 0] == 0.0
        values = stream(self.seed, "added", turn, node.form).integers(-16, 17, fitted.shape) / 16
        return np.where(is_new, values, fitted)

    def _revise(self) -> None:
        node = self.coordinator.node
        if node is None:
            return
        values = self._values(Forms(node.agreed), node.charter.setting.dimension)
        self.attempt(self.coordinator, lambda: node.revise(changed(node.charter, values), Retuned(), self.now))

    def _values(self, forms: Forms, dimension: int) -> dict[str, Any]:
        """Return something to change."""
        first = self.charter.setting.dimension
        places = forms.fitted(np.arange(1.0, first + 1.0)[np.newaxis], 0)[0]
        removable = np.flatnonzero((places == 0.0) | (places <= self.removable)).tolist()
        wanted: list[dict[str, Any]] = [*self.thresholds, {"ridge": float(2.0 ** -self._pick(4))}]
        if (places == 0.0).sum() < MOST_ADDED:
            wanted += 2 * [{"dimension": dimension + 1 + self._pick(2)}]
        if removable:
            drop = str(removable[self._pick(len(removable))])
            wanted += [{"drop": drop}, {"drop": drop}, {"drop": drop, "dimension": dimension}]
        return wanted[self._pick(len(wanted))]
