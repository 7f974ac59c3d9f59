"""A site, without input or output: what it has learnt and has yet to send survives restarts.

Every event is written to the journal and taken in; `commit` syncs the journal and returns what may now leave. An upload
stays in the outbox until the coordinator has acknowledged it, and `resend` sends it as often as is asked for.

A site that goes on from its journal goes on with its epoch and its numbers. But a journal may be an old backup: then
numbers that it has not given were given before. So uploads under numbers given since the site was opened are held back
until the coordinator has told what it has. If it has a number that the site never gave, or if whoever opens the site
says that it was restored, the site asks the coordinator to close the old epoch at the first such number n, and goes on
in a new epoch. If n had been taken in before, then all that the backup held unsent was in it, and the site begins
anew, with what has happened since it was opened; the coordinator's next download brings back what it had learnt.

A number that the site never gave may also appear later. Then another process has a copy of the store, or an upload of
a lost life came late. What the site has not sent by then is left to that process, which may have it too; what the
site learns from then on goes into a new epoch. If both gave the number, the other's acknowledgement looks like the
site's own, so it still sends an upload that was acknowledged unsent, and remembers the uploads that were acknowledged
last, in case they are refused.

Two gaps are left. An old backup of which nobody tells, while the coordinator has not heard of the lost life: a number
may be given again. The coordinator remembers digests of the last uploads, so whichever of the two comes second is
refused and kept aside (`Outbox.refused`), an operator is told, and the site goes on in a new epoch. A backup from the
time between an opening and the coordinator's word: what it held may be lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from fedbandit.core.drawn import Drawn
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.durable.audit import Audit
from fedbandit.durable.site.audit import audit_frames
from fedbandit.durable.site.events import Checked, Doubled, Drew, Heard, Revised, Ticked
from fedbandit.durable.site.freezing import FreezingSite
from fedbandit.protocol.charter_fields import disagreement
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind, Standing, with_numbers


class DurableClient(FreezingSite):
    """One site of a federation."""

    draw: Callable[[int], bytes] = staticmethod(os.urandom)  # what its keys are made of

    def tick(self, epoch: int) -> None:
        """Hear which epoch it is, where the federation forgets; one that is not later changes nothing."""
        node = self.life.node
        if node.clock is not None and epoch > node.clock:
            node.tick(epoch)
            self._append(Ticked(epoch))

    def audit(self) -> Audit:
        """Return what is still here of all that the site has sent, or is about to, decoded."""
        frames = self.life.outbox.all_kept(self.number)
        return audit_frames(self.life.agreed, frames, self.life.last_upload[1])

    def receive(self, data: bytes) -> None:
        """Take in a frame from the coordinator; raise ProtocolError, and change nothing, if it is not a right one."""
        frame = Frame.from_bytes(data)
        if frame.client != self.number or frame.sequence > LARGEST_NUMBER:
            raise ProtocolError(f"a frame for site {frame.client} with number {frame.sequence} came to {self.number}")
        if frame.kind is Kind.DOWNLOAD and not self.life.node.knows(frame.form):
            self._must_ask = True  # for the revision that this site has not heard of
        elif frame.kind in (Kind.DOWNLOAD, Kind.RENEWED):
            drawn = self._drawn(frame)
            if self._hear(self.life, frame, drawn):
                self._append(Drew.of(data, drawn) if drawn is not None and drawn.vouched else Heard(data))
                self.refusal = ""
        elif frame.kind is Kind.ACKNOWLEDGEMENT:
            unsent = self.life.outbox.unsent(frame.epoch)
            if self._hear(self.life, frame):
                self._append(Heard(data))
                self.refusal = ""
                self._not_meant += [each for key, each in unsent.items() if key not in self.life.outbox.frames]
            self._compare(frame.epoch, *frame.numbers)
        elif frame.kind is Kind.REFUSAL:
            for_good, reason = frame.verdict
            if frame.standing is Standing.ASK_FIRST:
                self._must_ask = True
                self._asked_for |= {(frame.epoch, frame.sequence)} & self.life.outbox.frames.keys()
            elif not for_good:
                self.refusal = reason
            else:
                was_settled = (frame.epoch, frame.sequence) not in self.life.outbox.frames
                if self._hear(self.life, frame):
                    self._append(Heard(data))
                    if was_settled:  # a snapshot that was taken since then has it no more
                        self.save()
        elif frame.kind is Kind.CLOSED:
            if self.is_closing and (frame.epoch, frame.sequence) == self.unchecked:
                self._closed(frame)
        elif frame.kind is Kind.CHARTER:
            self._hear_charter(frame.body)
        else:
            raise ProtocolError(f"a coordinator may not send a frame of kind {frame.name}")

    def commit(self) -> list[bytes]:
        """Make all that has happened safe; return what may now be sent for the first time."""
        self._sync()
        asked = [self.life.question(self.life.node.epoch).to_bytes()] if self._must_ask else []
        self._must_ask = False
        not_meant, self._not_meant = self._not_meant, []
        return asked + not_meant + self.life.outbox.take_new(self.unchecked)

    def resend(self) -> list[bytes]:
        """Return all that the coordinator may lack, and a question for what the site may lack.

        While uploads of an epoch that the site has left still wait, another question tells what of that epoch was
        acknowledged: else a coordinator that went back in time would wait for ever for the numbers before.
        """
        not_meant = self._not_meant
        self.commit()
        present = self.life.node.epoch
        left = dict.fromkeys(epoch for epoch, _ in self.life.outbox.frames if epoch != present)
        frames = [self.life.question(epoch).to_bytes() for epoch in (*left, present)]
        if self.is_closing and self.unchecked is not None:
            frames.append(with_numbers(Kind.CLOSE, self.number, *self.unchecked, self._heir()).to_bytes())
        return frames + not_meant + self.life.outbox.unacknowledged(self.unchecked)

    @property
    def has_news(self) -> bool:
        """Tell whether there is something to send for the first time."""
        return self._must_ask or bool(self._not_meant) or bool(self.life.outbox.new)

    def _drawn(self, frame: Frame) -> Drawn | None:
        """Return random bytes for the answer to a download, where that has keys; refuse one that is not to be heard."""
        life = self.life
        if not life.side.secret_bytes or frame.kind is not Kind.DOWNLOAD:
            return None
        if self.identity is None:
            raise ProtocolError("this site has no certificate to sign its keys with: connect it with credentials")
        if (frame.epoch, frame.sequence) > life.version:
            life.side.check(life.node.state, life.schema_of(frame).open(frame.body), self.identity)
        return Drawn(self.draw(life.side.secret_bytes), identity=self.identity)

    def _compare(self, epoch: int, top: int, mark: int) -> None:
        """See from an acknowledgement whether the coordinator has numbers that this site has never given."""
        last = self.life.last_upload
        first = (last[0], last[1] + 1) if self.unchecked is None else self.unchecked
        if epoch == first[0] and top >= first[1]:
            if self.unchecked is None:
                self._note_doubled(self.life, self._append(Doubled()))
            self.is_closing = True
        elif epoch == first[0] and self.unchecked and mark == self.life.decisions.life and not self.is_closing:
            self.unchecked = None
            self._append(Checked())
        if mark == self.life.decisions.life:  # the coordinator knows this site now
            self.disagreement = self.disagreement if self._was_told else ""
            self._was_told = False
            self.life.outbox.send_again(self._asked_for)
            self._asked_for.clear()

    def _hear_charter(self, body: bytes) -> None:
        """Hear what the federation has agreed on: take up a later revision, and compare anything else.

        A coordinator tells it to all when it changes, and to whoever has something else. The revision is in the journal
        before anything that rests on it, as are all events.
        """
        text = body.decode(errors="replace")
        try:
            agreed = Agreed.from_text(text)
            if agreed.follows(self.life.agreed) or agreed.has_charter_of(self.life.agreed):
                self.life.revise(agreed)
                self._append(Revised(text))
                self._next_end = 0.0  # decisions may end sooner now
                self._must_ask = True  # so that the coordinator knows that it is heard
        except InvalidInput as error:
            raise ProtocolError(f"the charter of the federation is not known here: {error}") from None
        lost = self.life.agreed.lost_by(agreed)
        self.disagreement, self._was_told = lost or disagreement(self.charter, agreed.charter), True

    def _heir(self) -> int:
        return max(self.life.decisions.life, self.life.node.epoch + 1, self._newest_heir + 1)

    def _closed(self, frame: Frame) -> None:
        """Take in that an epoch is closed. If the coordinator knows a later heir of it, an even later one is needed."""
        heir, was_taken_in, top = frame.numbers
        if heir == self._heir():
            is_mixed = self._restored_at > self._unchecked_at and top >= frame.sequence
            self._go_on(begin_anew=bool(was_taken_in or is_mixed or self.life.needs_noise))
        elif heir > self._heir():
            self._newest_heir = heir

    def _go_on(self, *, begin_anew: bool) -> None:
        """Go on in a new epoch, from what the journal was when the site was opened, with what has happened since.

        If all that is unsent is the site's own, what was held back is sent in the new epoch.
        """
        assert self.unchecked is not None
        if self.journal is None and self.life.needs_noise:
            self.life.outbox.drop(*self.unchecked)
            self.life.begin_epoch(self._heir(), anew=True)
        elif self.journal is None:
            self.life.renumber(self.unchecked[1], self._heir())
        else:
            self.journal.sync()
            closed = self.life.closed
            self.life = self._recovered(self._heir(), begin_anew)
            self.life.closed = closed
        self.unchecked, self.is_closing = None, False
        self._supply()
        self.save()
