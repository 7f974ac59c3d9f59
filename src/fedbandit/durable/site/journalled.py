"""What a site knows, and the journal from which it can be had again: events change it, now and in recovery alike."""

from __future__ import annotations

from fedbandit.core.arrays import Floats
from fedbandit.core.drawn import Drawn, Identity
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Decided
from fedbandit.durable.agreeing import agreed_in, require_had
from fedbandit.durable.journals.journal import Journal
from fedbandit.durable.site.decisions import later
from fedbandit.durable.site.events import (
    EVENTS,
    Awaiting,
    Checked,
    Chose,
    Doubled,
    Drew,
    Event,
    Heard,
    Learnt,
    Noised,
    Opened,
)
from fedbandit.durable.site.life import SiteLife
from fedbandit.durable.site.memory import Doubt, SiteMemory
from fedbandit.durable.site.release_mark import ReleaseMark
from fedbandit.durable.site.release_noise import NoiseSource, SystemNoise
from fedbandit.durable.site.releasing import ReleasingSite
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind, Standing
from fedbandit.wire.state import decode_state, encode_state, field_of


class JournalledSite(ReleasingSite):
    """A site that remembers what happens to it."""

    identity: Identity | None = None  # by which others know it, where sums are aggregated securely

    def __init__(
        self,
        charter: Charter,
        number: int,
        *,
        fresh: int,
        journal: Journal | None = None,
        restored: bool = False,
        snapshot_every: int = 512,
        noise: NoiseSource | None = None,
        mark: ReleaseMark | None = None,
    ) -> None:
        """Go on from the journal, if it has anything; without a journal all is forgotten with this object.

        `fresh` is greater than any number that was given for this site before: the time in seconds will do. `restored`
        says that the journal is, or may be, an old backup. Noise comes from the system unless a source of it is given,
        and a `mark` beside the journal remembers how far releases have come: both are for private algorithms alone.
        """
        self._given = charter
        self.number = number
        self.journal, self.noise, self.mark = journal, noise or SystemNoise(), mark
        self.snapshot_every = snapshot_every
        self.unchecked: tuple[int, int] | None = None  # epoch and number from which on uploads are held back
        self.is_closing = False
        self.refusal = ""  # why the coordinator does not take in what the site sends, for now
        self.disagreement = ""  # what differs from what the federation has agreed on
        self._was_told = False  # that, since the coordinator last answered a question
        self._must_ask = False  # before the coordinator takes in some uploads
        self._asked_for: set[tuple[int, int]] = set()  # the epochs and numbers of those
        self._not_meant: list[bytes] = []  # acknowledged before they were sent: another's with these numbers were meant
        self._newest_heir = 0  # that the coordinator knows of this site
        self._unchecked_at = 0  # the position of the record from which on that holds
        self._restored_at = 0  # and of the one since which the journal may be an old backup
        self._since_snapshot = 0
        self.life = self._recovered()
        require_had(self.life.agreed, charter, "the store")
        self.life.outbox.take_new(self.unchecked)  # they are sent again, not for the first time
        is_old = restored or self._is_behind_its_mark()
        opened = Opened(self.life.agreed.text, number, later(fresh, self.life.decisions.life), is_old)
        self._open(self.life, opened, self._append(opened))
        self._sync()

    def choose(self, features: Floats, draws: Floats, now: float = 0.0) -> tuple[str, Decided]:
        """Return the name of the decision and the choice; features is (1, K, d), or (1, d) for a shared context."""
        decided = self.decide(features, draws)
        return self.note(features, draws, decided, now), decided

    def decide(self, features: Floats, draws: Floats) -> Decided:
        """Return a choice, of which nothing is remembered."""
        return self.life.decide(features, draws)

    def note(self, features: Floats, draws: Floats, decided: Decided, now: float, row: bytes = b"") -> str:
        """Write down a decision, and what a log of decisions will tell of it later; return its name."""
        node = self.life.node
        chose = Chose(features, draws, decided.choices, decided.expected, node.clock or 0, now, row, node.form)
        self._append(chose)
        return self.life.decided(chose)

    def learn(self, decision: str, reward: float, now: float = 0.0) -> bool:
        """Take in the reward of a decision; return False if it has come before, which changes nothing."""
        pending = self.life.decisions.awaiting(decision)
        if pending is None:
            return False
        self.life.learn(decision, pending, reward, now)
        self._append(Learnt(decision, reward, now))
        return True

    def maintain(self) -> bool:
        """Take a snapshot if one is due."""
        if self._since_snapshot < self.snapshot_every:
            return False
        self.save()
        return True

    def save(self) -> None:
        """Take a snapshot."""
        if self.journal is not None:
            self._keep_pending(self.life)
            memory = self._memory()
            needed = set(memory.doubt.anew.awaiting.tolist()) if memory.doubt else set()
            released = self.life.released
            self.journal.save(encode_state(memory), [each for each in released if each not in needed])
            self.life.released = [each for each in released if each in needed]
        self._since_snapshot = 0

    def _memory(self) -> SiteMemory:
        """Return what a snapshot keeps: all that may be needed, whatever the coordinator says about an opening."""
        memory = self.life.memory()
        if self.unchecked is not None and self.journal is not None:
            doubt = self.unchecked, self.is_closing, self._unchecked_at, self._restored_at
            self.journal.flush()
            anew = self._recovered(self.unchecked[0] + 1, begin_anew=True)  # its epoch is given when it is needed
            self._keep_pending(anew)
            self.unchecked, self.is_closing, self._unchecked_at, self._restored_at = doubt
            memory.doubt = Doubt(*self.unchecked, self._unchecked_at, self._restored_at, self.is_closing, anew.memory())
        return memory

    def _keep_pending(self, life: SiteLife) -> None:
        """Write down what the decisions of a life that await their rewards are learnt from, where that is not done."""
        for name, pending in life.decisions.pending.items():
            if not pending.position:
                pending.position = self._append(Awaiting.of(name, pending, life.node.form), keep=True)

    def _recovered(self, heir: int = 0, begin_anew: bool = False) -> SiteLife:
        """Return the site that the journal tells of; with an heir, as if it had begun that epoch when it was opened."""
        life = SiteLife(self._begun_with(), self.number)
        begin_at = self._restored_at if begin_anew else self._unchecked_at
        unknown, self.unchecked = self.unchecked, None
        if self.journal is None:
            return life
        snapshot = self.journal.snapshot()
        if snapshot is not None:
            self._recall(life, snapshot.data, heir if 0 < begin_at <= snapshot.position else 0, begin_anew)
        has_begun = bool(heir and snapshot and 0 < begin_at <= snapshot.position)
        self._since_snapshot = 0
        for entry in self.journal.records(snapshot.position if snapshot else 0):
            self._since_snapshot += 1  # also what was written before this opening: one that is short takes its part
            event = decode_state(entry.data, *EVENTS)
            if has_begun and not isinstance(event, Noised):
                life.supply(self.noise)  # of a new stream; what was drawn for the old one is not used
            self._repeat(life, event, entry.position)
            if heir and entry.position == begin_at:
                life.begin_epoch(heir, anew=begin_anew)
                has_begun = True
        if heir and not begin_at:
            life.begin_epoch(heir, anew=begin_anew)
        if unknown is not None:
            life.outbox.drop(*unknown)
        return life

    def _recall(self, life: SiteLife, snapshot: bytes, heir: int, begin_anew: bool) -> None:
        """Let a site be as a snapshot tells; with an heir, as if it had begun that epoch when the doubt began."""
        assert self.journal is not None
        self._require_own(field_of(snapshot, "number"))
        kept = {entry.position: decode_state(entry.data, Awaiting, Chose) for entry in self.journal.kept()}
        memory: SiteMemory = decode_state(snapshot, SiteMemory, type(life.node.state))
        doubt = memory.doubt
        life.recall(doubt.anew if doubt and heir and begin_anew else memory, kept)
        if doubt is not None:
            self.unchecked, self.is_closing = (doubt.epoch, doubt.number), doubt.is_closing
            self._unchecked_at, self._restored_at = doubt.opened_at, doubt.restored_at
            if heir:
                life.renumber(1 if begin_anew else doubt.number, heir)

    def _repeat(self, life: SiteLife, event: Event, position: int) -> None:
        """Let happen once more what the journal tells."""
        if isinstance(event, Opened):
            self._open(life, event, position)
        elif isinstance(event, Checked):
            self.unchecked, self.is_closing = None, False
        elif isinstance(event, Doubled):
            self._note_doubled(life, position)
        elif isinstance(event, Heard | Drew):
            self._hear(life, Frame.from_bytes(event.frame), event.drawn(self.identity))
        elif isinstance(event, Noised):
            life.take_noise(event)
        else:
            life.repeat(event, position)

    def _hear(self, life: SiteLife, frame: Frame, drawn: Drawn | None = None) -> bool:
        """Take in a frame from the coordinator, now or once more; return whether it changed anything."""
        if frame.kind is Kind.DOWNLOAD:
            return life.receive(frame, drawn)
        if frame.kind is Kind.RENEWED:
            return life.renew(frame.epoch)
        if frame.kind is Kind.ACKNOWLEDGEMENT:
            up_to = frame.sequence
            if self.unchecked is not None and frame.epoch == self.unchecked[0]:
                up_to = min(up_to, self.unchecked[1] - 1)  # what was held back was never sent: these are a lost life's
            return life.outbox.acknowledge(frame.epoch, up_to)
        is_refused = life.outbox.refuse(frame)
        is_shared = frame.standing is Standing.NUMBER_TAKEN and frame.epoch == life.node.epoch
        had_data = is_refused and not decode(life.outbox.refused[-1].body).is_signal()
        if had_data and is_shared and self.unchecked is None:  # no number of this epoch is surely this site's own
            life.begin_epoch(max(life.decisions.life, frame.epoch + 1), anew=life.needs_noise)
        return is_refused

    def _open(self, life: SiteLife, event: Opened, position: int) -> None:
        """Begin a new life; if it is not the first, numbers from now on are held back."""
        self._require_own(event.number)
        if life.node.epoch and self.unchecked is None:
            self.unchecked = life.node.epoch, life.last_upload[1] + 1
            self._unchecked_at = self._restored_at = position
        if self.unchecked is not None and event.restored:
            self._restored_at, self.is_closing = position, True
        life.open(event.fresh)

    def _note_doubled(self, life: SiteLife, position: int) -> None:
        """Hold numbers back from now on, and leave the epoch."""
        self.unchecked, self.is_closing = (life.node.epoch, life.last_upload[1] + 1), True
        self._unchecked_at = self._restored_at = position

    def _begun_with(self) -> Agreed:
        """Return what the federation had agreed on where the journal begins."""
        found = None if self.journal is None else self.journal.snapshot() or next(iter(self.journal.records()), None)
        if found is None:
            return Agreed(self._given)
        agreed = agreed_in(str(field_of(found.data, "charter")), self._given, "the store")
        is_as_given = not agreed.revision and agreed.charter == self._given
        return Agreed(self._given) if is_as_given else agreed  # with what a program says that nobody has to agree on

    def _require_own(self, number: int) -> None:
        if number != self.number:
            raise InvalidInput(f"the store belongs to site {number}, not to {self.number}: give that number")
