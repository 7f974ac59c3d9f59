"""The coordinator of one federation, without input or output: a server node that forgets nothing it has acknowledged.

    receive   a frame is checked, written to the journal (not yet synced) and taken in
    commit    the journal is synced: acknowledgements and downloads may leave; one sync for many uploads. It is `seal`
              and `make_safe`, between which more may be received
    maintain  a snapshot, if one is due: the journal before it is no longer needed. It is `take_snapshot` and
              `storing`, between whose steps more may be received too

What a site shows of a time that the journal knows nothing of is dealt with in `durable.coordinator.renewal`.
"""

from __future__ import annotations

from fedbandit.core.arrays import Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.core.seconds import DAY
from fedbandit.durable.coordinator.closing import judge_closing
from fedbandit.durable.coordinator.crash_guard import tell_of_aside
from fedbandit.durable.coordinator.introductions import AskFirst, NumberTaken
from fedbandit.durable.coordinator.many_uploads import ManyUploads
from fedbandit.durable.coordinator.outcome import ACCEPTED, NEWS, REPEATED, Judged, Outcome, Verdict
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord, renewed
from fedbandit.durable.coordinator.renewal import new_epoch
from fedbandit.durable.coordinator.validation import NotYet, observations_in
from fedbandit.durable.coordinator.writing import Sealed
from fedbandit.wire.digests import fold
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind, number_taken, refusal, with_numbers

LONG_WAY = 100  # records


