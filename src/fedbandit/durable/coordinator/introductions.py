"""What sites tell of themselves when they ask: their charter, their life, their backlog. Held in memory alone.

A site introduces itself whenever it connects and every half minute, so a coordinator that was started again soon knows
all of them. Sites of 0.1.0 do not tell their charter, and are believed.
"""

from __future__ import annotations

from fedbandit.core.errors import ProtocolError
from fedbandit.core.seconds import HOUR
from fedbandit.durable.coordinator.concerns import Concerns
from fedbandit.durable.coordinator.validation import NotYet
from fedbandit.protocol.charter import NEEDLESS_SIZES
from fedbandit.protocol.revisions import Agreed, Former, count_of
from fedbandit.wire.frame import Frame
from fedbandit.wire.question import Question

KEPT_EPOCHS = 16  # of a site: those it asked in last
MOST_UNAWARE = 10_000
_UNAWARE = "the site has the charter of today, but has yet to hear which revision that is: send it again then"


class AskFirst(NotYet):
    """The upload is right, but the coordinator does not know its sender: the site is to ask, and to send it again."""


class NumberTaken(ProtocolError):
    """Another upload was taken in under the same number."""


class Introductions:
    """Who has introduced itself."""

    def __init__(self, agreed: Agreed, concerns: Concerns) -> None:
        """Take what all sites must have agreed on, and where to tell of those that have not."""
        self.agreed = agreed
        self._concerns = concerns
        self.backlogs: dict[int, int] = {}  # by site: uploads that it had unacknowledged when it last asked
        self._told: dict[int, dict[int, str]] = {}  # by site and epoch: what differs from this charter, if anything
        self._lives: dict[int, tuple[int, int]] = {}  # by site: the life before, and the last
        self._unaware: dict[tuple[int, int], None] = {}  # sites and epochs in which uploads named no form at first

    def ask(self, frame: Frame, now: float) -> bool:
        """Note what a site tells of itself; return whether it has another charter, and needs to hear this one.

        One that has a former revision is behind, which is nobody's mistake.
        """
        client, question = frame.client, frame.question
        self.backlogs[client] = question.waiting
        is_other = self._compare_charters(client, question, now)
        before, last = self._lives.get(client, (-1, -1))
        if question.mark != last:
            self._lives[client] = last, question.mark
            if question.mark == before:
                self.note_two(client, now)
        return is_other

    def known(self) -> set[int]:
        """Return the sites that have asked since the coordinator was started."""
        return set(self._lives)

    def note_two(self, client: int, now: float) -> str:
        """Raise the concern that two sites have one number; return it in words."""
        text = (
            f"two sites use number {client}: give each site a number of its own, and open a store in one process "
            "at a time, never a copy of it"
        )
        self._concerns.note("two-sites-one-number", text, now, client, lasts=HOUR)
        return text

    def require(self, frame: Frame, *, is_known: bool) -> None:
        """Refuse, for now, an upload of a site that has another charter, or has not told it in a new epoch.

        A site asks in its last epoch, and sends what it has of earlier ones too.
        """
        told = self._told.get(frame.client, {})
        later = [epoch for epoch in told if epoch >= frame.epoch]
        if later and told[min(later)]:
            raise NotYet(told[min(later)])
        if not frame.form and (frame.client, frame.epoch) in self._unaware:
            raise NotYet(_UNAWARE)
        if not later and not is_known and not frame.is_old:
            raise AskFirst(f"site {frame.client} has not introduced itself in epoch {frame.epoch}: ask first")

    def _compare_charters(self, client: int, question: Question, now: float) -> bool:
        epoch = question.epoch
        is_behind = Former(question.revision, question.fingerprint, question.features) in self.agreed.former
        differences = [] if is_behind else self._differences(question)
        is_unaware = not (is_behind or differences or question.revision) and bool(self.agreed.revision)
        if is_unaware and self.agreed.forms and question.fingerprint:
            self._unaware[client, epoch] = None
            if len(self._unaware) > MOST_UNAWARE:
                del self._unaware[next(iter(self._unaware))]
        matter = [each for each in differences if each != NEEDLESS_SIZES]
        text = f"site {client} has {' and '.join(differences)} than this federation: open it with the federation's"
        if matter:
            text += "; until then its uploads wait at the site"
        told = self._told.setdefault(client, {})
        told.pop(epoch, None)
        told[epoch] = text if matter else ""
        if len(told) > KEPT_EPOCHS:
            del told[next(iter(told))]
        if differences:
            self._concerns.note("another-charter", text, now, client)
        else:
            self._concerns.clear("another-charter", client)
        return bool(matter) or is_behind or is_unaware

    def _differences(self, question: Question) -> list[str]:
        """Return how the charter of a site that is not one of a former revision differs from this one, in words."""
        if question.revision not in (0, self.agreed.revision):
            return [f"another revision of the charter ({count_of(question.revision)}, here {self.agreed.count})"]
        charter = self.agreed.charter
        return charter.differences(question.fingerprint, question.features) if question.fingerprint else []
