"""What sites tell of themselves when they ask: their charter, their life, their backlog. Held in memory alone.

A site introduces itself whenever it connects and every half minute, so a coordinator that was started again soon knows
all of them. Sites of 0.1.0 do not tell their charter, and are believed.
"""

from __future__ import annotations

from fedbandit.core.errors import ProtocolError
from fedbandit.durable.concerns import Concerns
from fedbandit.durable.validation import NotYet
from fedbandit.protocol.charter import NEEDLESS_SIZES, Charter
from fedbandit.wire.frame import Frame

HOUR = 3600.0


class AskFirst(NotYet):
    """The upload is right, but the coordinator does not know its sender: the site is to ask, and to send it again."""


class NumberTaken(ProtocolError):
    """Another upload was taken in under the same number."""


class Introductions:
    """Who has introduced itself."""

    def __init__(self, charter: Charter, concerns: Concerns) -> None:
        """Take what all sites must have agreed on, and where to tell of those that have not."""
        self._charter = charter
        self._concerns = concerns
        self.backlogs: dict[int, int] = {}  # by site: uploads that it had unacknowledged when it last asked
        self._introduced: dict[int, int] = {}  # by site: the highest epoch that it asked in, with this charter
        self._strange: dict[int, tuple[int, str]] = {}  # by site: an epoch of another charter, and what differs
        self._lives: dict[int, tuple[int, int]] = {}  # by site: the life before, and the last

    def ask(self, frame: Frame, now: float) -> None:
        """Note what a site tells of itself."""
        client, question = frame.client, frame.question
        self.backlogs[client] = question.waiting
        self._compare_charters(client, question.epoch, question.fingerprint, now)
        before, last = self._lives.get(client, (-1, -1))
        if question.mark != last:
            self._lives[client] = last, question.mark
            if question.mark == before:
                self.note_two(client, now)

    def note_two(self, client: int, now: float) -> str:
        """Raise the concern that two sites have one number; return it in words."""
        text = (
            f"two sites use number {client}: give each site a number of its own, and open a store in one process "
            "at a time, never a copy of it"
        )
        self._concerns.note("two-sites-one-number", text, now, client, lasts=HOUR)
        return text

    def require(self, frame: Frame) -> None:
        """Refuse, for now, the first upload of an epoch whose site has not told the right charter."""
        epoch, difference = self._strange.get(frame.client, (-1, ""))
        if epoch == frame.epoch:
            raise NotYet(difference)
        if not frame.is_old and self._introduced.get(frame.client, -1) < frame.epoch:
            raise AskFirst(f"site {frame.client} has not introduced itself in epoch {frame.epoch}: ask first")

    def _compare_charters(self, client: int, epoch: int, fingerprint: int, now: float) -> None:
        differences = self._charter.differences(fingerprint) if fingerprint else []
        matter = [each for each in differences if each != NEEDLESS_SIZES]
        if not matter:
            self._introduced[client] = max(epoch, self._introduced.get(client, -1))
            self._strange.pop(client, None)
        if not differences:
            self._concerns.clear("another-charter", client)
            return
        text = f"site {client} has {' and '.join(differences)} than this federation: open it with the federation's"
        if matter:
            text += "; until then its uploads wait at the site"
            self._strange[client] = epoch, text
        self._concerns.note("another-charter", text, now, client)
