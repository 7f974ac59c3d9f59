"""Bugs of private sites that would tell their data, each in the part where somebody could make it."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np

from fedbandit.algorithms.linear.shared.private_messages import Prefix
from fedbandit.durable.site.client import DurableClient
from fedbandit.durable.site.life import SiteLife
from fedbandit.simulation.faults.drawn_noise import DrawnNoise
from fedbandit.wire import decode, encode
from fedbandit.wire.frame import Frame, Kind


class FreshNoiseOnResend(DurableClient):
    """What is sent again is noised again."""

    def resend(self):
        return [self._noised_again(data) for data in super().resend()]

    def _noised_again(self, data):
        frame = Frame.from_bytes(data)
        message = decode(frame.body) if frame.kind is Kind.UPLOAD else None
        if not isinstance(message, Prefix):
            return data
        size = message.gram.shape[-1]
        more = np.rint(self.noise.normals(size) * 1000) * 2.0**-20
        return replace(frame, body=encode(replace(message, gram=message.gram + np.diag(more)))).to_bytes()


class GoesOnAfterRestore(DurableClient):
    """A restored site goes on with its stream and the noise in its store, as sites without noise may."""

    def _go_on(self, *, begin_anew):
        super()._go_on(begin_anew=False)

    def _is_behind_its_mark(self):
        return False


class SeededNoise(DurableClient):
    """Noise comes from a seed: every life of a site draws the same."""

    def __init__(self, charter, number, *, noise, **more):
        super().__init__(charter, number, noise=DrawnNoise(seed=number), **more)


class KeepsUnreleased(DurableClient):
    """A restored site begins a new stream with all that it has not released, which its lost life may have."""

    def _recovered(self, heir=0, begin_anew=False):
        begin = SiteLife.begin_epoch

        def keeping(life, epoch, *, anew):
            old = life.node.state
            begin(life, epoch, anew=anew)
            new, kept = life.node.state, np.rint(np.diagonal(old.gram[0] - old.released_gram[0]))
            if anew:
                new.gram[0] += np.diag(kept)
                new.observations += int(kept.sum())
                new.fresh += int(kept.sum())

        with patch.object(SiteLife, "begin_epoch", keeping):
            return super()._recovered(heir, begin_anew)


class NoiseNotWrittenDown(DurableClient):
    """Noise is drawn when it is needed, and the journal does not say which: who goes on from it draws other."""

    def _supply(self):
        self.life.supply(self.noise)

    def _repeat(self, life, event, position):
        life.supply(self.noise)
        super()._repeat(life, event, position)
