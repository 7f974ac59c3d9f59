"""Bugs that a federation which changes can have. Each is a node with one thing wrong; revised runs must see it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fedbandit.algorithms.linear.shared.messages import Sums
from fedbandit.durable.coordinator.outcome import Judged, Outcome, Verdict
from fedbandit.durable.coordinator.record import revised
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.site.client import DurableClient
from fedbandit.durable.site.events import Revised
from simulation.planted import Planted


class RevisionAppliedBeforeItIsJournalled(DurableServer):
    """Sites are told of a change at once; it is written down when they have been."""

    late = None

    def revise(self, made, retuned, now):
        self.late = revised(now, self._next(made.charter, retuned, made.places).text, retuned.text)
        self._take_in(self.late)
        for client in self.accounts.epochs:
            self._tell_charter(client)

    def commit(self):
        frames = super().commit()
        if self.late is not None:
            self._append(self.late)
            self.late = None
        return frames


class UploadOfAnEarlierFormMergedTwice(DurableServer):
    """What has to be carried over is not looked up among what was taken in before."""

    def _upload(self, frame, now):
        if frame.form == self.node.form:
            return super()._upload(frame, now)
        self._touched.setdefault((frame.client, frame.epoch), 0)
        upload = self.validation.open(frame, self.clock)
        return Judged(Verdict(Outcome.ACCEPTED), is_news=True, upload=upload)


def in_their_old_places(sums, size):
    """Cut sums off, or lengthen them, at their end, whatever was added or removed where."""
    pads = [(0, 0), *[(0, max(0, size - length)) for length in sums.shape[1:]]]
    return np.pad(sums, pads)[(slice(None), *[slice(size)] * (sums.ndim - 1))]


class UploadOfAnEarlierFormMergedAsItIs(DurableServer):
    """Features keep their places in uploads from before a change."""

    def _recover(self, epoch):
        super()._recover(epoch)
        carried_over = self.node.carried_over

        def untranslated(envelope):
            if envelope.form == self.node.form or not isinstance(envelope.message, Sums):
                return carried_over(envelope)
            size, message = self.charter.setting.dimension, envelope.message
            moved = {name: in_their_old_places(getattr(message, name), size) for name in ("gram", "moment")}
            return replace(envelope, message=replace(message, **moved), form=self.node.form)

        self.node.carried_over = untranslated


class RevisionNotInTheStore(DurableClient):
    def _append(self, event, *, keep=False):
        return 0 if isinstance(event, Revised) else super()._append(event, keep=keep)


class DecisionsKeepTheirOldFeatures(DurableClient):
    """What awaits its reward is learnt from with its first features, or those that then stand in their places."""

    def _hear_charter(self, body):
        before = {name: each.features for name, each in self.life.decisions.pending.items()}
        super()._hear_charter(body)
        size = self.charter.setting.dimension
        for name, features in before.items():
            longer = np.pad(features, [*[(0, 0)] * (features.ndim - 1), (0, max(0, size - features.shape[-1]))])
            self.life.decisions.pending[name].features = longer[..., :size]


PLANTED_REVISIONS = [
    Planted(RevisionAppliedBeforeItIsJournalled, seed=24),
    Planted(UploadOfAnEarlierFormMergedTwice, seed=2),
    Planted(UploadOfAnEarlierFormMergedAsItIs, seed=1),
    Planted(RevisionNotInTheStore, seed=1),
    Planted(DecisionsKeepTheirOldFeatures, seed=4),
]
