"""The part of a site's life that hides what it releases: it takes in noise when that is drawn, and in recovery."""

from __future__ import annotations

from fedbandit.durable.site.events import Noised
from fedbandit.durable.site.frozen_life import FrozenLife
from fedbandit.durable.site.release_mark import Marked
from fedbandit.durable.site.release_noise import NoiseSource


class NoisedLife(FrozenLife):
    """A site that may need noise before it releases anything."""

    @property
    def releases(self) -> Marked | None:
        """Return the stream and the number of the last release; None of a site that needs no noise."""
        if not self.needs_noise:
            return None
        told = self.side.releases(self.node.state, 0)
        return Marked(told.stream, told.made)

    def supply(self, source: NoiseSource) -> Noised | None:
        """Draw noise for the next release if there is none; return what the journal is to say of it."""
        if not self.needs_noise or not self.side.lacks_noise(self.node.state).size:
            return None
        told = self.side.releases(self.node.state, 0)
        stream = told.stream if told.drawn else source.stream()
        noised = Noised(source.normals(self.side.noise_size), stream, told.drawn + 1)
        self.take_noise(noised)
        return noised

    def take_noise(self, noised: Noised) -> None:
        """Take in noise that is for this stream; what was drawn for one that was left is never used."""
        told = self.side.releases(self.node.state, 0)
        if noised.release == told.drawn + 1 and (not told.drawn or noised.stream == told.stream):
            self.side.take_noise(self.node.state, 0, noised.normals, noised.stream)
