"""What a site knows and how it changes: the client node, the outbox, the decisions. Neither disk nor network.

Where messages flow only in rounds (`Cadence.ROUND`), a client that has sent its part of a round learns nothing more
until the round is over, which is when a download calls for no answer; rewards that come before that wait their turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedbandit.core.drawn import Drawn
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Cadence
from fedbandit.core.turns import Observations
from fedbandit.durable.site.decisions import Closed, Decisions, Pending
from fedbandit.durable.site.events import Awaiting, Chose, Deed, Froze, Learnt, Logged, Recalled, Revised, Ticked
from fedbandit.durable.site.frozen_life import WHO
from fedbandit.durable.site.memory import SiteMemory
from fedbandit.durable.site.noised_life import NoisedLife
from fedbandit.durable.site.outbox import Outbox
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire.frame import Frame, Kind, with_numbers


class SiteLife(NoisedLife):
    """One site: a cohort of one."""

    def __init__(self, agreed: Agreed, number: int) -> None:
        """Begin with nothing."""
        super().__init__(agreed, number)
        self.outbox = Outbox()
        self.decisions = Decisions()
        self.waiting: list[str] = []  # decisions whose reward has come in the middle of a round
        self.in_exchange = False
        self.released: list[int] = []  # positions of records that need be kept no longer
        self.past = "", 0  # a log that was learnt from before the first decision, and how many of its rows
        self.closed: list[Closed] = []  # decisions that a log of decisions may not have yet
        self._takes_turns = self.side.cadence is Cadence.TURN

    def revise(self, agreed: Agreed) -> None:
        """Go on with a later revision of the charter, with all decisions that await their rewards."""
        form, is_later = self.node.form, agreed.follows(self.agreed)
        super().revise(agreed)
        if not is_later:
            self.outbox.put_into_form(self.node.form)
        for each in self.decisions.pending.values():
            if is_later:
                each.features = self.node.fitted(each.features, form)
            elif each.position:  # what is kept of it names another form
                self.released.append(each.position)
                each.position = 0

    def open(self, fresh: int) -> None:
        """Begin a new life; the first one begins an epoch."""
        self.decisions.open(fresh)
        if not self.node.epoch:
            self.node.epoch = self.decisions.life
        self._ask(is_opened=True)

    def begin_epoch(self, epoch: int, *, anew: bool) -> None:
        """Number uploads from 1 again; with `anew` forget all that was learnt, since the coordinator has it."""
        node = self.node
        node.epoch = epoch
        node.sent[:] = 0
        if anew:
            node.state = self.side.start(1)
            node.server_epoch = 0
            node.received[:] = 0
            self.in_exchange = False
            for name, pending in list(self.decisions.pending.items()) if self.needs_noise else ():
                self._drop(name, pending)  # a lost life may have learnt the same reward, and released it
            self._catch_up()

    def renumber(self, first: int, epoch: int) -> None:
        """Go on in a new epoch, and number what was sealed from a number on from 1 there."""
        self.outbox.move(self.node.epoch, first, epoch, asks=self.side.asks)
        self.node.epoch = epoch
        self.node.sent -= first - 1

    def memory(self) -> SiteMemory:
        """Return what is to be remembered, not copied."""
        node, decisions = self.node, self.decisions
        pending = decisions.pending
        return SiteMemory(
            self.agreed.text, self.number, node.epoch, int(node.sent[0]), *self.version, self.outbox,
            decisions.life, decisions.issued, self.waiting, self.in_exchange, node.state, clock=node.clock,
            awaiting=np.array([each.position for each in pending.values()], dtype=np.int64),
            rewards={name: each.reward for name, each in pending.items() if each.reward is not None}, past=self.past,
            frozen=self.frozen,
        )  # fmt: skip

    def recall(self, memory: SiteMemory, kept: dict[int, Any]) -> None:
        """Go on from what a site remembered, with the records of its pending decisions by position.

        Before 0.2 these were `Chose`, with all that was on offer: the next snapshot keeps less in their place.
        """
        awaited = [*(position for position, _ in memory.pending.values()), *memory.awaiting.tolist()]
        if lost := [each for each in awaited if each not in kept]:
            listed = ", ".join(map(str, lost))
            raise InvalidInput(f"the store has lost the records {listed} of pending decisions: restore a backup of it")
        node = self.node
        node.epoch, node.server_epoch, node.state = memory.epoch, memory.server_epoch, memory.state
        node.clock, self.past = memory.clock, memory.past
        self.freeze(memory.frozen)
        node.sent[:], node.received[:] = memory.sent, memory.received
        self.outbox, self.waiting, self.in_exchange = memory.outbox, memory.waiting, memory.in_exchange
        pending = {}
        positions = {kept[at].decision: (at, memory.rewards.get(kept[at].decision)) for at in memory.awaiting.tolist()}
        for name, (position, reward) in (memory.pending | positions).items():
            pending[name] = kept[position].pending(self.side.learns_from_choice, position)
            pending[name].features = node.fitted(pending[name].features, kept[position].form)
            pending[name].reward = reward
        self.decisions = Decisions(memory.life, memory.issued, pending)
        needed = {each.position for each in pending.values()}
        self.released = [position for position in kept if position not in needed]

    def decided(self, chose: Chose) -> str:
        """Note a decision, and ask what is to be asked before the next; return its name."""
        name = self.decisions.add(chose.pending(self.node.side.learns_from_choice))
        self._ask()
        return name

    def repeat(self, event: Deed, position: int) -> None:
        """Let happen once more what the application did, or was told, as a record at a position tells it."""
        if isinstance(event, Chose):
            self.decide(event.features, event.draws)
            self.decided(event)
            self.released.append(position)  # before 0.2 it was kept
        elif isinstance(event, Awaiting):
            self.keep(event.decision, position)
        elif isinstance(event, Ticked):
            self.node.tick(event.epoch)
        elif isinstance(event, Revised):
            self.revise(Agreed.from_text(event.charter))
        elif isinstance(event, Logged):
            self.closed.clear()
        elif isinstance(event, Froze):
            self.freeze(event)
        elif isinstance(event, Recalled):
            self.recalled(event)
        else:
            pending = self.decisions.awaiting(event.decision)
            if pending is not None and isinstance(event, Learnt):
                self.learn(event.decision, pending, event.reward, event.time)
            elif pending is not None:
                self.end(event.decision, pending, event.reward, event.time)

    def recalled(self, row: Recalled) -> None:
        """Take in a row of the past, now or when the round is over."""
        self.past = row.source, row.row + 1
        name, pending = f"past-{row.row}", Pending(row.features, row.choice, clock=row.clock)
        self.decisions.pending[name] = pending
        self._take_in(name, pending, row.reward)

    def keep(self, name: str, position: int) -> None:
        """Note which record keeps a pending decision beyond the next snapshot."""
        if name in self.decisions.pending:
            self.decisions.pending[name].position = position
        else:
            self.released.append(position)

    def learn(self, name: str, pending: Pending, reward: float, time: float) -> None:
        """Take in the reward of a decision that awaits it, now or when the round is over."""
        self._close(name, pending, reward, time, is_expired=False)
        self._take_in(name, pending, reward)

    def end(self, name: str, pending: Pending, reward: float | None, time: float) -> None:
        """Take in another reward in place of one that will not come, or forget the decision."""
        self._close(name, pending, reward, time, is_expired=True)
        if reward is None:
            self._drop(name, pending)
        else:
            self._take_in(name, pending, reward)

    def _close(self, name: str, pending: Pending, reward: float | None, time: float, *, is_expired: bool) -> None:
        if pending.row:
            self.closed.append(Closed(name, pending.row, reward, time, is_expired))

    def _take_in(self, name: str, pending: Pending, reward: float) -> None:
        if self._takes_turns or not self.in_exchange:
            self._learn(name, pending, reward)
        else:
            pending.reward = reward
            self.waiting.append(name)

    def receive(self, frame: Frame, drawn: Drawn | None = None) -> bool:
        """Take in a download, unless it or a later one was taken in before; return whether it was new."""
        before = self.version
        envelopes = self.node.receive(Envelope.of(frame, self.schema_of(frame).open(frame.body)), drawn)
        is_new = self.version > before
        self._put(envelopes, answers=is_new)
        self._catch_up()
        return is_new

    def question(self, epoch: int) -> Frame:
        """Return how the site asks what it lacks, which tells what was acknowledged of one of its epochs."""
        question = self.outbox.question(epoch, self.decisions.life, self.agreed.as_told)
        return with_numbers(Kind.ASK, self.number, *self.version, *question)

    def renew(self, epoch: int) -> bool:
        """Wait no longer for what an earlier life of the coordinator was to send; return whether that is news."""
        node = self.node
        if epoch <= node.server_epoch:
            return False
        node.server_epoch = epoch
        node.received[:] = 0
        self.in_exchange = False
        self._catch_up()
        return True

    def _catch_up(self) -> None:
        while self.waiting and not self.in_exchange:
            name = self.waiting.pop(0)
            pending = self.decisions.pending[name]
            assert pending.reward is not None
            self._learn(name, pending, pending.reward)

    def _learn(self, name: str, pending: Pending, reward: float) -> None:
        weight = self.node.weight_of(pending.clock)
        weights = None if weight == 1.0 else np.array([weight])
        seen = Observations(pending.features, pending.choice, np.array([reward]), pending.expected, weights)
        self._tell_what_is_on_the_way()
        envelopes = self.node.learn(WHO, seen)
        self._drop(name, pending)
        if envelopes:
            self._put(envelopes, answers=True)

    def _drop(self, name: str, pending: Pending) -> None:
        del self.decisions.pending[name]
        if pending.position:
            self.released.append(pending.position)

    def _ask(self, *, is_opened: bool = False) -> None:
        if not self.node.side.asks:
            return
        self._tell_what_is_on_the_way()
        self._put(self.node.ask(WHO, np.array([sum(self.decisions.issued.values())]), is_opened), answers=False)

    def _tell_what_is_on_the_way(self) -> None:
        self.node.side.on_the_way(self.node.state, WHO, is_any=bool(self.outbox.frames))

    def _put(self, envelopes: list[Envelope], *, answers: bool) -> None:
        for envelope in envelopes:
            for frame in envelope.frames():
                self.outbox.seal(frame, is_question=self.side.asks and envelope.message.is_signal())
        if answers:
            self.in_exchange = bool(envelopes) and not self._takes_turns
