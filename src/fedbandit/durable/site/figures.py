"""What can be seen of a site that remembers what happens to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedbandit.core.arrays import Floats
from fedbandit.core.interfaces import Clients
from fedbandit.core.releases import Privacy
from fedbandit.durable.site.life import SiteLife
from fedbandit.durable.site.outbox import Refused
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire.state import encode_state


class SiteFigures:
    """A site to look at."""

    life: SiteLife

    @property
    def agreed(self) -> Agreed:
        """Return what the federation has agreed on with its revisions, as far as this site has heard."""
        return self.life.agreed

    @property
    def charter(self) -> Charter:
        """Return what the federation has agreed on, as far as this site has heard."""
        return self.life.agreed.charter

    @property
    def revisions(self) -> int:
        """Return how many revisions of what it first agreed on the site has taken up."""
        return self.life.agreed.count

    @property
    def form(self) -> int:
        """Return the form in which sums are: see `protocol.forms`."""
        return self.life.node.form

    @property
    def side(self) -> Clients:
        """Return the client side of the algorithm."""
        return self.life.side

    @property
    def deciding(self) -> Any:
        """Return the state by which the site decides: what it has learnt, or a policy's."""
        return self.life.deciding

    def as_they_were(self, vectors: Floats, form: int) -> Floats:
        """Return arms of today with the features that an earlier form of the sums had."""
        return self.life.node.as_they_were(vectors, form)

    @property
    def draws(self) -> int:
        """Return how many standard normals a choice needs."""
        return self.life.side.draws

    def encoded_state(self) -> bytes:
        """Return what the algorithm has learnt, as bytes."""
        return encode_state(self.life.side.without_secrets(self.life.node.state))

    @property
    def warnings(self) -> Sequence[str]:
        """Return what whoever runs the site should know and act on, as far as the algorithm says."""
        return self.life.node.warnings

    @property
    def privacy(self) -> Privacy | None:
        """Return what the site's releases have told of any of its observations; None where nothing is promised."""
        return self.life.side.privacy(self.life.node.state, 0)

    @property
    def opening(self) -> int:
        """Return the number that the site got when it was opened: greater than those of all openings before."""
        return self.life.decisions.life

    @property
    def issued(self) -> int:
        """Return how many decisions the site has made, in all its lives."""
        return sum(self.life.decisions.issued.values())

    @property
    def pending(self) -> int:
        """Return how many decisions await their reward."""
        return len(self.life.decisions.pending)

    def is_pending(self, decision: str) -> bool:
        """Tell whether a decision has not been learnt from, and has not ended."""
        return decision in self.life.decisions.pending

    @property
    def past(self) -> tuple[str, int]:
        """Return the log that was learnt from before the first decision, and how many of its rows; "" without one."""
        return self.life.past

    @property
    def unsent(self) -> int:
        """Return how many uploads the coordinator has not acknowledged."""
        return len(self.life.outbox.frames)

    @property
    def refused(self) -> Sequence[Refused]:
        """Return the uploads that were refused for good, the last ones, in the order in which that was told."""
        return self.life.outbox.refused

    @property
    def refusals(self) -> int:
        """Return how many uploads were refused for good, with those that are kept no longer."""
        return self.life.outbox.forgotten + len(self.life.outbox.refused)

    @property
    def last_upload(self) -> tuple[int, int]:
        """Return the epoch of uploads, and the number of the last."""
        return self.life.last_upload

    @property
    def last_download(self) -> tuple[int, int]:
        """Return the epoch and the number of the last download, (0, 0) before the first."""
        return self.life.version

    @property
    def version(self) -> int:
        """Return the number of the last download, 0 before the first."""
        return int(self.life.node.received[0])
