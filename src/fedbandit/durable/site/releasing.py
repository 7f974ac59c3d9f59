"""A site that writes down what happens to it, and never releases what is not hidden, or hidden twice.

Noise is drawn for the next release as soon as the last one is made, and written to the journal like all that happens.
`commit` syncs the journal, then writes how far the releases have come beside it, and only then lets anything leave.
"""

from __future__ import annotations

from fedbandit.durable.journals.journal import Journal
from fedbandit.durable.site.decisions import Closed
from fedbandit.durable.site.events import Event, Logged
from fedbandit.durable.site.figures import SiteFigures
from fedbandit.durable.site.life import SiteLife
from fedbandit.durable.site.release_mark import Marked, ReleaseMark
from fedbandit.durable.site.release_noise import NoiseSource
from fedbandit.wire.state import encode_state


class ReleasingSite(SiteFigures):
    """The part of a site that appends to its journal."""

    life: SiteLife
    journal: Journal | None
    noise: NoiseSource
    mark: ReleaseMark | None
    is_closing: bool
    _since_snapshot: int
    _marked: Marked | None = None

    def take_closed(self) -> list[Closed]:
        """Return the decisions that were closed since this was last asked.

        At first these are all of which the journal does not say that the log of decisions has them.
        """
        closed, self.life.closed = self.life.closed, []
        return closed

    def logged(self) -> None:
        """Write down that the log of decisions has all that was closed."""
        self._append(Logged())

    def flush(self) -> None:
        """Make all that has happened safe from the end of this process, without waiting for the disk."""
        if self.journal is not None:
            self.journal.flush()

    def _append(self, event: Event, *, keep: bool = False) -> int:
        position = self._write(event, keep=keep)
        if self.life.needs_noise:
            self._supply()
        return position

    def _write(self, event: Event, *, keep: bool = False) -> int:
        if self.journal is None:
            return 0
        self._since_snapshot += 1
        return self.journal.append(encode_state(event), keep=keep)

    def _supply(self) -> None:
        """Draw noise for the next release, if there is none yet, and write it down."""
        noised = self.life.supply(self.noise)
        if noised is not None:
            self._write(noised)

    def _is_behind_its_mark(self) -> bool:
        """Tell whether the store is known to be an old one, or a copy, by what stands beside it."""
        made = self.life.releases
        if made is None or self.mark is None or not self.life.node.epoch:
            return False
        marked = self.mark.read()
        return marked is None or marked.stream != made.stream or marked.release > made.release

    def _sync(self) -> None:
        """Make all that has happened safe from a power cut, and then say beside it which releases may leave."""
        if self.journal is not None:
            self.journal.sync()
        made = self.life.releases
        if made is None or self.mark is None or self.is_closing:  # a restored store would move the mark back
            return
        if made != self._marked:
            self.mark.write(made)
            self._marked = made
