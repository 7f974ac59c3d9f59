"""One federation in a coordinator's process: groups of arrivals in, one sync of the journal, answers out."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.postbox import Leaving
from fedbandit.durable.coordinator.roster import Roster
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.writing import Sealed
from fedbandit.durable.journals.journal import open_journal, without_password
from fedbandit.service.coordinator.background import Background
from fedbandit.service.coordinator.changes import LARGEST_UPLOAD, Changes
from fedbandit.service.coordinator.fair_queue import AT_A_TIME, LARGEST_GROUP, FairQueue
from fedbandit.service.coordinator.group_timer import GroupTimer
from fedbandit.service.coordinator.intake import Intake
from fedbandit.service.coordinator.maintenance import MEASURE_SECONDS, Maintenance
from fedbandit.service.coordinator.round_timer import RoundTimer
from fedbandit.service.coordinator.settings import FederationPlan, roster_journal
from fedbandit.service.coordinator.telling import Telling
from fedbandit.service.coordinator.traces import HostTraces
from fedbandit.transport.nats.door import Arrival, Door
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.subjects import Subjects

log = logging.getLogger("fedbandit.coordinator")


class FederationHost:
    """Serves one federation; the journal is opened, and the past recovered, when this is made."""

    def __init__(
        self, plan: FederationPlan, journal: str, hub: Hub, *, has_roster: bool = False, traces: bool = False
    ) -> None:
        """Take the plan, the journal's URL, the broker's hub, whether a roster says who takes part, and is traced."""
        self.plan = plan
        try:
            plan.charter.require_messages_within(LARGEST_UPLOAD)
        except InvalidInput as error:
            raise InvalidInput(f"federations.{plan.name}: {error}") from None
        self.subjects = Subjects(plan.name)
        now = time.time()
        self._hub = hub
        self._where = without_password(journal)
        self._journal = open_journal(journal, plan.name, keep_log=plan.keep_log)
        setting = plan.charter.setting
        self.roster: Roster | None = None  # which says who takes part, if there is one
        try:
            self.server = DurableServer(plan.charter, self._journal, epoch=int(now), now=now, limits=plan.limits)
            if has_roster:
                self.roster = Roster(plan.name, setting.clients, open_journal(journal, roster_journal(plan.name)))
                self.roster.adopt(self.server.accounts.joined, now)
        except BaseException:
            self._let_go()
            raise
        self._traces = HostTraces(plan.name, self.server) if traces else None
        self._telling = Telling(plan, self.server, now)
        self._telling.recall(self._journal.noted())
        self._intake = Intake(self.server, self._telling, self.roster, self._traces)
        self.telemetry = self._telling.telemetry
        self.failure = ""  # why it is served no more, if something unforeseen has ended it
        self.changes = Changes(plan, self.server, self.wake)
        self._timer = RoundTimer(self.changes.deadline)
        self._arrived = FairQueue()
        self._group_timer = GroupTimer()
        self._news = asyncio.Event()
        self._background = Background(self.wake)
        self._maintenance = Maintenance(self.server, self._journal, self._telling)
        self._is_over = False

    async def open(self) -> None:
        """Let arrivals in, and send every site its latest download: it may have been on its way when all ended."""
        most_bytes = self.server.validation.most_bytes
        clients = self.plan.charter.setting.clients
        await self._hub.open(Door(self.subjects, clients, most_bytes, self._arrive))
        for site in self.server.postbox.latest:
            self.server.postbox.post_again(site, 0, 0)
        sealed = self.server.seal()
        self.server.make_safe(sealed)
        await self._send(sealed.frames, time.time())
        log.info(
            "%s: %s with %d sites, journal in %s, %d downloads so far",
            self.plan.name, self.plan.charter.algorithm.id, clients, self._where, self.server.node.sent,
        )  # fmt: skip

    async def serve(self) -> None:
        """Take in what arrives until it is over."""
        try:
            while not self._is_over:
                await self._handle(await self._group())
        finally:
            await self._background.finish()

    def look(self) -> None:
        """Look at what calls for somebody's attention, and log what is new."""
        self._telling.look(self.roster)

    def fail(self, error: BaseException) -> None:
        """Stop for good after something unforeseen; what was not acknowledged stays with the broker and the sites."""
        self.failure = f"{type(error).__name__}: {error}"
        self.concern(
            "federation-failed", f"this federation is served no more ({self.failure}): start the coordinator again"
        )
        with suppress(Exception):  # the journal may be what has failed
            self.abandon()

    def concern(self, kind: str, text: str) -> None:
        """Raise a concern of the whole federation, or clear it if there is no text."""
        if text:
            self.server.concerns.note(kind, text, time.time())
        else:
            self.server.concerns.clear(kind)

    def last_seen(self, number: int) -> float | None:
        """Return when a site was last heard from, since the coordinator was started."""
        return self.telemetry.sites[number].last_contact

    def has_forgotten(self, number: int) -> bool:
        """Tell whether nothing of a site is ever taken in again, since it was forgotten."""
        return number in self.server.accounts.forgotten

    def wake(self) -> None:
        """Look at once whether there is something to do."""
        self._news.set()

    def stop(self) -> None:
        """Say that it is over, once what is being done is done."""
        self._is_over = True
        self.wake()

    def beat(self) -> None:
        """Show a sign of life to a coordinator that waits; raise JournalLost if it has taken over. From any thread."""
        self._journal.beat()
        if self.roster is not None:
            self.roster.journal.beat()

    def close(self) -> None:
        """Take a snapshot, so that the next start is quick, and close the journal."""
        if not self.failure:
            self.server.save()
            self._journal.note(self._telling.note())
            self._let_go()

    def abandon(self) -> None:
        """Let go of the journal as it is, after a failure; what was not acknowledged comes again."""
        self._journal.rollback()
        self._let_go()

    def _let_go(self) -> None:
        self._journal.close()
        if self.roster is not None:
            self.roster.close()

    def _arrive(self, arrival: Arrival) -> None:
        if not self.failure:  # or else it stays with the broker
            self._arrived.put(arrival)
            self._news.set()

    async def _group(self) -> list[Arrival]:
        """Wait for arrivals, for the deadline of a round, or until the journal is to be looked at again."""
        if not self._arrived:
            try:
                await asyncio.wait_for(self._news.wait(), self._patience(time.monotonic()))
            except TimeoutError:
                return []
        if left := self._group_timer.left(time.monotonic()):
            await asyncio.sleep(left)
        self._news.clear()
        group = self._arrived.take(LARGEST_GROUP)
        self._group_timer.began(time.monotonic(), len(group))
        return group

    def _patience(self, elapsed: float) -> float:
        """Return the seconds after which there is something to do though nothing has arrived."""
        if self._maintenance.is_storing:
            return 0.0
        lefts = (self._timer.left(elapsed), self._arrived.words_left(elapsed), MEASURE_SECONDS)
        return min(left for left in lefts if left is not None)

    async def _handle(self, group: list[Arrival]) -> None:
        now, elapsed = time.time(), time.monotonic()  # what is recorded; what measures spans, and is never set back
        self.server.tick(self.plan.charter.epoch_at(now), now)
        if self.changes.are_wanted:
            await self._background.finish()
            await self.changes.make(now)
            self._timer.seconds = self.changes.deadline
            await self._hub.enlarge(self.subjects, self.server.validation.most_bytes)
        for first in range(0, len(group), AT_A_TIME):
            self._intake.take_in(group[first : first + AT_A_TIME], now)
            await asyncio.sleep(0)  # answers to the group before may be due
        self._watch(elapsed)
        if self._timer.is_due(elapsed):
            self._telling.left_out(self.server.deadline(now).tolist(), now)
        elif self._awaits_only_the_gone():
            self.server.deadline(now)
        self._watch(elapsed)
        sealed = self.server.seal()
        self._maintenance.take_snapshot(elapsed)
        await self._background.begin(self._answer(sealed, group, now, elapsed))
        if self._maintenance.is_due(elapsed):
            await self._background.finish()
            self.concern("journal-damaged", await self._maintenance.make(now, elapsed))

    async def _answer(self, sealed: Sealed, group: list[Arrival], now: float, elapsed: float) -> None:
        """Wait for the disk while more is taken in; send what rests on it, and have the broker forget the group."""
        await asyncio.to_thread(self.server.make_safe, sealed)
        await self._send(sealed.frames, now)
        await self._hub.settle(self._arrived.to_settle(group, elapsed))
        await self._maintenance.go_on()

    def _awaits_only_the_gone(self) -> bool:
        """Tell whether a round waits, and only for sites that were forgotten or do not belong to the federation now."""
        awaited = self.server.awaited().tolist()
        there = [site for site in awaited if site not in self.server.accounts.forgotten]
        return bool(awaited) and (not there or (self.roster is not None and self.roster.has_none_of(there)))

    async def _send(self, frames: list[Leaving], now: float) -> None:
        beside = {} if self._traces is None else {"headers": self._traces.headers}
        await self._hub.send(self.subjects, ((each.site, each.data) for each in frames), **beside)
        self._telling.sent(frames, now)

    def _watch(self, elapsed: float) -> None:
        self._timer.watch(is_open=self.server.awaited().size > 0, step=self.server.node.sent, now=elapsed)
