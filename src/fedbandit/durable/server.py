"""The coordinator of one federation, without input or output: a server node that forgets nothing it has acknowledged.

    receive   a frame is checked, written to the journal (not yet synced) and taken in
    commit    the journal is synced: acknowledgements and downloads may leave; one sync for many uploads
    maintain  a snapshot, if one is due: the journal before it is no longer needed

Recovery is the snapshot and the records after it, taken in as they were before. A journal that raises (a full disk, a
lost database) leaves the node unusable: open it again. What was not acknowledged is sent again by the sites.
"""

from __future__ import annotations

from fedbandit.core.arrays import Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.durable.concerns import Concerns
from fedbandit.durable.journals.journal import Journal
from fedbandit.durable.outcome import Outcome, Verdict
from fedbandit.durable.postbox import Postbox
from fedbandit.durable.server_record import ServerRecord, What
from fedbandit.durable.site_accounts import Accounts, Closure, CoordinatorMemory
from fedbandit.durable.validation import Limits, NotYet, Validation, observations_in
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.ledger import Ledger
from fedbandit.protocol.server import ServerNode
from fedbandit.wire import decode
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind, refusal, with_numbers
from fedbandit.wire.state import decode_state, encode_state, field_of


class DurableServer:
    """A server node with a journal, checks and a postbox."""

    def __init__(
        self,
        charter: Charter,
        journal: Journal,
        *,
        epoch: int,
        now: float,
        limits: Limits | None = None,
        snapshot_every: int = 10_000,
    ) -> None:
        """Go on from the journal; an empty one begins with `epoch`, greater than that of any journal lost before."""
        self.charter = charter
        self.journal = journal
        self.snapshot_every = snapshot_every
        self.side = charter.build().server
        self.validation = Validation(self.side, charter.setting, limits or Limits())
        self.ledger = Ledger()  # of what this object has carried
        self.concerns = Concerns()
        self.backlogs: dict[int, int] = {}  # by site: how many uploads it had unacknowledged when it last asked
        self._handlers = {
            Kind.UPLOAD: self._upload, Kind.VOID: self._void, Kind.ASK: self._ask, Kind.CLOSE: self._close,
        }  # fmt: skip
        self._recover(epoch)
        if self._is_new:
            self._write(ServerRecord(What.BEGAN, now, f"{epoch} {charter.text}".encode()))
            self.journal.sync()

    def receive(self, data: bytes, now: float, sender: int | None = None) -> Verdict:
        """Take in a frame from a site; nothing that it causes may leave before `commit`.

        `sender` is the site that the connection's credential stands for. A frame that is refused changes nothing.
        """
        frame = None
        try:
            frame = Frame.from_bytes(data)
            self.validation.check_header(frame, sender)
            return self._handlers[frame.kind](frame, now)
        except ProtocolError as error:
            for_now = isinstance(error, NotYet)
            if frame is not None and frame.kind is Kind.UPLOAD and sender in (None, frame.client):
                self.postbox.answer(refusal(frame, str(error), for_good=not for_now))
            return Verdict(Outcome.NOT_YET if for_now else Outcome.REFUSED, str(error))

    def awaited(self) -> Ints:
        """Return the sites for which an open round waits."""
        return self.node.awaited()

    def deadline(self, now: float) -> Ints:
        """Close the open round, if any, with those who have answered; return who was left out."""
        silent = self.node.awaited()
        if silent.size:
            self._write(ServerRecord(What.DEADLINE, now))
        return silent

    def commit(self) -> list[tuple[int, bytes]]:
        """Make all that was taken in safe; return what may now be sent, as (site, frame)."""
        self.journal.sync()
        for (client, epoch), mark in self._touched.items():
            window = self.node.seen.look(client, epoch)
            top = LARGEST_NUMBER if (client, epoch) in self.accounts.closed else window.top
            self.postbox.answer(with_numbers(Kind.ACKNOWLEDGEMENT, client, epoch, window.up_to, top, mark))
        self._touched.clear()
        return self.postbox.take(self.ledger)

    @property
    def is_snapshot_due(self) -> bool:
        """Tell whether the journal has grown so much that a snapshot is due."""
        return self._since_snapshot >= self.snapshot_every

    def maintain(self) -> bool:
        """Take a snapshot if one is due; a good moment is after the frames of a commit have left."""
        if not self.is_snapshot_due:
            return False
        self.save()
        return True

    def save(self) -> None:
        """Take a snapshot."""
        memory = CoordinatorMemory(self.charter.text, self.node.memory, self.accounts, self.postbox.memory())
        self.journal.save(encode_state(memory))
        self._since_snapshot = 0

    def _recover(self, epoch: int) -> None:
        self.node = ServerNode(self.side, self.charter.setting.clients, epoch)
        self.accounts = Accounts()
        self.postbox = Postbox()
        self._touched: dict[tuple[int, int], int] = {}  # (site, epoch) to be acknowledged, with the mark of an ask
        self._since_snapshot = 0
        snapshot = self.journal.snapshot()
        if snapshot is not None:
            self.charter.require(str(field_of(snapshot.data, "charter")), "the journal")
            memory: CoordinatorMemory = decode_state(snapshot.data, CoordinatorMemory, type(self.node.state))
            self.node.recall(memory.node)
            self.accounts = memory.accounts
            self.postbox.recall(memory.latest)
        self._is_new = snapshot is None
        for entry in self.journal.records(snapshot.position if snapshot else 0):
            self._take_in(ServerRecord.from_bytes(entry.data))
            self._is_new = False
        self.postbox.drop()  # a site that lacks something asks for it

    def _write(self, record: ServerRecord) -> None:
        self.journal.append(record.to_bytes())
        self._take_in(record)

    def _take_in(self, record: ServerRecord) -> None:
        """Change what the coordinator knows as a record says: now, and again in recovery."""
        if record.what is What.BEGAN:
            epoch, _, charter = record.data.decode().partition(" ")
            self.charter.require(charter, "the journal")
            self.node.epoch = int(epoch)
        elif record.what is What.DEADLINE:
            self.postbox.post(self.node.deadline())
        else:
            self._take_in_frame(Frame.from_bytes(record.data), record.time)
        self._since_snapshot += 1

    def _take_in_frame(self, frame: Frame, time: float) -> None:
        seen = self.node.seen
        if frame.kind is Kind.UPLOAD:
            self._merge(Envelope.of(frame, decode(frame.body)), time)
        elif frame.kind is Kind.VOID:
            seen.open(frame.client, frame.epoch).admit(frame.sequence)
        elif frame.kind is Kind.CLOSE:
            self.accounts.close(frame.client, frame.epoch, frame.sequence, *frame.numbers)
        else:
            seen.open(frame.client, frame.question.epoch).settle(frame.question.settled)

    def _merge(self, upload: Envelope, time: float) -> list[Envelope]:
        client = int(upload.clients[0])
        before = self.accounts.observations.get(client, 0)
        self.accounts.joined.setdefault(client, time)
        self.accounts.observations[client] = before + observations_in(upload, before)
        downloads = self.node.receive(upload)
        self.postbox.post(downloads)
        return downloads

    def _upload(self, frame: Frame, now: float) -> Verdict:
        client, epoch, seen = frame.client, frame.epoch, self.node.seen
        if seen.look(client, epoch).has(frame.sequence):
            self._touched.setdefault((client, epoch), 0)
            return Verdict(Outcome.REPEATED)
        closure = self.accounts.closed.get((client, epoch))
        if closure is not None and frame.sequence >= closure.first:
            raise ProtocolError(f"epoch {epoch} of site {client} was closed: this upload is from a life that was lost")
        self.validation.check_epoch(client, epoch, seen)
        self.validation.check_ahead(frame, seen)
        upload = self.validation.open(frame)
        told = self.accounts.observations.get(client, 0)
        is_next = frame.sequence == seen.look(client, epoch).up_to + 1
        self.validation.check_now(upload, self.node.state, told, is_next)
        new = observations_in(upload, told)
        self.validation.check_rate(client, new, now, is_new=client not in self.accounts.joined)
        self.journal.append(ServerRecord(What.FRAME, now, frame.to_bytes()).to_bytes())
        try:
            self.validation.check_outcome(self.node.state, self._merge(upload, now))
        except Exception as error:  # noqa: BLE001  whatever an algorithm raises must not stay half done
            self.journal.rollback()
            self._recover(self.node.epoch)
            raise ProtocolError(f"the algorithm cannot take in this upload: {error!r}") from None
        self.validation.charge(client, new, now)
        self._since_snapshot += 1
        self.ledger.record(upload)
        self._touched.setdefault((client, epoch), 0)
        return Verdict(Outcome.ACCEPTED)

    def _void(self, frame: Frame, now: float) -> Verdict:
        if not self.node.seen.look(frame.client, frame.epoch).has(frame.sequence):
            self.validation.check_epoch(frame.client, frame.epoch, self.node.seen)
            self.validation.check_ahead(frame, self.node.seen)
            self._write(ServerRecord(What.FRAME, now, frame.to_bytes()))
        self._touched.setdefault((frame.client, frame.epoch), 0)
        return Verdict(Outcome.ACCEPTED)

    def _ask(self, frame: Frame, now: float) -> Verdict:
        epoch, settled, mark, waiting, _ = frame.question
        self.backlogs[frame.client] = waiting
        here = self.node.seen.look(frame.client, epoch).up_to
        self.postbox.post_again(frame.client, frame.epoch, frame.sequence)
        reason = ""
        if here < settled:
            self.validation.check_epoch(frame.client, epoch, self.node.seen)
            self._write(ServerRecord(What.FRAME, now, frame.to_bytes()))
            reason = (
                f"site {frame.client} has acknowledgements up to {settled}, this journal has {here}: it is not whole"
            )
        self._touched[frame.client, epoch] = mark
        return Verdict(Outcome.ACCEPTED, reason)

    def _close(self, frame: Frame, now: float) -> Verdict:
        client, epoch, (heir,) = frame.client, frame.epoch, frame.numbers
        seen, before = self.node.seen, self.accounts.closed.get((client, epoch))
        if before is not None and heir < before.heir:
            return Verdict(Outcome.REPEATED)  # an earlier life of the site asked this
        window = seen.look(client, epoch)
        was_taken_in, top = window.has(frame.sequence), window.top
        for other in self.accounts.heirs(client, epoch, frame.sequence):
            if other != heir:  # another life went on from the same backup
                window = seen.look(client, other)
                was_taken_in, top = was_taken_in or window.has(1), max(top, frame.sequence if window.top else 0)
        if not was_taken_in and before != Closure(frame.sequence, heir):
            self.validation.check_epoch(client, epoch, seen)
            self._write(ServerRecord(What.FRAME, now, frame.to_bytes()))
        self.postbox.answer(with_numbers(Kind.CLOSED, client, epoch, frame.sequence, heir, was_taken_in, top))
        return Verdict(Outcome.ACCEPTED)