class DurableServer(ManyUploads):
    """A server node with a journal, checks and a postbox."""

    def receive(self, data: bytes, now: float, sender: int | None = None) -> Verdict:
        """Take in a frame from a site; nothing that it causes may leave before `commit`.

        `sender` is the site that the connection's credential stands for. A frame that is refused changes nothing.
        """
        frame = None
        try:
            frame = Frame.from_bytes(data)
            self.validation.check_header(frame, sender)
        except ProtocolError as error:
            return self._refuse(frame if frame is not None and sender in (None, frame.client) else None, error)
        if (self._guard.is_on or self.accounts.aside) and not self._may_be_tried(data, now):
            return self._refuse(frame, ProtocolError(f"this {frame.name} has stopped the coordinator before"))
        try:
            judged = self._judge(frame, now)
        except ProtocolError as error:
            return self._refuse(frame, error)
        except Exception as error:  # noqa: BLE001  nothing that a site sends may stop the coordinator
            return self._refuse(frame, ProtocolError(f"this {frame.name} cannot be checked: {error!r}"))
        if judged.new_epoch:
            self._write(renewed(now, judged.new_epoch, frame.client))
            self.has_renewed = True
        if judged.is_news:
            self._limit_sums(now)
            record = ServerRecord(RecordKind.FRAME, now, data)
            self._append(record)
            try:
                self.validation.check_outcome(self.node.state, self._take_in(record, frame, judged.upload))
            except Exception as error:  # noqa: BLE001  whatever an algorithm raises must not stay half done
                self._undo()
                return self._refuse(frame, ProtocolError(f"the algorithm cannot take in this {frame.name}: {error!r}"))
        if judged.upload is not None:
            self.validation.charge(frame.client, judged.observations, now)
            self.ledger.record(judged.upload)
        return judged.verdict

    def deadline(self, now: float) -> Ints:
        """Close the open round, if any, with those who have answered; return who was left out.

        A round that the algorithm cannot close (what has come gives nothing finite) stays open, and nobody is left out.
        """
        silent = self.node.awaited()
        if silent.size:
            record = ServerRecord(RecordKind.DEADLINE, now)
            self._append(record)
            try:
                self.validation.check_outcome(self.node.state, self._take_in(record))
            except Exception:  # noqa: BLE001  else it would end the coordinator, and every one after it
                self._undo()
                return silent[:0]
        return silent

    def commit(self) -> list[tuple[int, bytes]]:
        """Make all that was taken in safe; return what may now be sent, as (site, frame)."""
        sealed = self.seal()
        self.make_safe(sealed)
        return [(each.site, each.data) for each in sealed.frames]

    def make_safe(self, sealed: Sealed) -> None:
        """Wait until what was sealed is safe; from any thread, and more may be taken in meanwhile."""
        self._writing.make_safe(sealed.position)

    def seal(self) -> Sealed:
        """Return what may be sent once all that was taken in so far is safe."""
        harmless = self._guard.after()
        if harmless is not None:
            self._write(harmless)
        position = self._writing.seal()
        for (client, epoch), mark in self._touched.items():
            window, is_old = self.node.seen.look(client, epoch), self.postbox.takes_old(client, epoch)
            top = LARGEST_NUMBER if (client, epoch) in self.accounts.closed else window.top
            numbers = window.up_to, top, mark
            self.postbox.answer(with_numbers(Kind.ACKNOWLEDGEMENT, client, epoch, *numbers, is_old=is_old))
        for client, version in self._asked.items():
            self._bring_up_to_date(client, version)
        self._touched.clear()
        self._asked.clear()
        return Sealed(position, self.postbox.take(self.ledger))

    def _judge(self, frame: Frame, now: float) -> Judged:
        """Decide what is to become of a frame, and hold the answers; what is known changes only if it is news."""
        self.accounts.require_known(frame.client)
        if frame.kind is Kind.UPLOAD:
            return self._upload(frame, now)
        if frame.kind is Kind.JOIN:
            self._tell_charter(frame.client)
            return ACCEPTED
        judges = {Kind.VOID: self._void, Kind.ASK: self._ask, Kind.CLOSE: self._close}
        return judges[frame.kind](frame, now)

    def _upload(self, frame: Frame, now: float) -> Judged:
        client, epoch, accounts = frame.client, frame.epoch, self.accounts
        window, epochs = self.node.seen.look(client, epoch), accounts.look(client)
        if window.has(frame.sequence):
            if epochs.has_other(epoch, frame.sequence, frame.body):
                raise NumberTaken(self.introductions.note_two(client, now))
            self._touched.setdefault((client, epoch), 0)
            return REPEATED
        closure = accounts.closed.get((client, epoch))
        if closure is not None and frame.sequence >= closure.first:
            raise ProtocolError(f"epoch {epoch} of site {client} was closed: this upload is from a life that was lost")
        accounts.check_epoch(client, epoch, now, self.validation.limits)
        self.introductions.require(frame, is_known=epochs.known.get(epoch) is not None)
        self.validation.check_ahead(frame, self.node.seen, epochs.known)
        upload = self.validation.open(frame, self.clock)
        if frame.asked:
            self._check_questions(frame, now)
        told = accounts.observations.get(client, 0)
        is_next = frame.sequence == window.up_to + 1
        new = observations_in(upload, told)
        self.validation.check_now(self.node.carried_over(upload), self.node.state, told, is_next)
        self.validation.check_excess(upload, told + new, accounts.excess.get(client, 0.0), is_next)
        self.validation.check_rate(client, new, now, is_new=client not in accounts.joined)
        self._touched.setdefault((client, epoch), 0)
        return Judged(Verdict(Outcome.ACCEPTED), is_news=True, upload=upload, observations=new)

    def _check_questions(self, frame: Frame, now: float) -> None:
        """Refuse data if a copy of the site's store used the numbers of the questions before it: it may hold them too.

        If both sent data under one number, either upload holds what both had unsent. But if one of them asked under it,
        it tells what it holds under the next number.
        """
        window = self.node.seen.look(frame.client, frame.epoch)
        if window.up_to < frame.sequence - 1:
            raise NotYet(f"upload {window.up_to + 1} of site {frame.client} must come before {frame.sequence}")
        asked = self.accounts.look(frame.client).asked_before(frame.epoch, frame.sequence)
        if asked is not None and frame.asked != fold(asked):
            raise NumberTaken(self.introductions.note_two(frame.client, now))

    def _void(self, frame: Frame, now: float) -> Judged:
        is_news = not self.node.seen.look(frame.client, frame.epoch).has(frame.sequence)
        if is_news:
            self.accounts.check_epoch(frame.client, frame.epoch, now, self.validation.limits)
            self.validation.check_ahead(frame, self.node.seen, self.accounts.look(frame.client).known)
        self._touched.setdefault((frame.client, frame.epoch), 0)
        return NEWS if is_news else ACCEPTED

    def _ask(self, frame: Frame, now: float) -> Judged:
        client, question = frame.client, frame.question
        if max(question.epoch, question.settled) > LARGEST_NUMBER:
            raise ProtocolError(
                f"site {client} asks in epoch {question.epoch} with {question.settled} acknowledgements"
            )
        here = self.node.seen.look(client, question.epoch).up_to
        missing, reason = question.settled - here, ""
        if missing > 0:
            self.accounts.check_epoch(client, question.epoch, now, self.validation.limits)
            told = f"site {client} has acknowledgements up to {question.settled}"
            reason = f"{told}, this journal has {here}: it is not whole"
        begun = new_epoch(self, frame, missing > 0, now)
        if missing > 0:
            text = f"{reason}; what was in {missing} uploads is lost. Was the journal restored from a backup?"
            self.concerns.note("uploads-missing", text, now, client, lasts=DAY)
        self._note_layout(frame)
        if self.introductions.ask(frame, now):
            self._tell_charter(client)
        self.concerns.tidy(now)
        version = frame.epoch, frame.sequence
        self._asked[client] = min(version, self._asked.get(client, version))  # two sites with one number may ask
        self._touched[client, question.epoch] = question.mark
        return Judged(Verdict(Outcome.ACCEPTED, reason), is_news=missing > 0, new_epoch=begun)

    def _close(self, frame: Frame, now: float) -> Judged:
        return judge_closing(self, frame, now)

    def _bring_up_to_date(self, client: int, version: tuple[int, int]) -> None:
        """Hold what a site lacks; one whose acknowledged uploads were lost waits for nothing that was before."""
        self.postbox.post_again(client, *version)
        if client not in self.accounts.stranded:
            return
        awaited = self.awaited()
        if version[0] >= self.node.epoch:
            self.accounts.stranded.discard(client)
        elif (
            client not in self.postbox.latest
            and client not in self.accounts.old
            and (not awaited.size or client in awaited)
        ):
            self.postbox.answer(Frame(Kind.RENEWED, client, self.node.epoch, 0))

    def _may_be_tried(self, data: bytes, now: float) -> bool:
        """Note a frame in the journal before it is tried, or put it aside if it has never come to an end."""
        if self.accounts.is_aside(data):
            tell_of_aside(self.concerns, data, now)
            return False
        if not self._guard.is_on:
            return True
        record = self._guard.before(data, now)
        self._append(record, keep=record.what is RecordKind.ASIDE)
        self._take_in(record)
        self._sync()
        return record.what is RecordKind.TRIED

    def _undo(self) -> None:
        """Go back to what was before the last record, and keep the way there short for the next time."""
        self._undo_last()
        if self._since_snapshot > LONG_WAY:
            self.save()

    def _refuse(self, frame: Frame | None, error: ProtocolError) -> Verdict:
        """Say no, with a reason; whoever sent an upload is told."""
        for_now = isinstance(error, NotYet)
        if frame is not None and frame.kind is Kind.UPLOAD:
            if isinstance(error, NumberTaken):
                answer = number_taken(frame, str(error))
            else:
                answer = refusal(frame, str(error), for_good=not for_now, ask_first=isinstance(error, AskFirst))
            self.postbox.answer(answer)
        return Verdict(Outcome.NOT_YET if for_now else Outcome.REFUSED, str(error))
