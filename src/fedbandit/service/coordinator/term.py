"""One term of a coordinator: from the opening of its journals until it is told to stop, fails, or is replaced.

All federations are on one connection to the broker. One who stands by may take the journals over from a coordinator
that was paused or cut off; when that one goes on, it finds out before it says anything, and its term is over.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING

from fedbandit.core.smallest_upload import has_smallest_upload, usual_smallest_upload
from fedbandit.durable.journals.lease import JournalLost
from fedbandit.service.coordinator.host import FederationHost
from fedbandit.service.coordinator.pulse import Pulse
from fedbandit.service.coordinator.settings import ServicePlan
from fedbandit.service.keys.files import Keys
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.transport.nats.door import Answer
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.subjects import ANY_JOINING

if TYPE_CHECKING:
    from fedbandit.service.keys.certificates import Authority
    from fedbandit.service.roster.desk import Desk

log = logging.getLogger("fedbandit.coordinator")

LOOK_SECONDS = 1.0
BROKER_SECONDS = 10.0  # between two looks at the broker
OTHER = (
    "another coordinator serves this federation at this broker, with a journal of its own: each takes in what sites "
    "send, and neither has all of it. End one of them"
)
ONE_BY_ONE = (
    "%s: smallest_upload is 1, so that an upload may rest on one observation, which can be computed from it: run "
    "fedbandit change %s smallest_upload=%d, or see the page on privacy"
)
LONGEST_CONNECTION = 3600.0  # of a site: then it has to show its credential again


class Term:
    """Serves the federations of a plan, once."""

    def __init__(self, plan: ServicePlan) -> None:
        """Take the plan; nothing is opened yet."""
        self.plan = plan
        self.hub = Hub(plan.broker, plan.credentials, replicas=plan.replicas)
        self.hosts: list[FederationHost] = []
        self.is_serving = False
        self._desk: Desk | None = None  # where the roster is changed, if there is one
        self._pulse: Pulse | None = None  # shows signs of life, if somebody may wait for the journals
        self._loss: JournalLost | None = None
        self._stop = asyncio.Event()  # it is over: stopped, or lost

    async def run(self, told: list[Telemetry], begin: Callable[[], None]) -> None:
        """Open everything, and serve until `stop`, or until something fails for good, which is raised.

        What tells of the federations is put into a list; `begin` is called when all is open.
        """
        try:
            authority = None if self.plan.authority is None else Keys(self.plan.authority).open()
            for each in self.plan.federations:
                given = {"has_roster": authority is not None, "traces": self.plan.traces}
                self.hosts.append(FederationHost(each, self.plan.journal, self.hub, **given))
            told += [host.telemetry for host in self.hosts]
            self._warn()
            async with AsyncExitStack() as stack:
                if self.plan.standby:
                    tell = asyncio.get_running_loop().call_soon_threadsafe
                    self._pulse = stack.enter_context(Pulse(self.hosts, lambda loss: tell(self._lose, loss)))
                stack.push_async_callback(self.hub.close)
                await self.hub.connect()
                _raise_first(await asyncio.gather(*(host.open() for host in self.hosts), return_exceptions=True))
                for host in self.hosts:
                    await self.hub.answer(host.subjects.charter, host.changes.answer)
                if authority is not None:
                    await self._open_door(authority)
                begin()
                self.is_serving = True
                await self._serve()
                self.is_serving = False
        except BaseException:
            self.is_serving = False
            for host in self.hosts:
                if not host.failure:
                    host.abandon()
            raise
        for host in self.hosts:
            host.close()

    def stop(self) -> None:
        """Let `run` end when what is being done is done."""
        self._stop.set()
        for host in self.hosts:
            host.stop()

    def problem(self) -> str:
        """Return why the coordinator does not work now, or nothing."""
        if not self.is_serving:
            return "not serving yet, or no more"
        failed = [f"the federation {host.plan.name} has failed ({host.failure})" for host in self.hosts if host.failure]
        if failed:
            return "; ".join(failed) + ": see the log, and start the coordinator again"
        if not self.hub.is_connected:
            return f"the broker at {self.plan.broker} is away"
        return self._broker_problem()

    def _broker_problem(self) -> str:
        trouble = self.hub.trouble
        where = f"the broker at {self.plan.broker}"
        return f"{where} does not store what sites send ({trouble}): make room on its disk" if trouble else ""

    async def _open_door(self, authority: Authority) -> None:
        """Let sites in as the rosters say, and let operators change them."""
        from fedbandit.service.roster.desk import Desk  # with a roster alone is cryptography needed
        from fedbandit.service.roster.door import ASKED, Door

        rosters = {host.plan.name: host.roster for host in self.hosts if host.roster is not None}
        end_all = partial(self.hub.end_connections, -1.0)  # however young they are
        elsewhere = self.plan.elsewhere
        self._desk = Desk(authority, {host.plan.name: host for host in self.hosts}, end_all, elsewhere)
        await self.hub.answer(ASKED, self._in_office(Door(authority.doorkeeper, rosters, elsewhere).answer))
        await self.hub.answer(ANY_JOINING, self._in_office(self._desk.answer_invited))
        for host in self.hosts:
            await self.hub.answer(host.subjects.roster, self._in_office(self._desk.answer_operator))

    def _in_office(self, answer: Answer) -> Answer:
        """Return what answers as long as nobody has taken over."""

        async def answered(subject: str, data: bytes) -> bytes | None:
            await self._require_office()
            return await answer(subject, data)

        return answered

    async def _require_office(self) -> None:
        """Raise JournalLost if another coordinator has taken over."""
        if self._pulse is not None:
            await asyncio.to_thread(self._pulse.beat)

    def _lose(self, loss: JournalLost) -> None:
        """Take in that another coordinator has taken over, or may have: this term is over."""
        self._loss = self._loss or loss
        self._stop.set()

    async def _serve(self) -> None:
        """Serve all federations; one that fails leaves the others alone, but if all have failed it is over."""
        looks = [asyncio.create_task(look) for look in (self._look(), self._look_at_the_broker(), self._send_away())]
        stopped = asyncio.create_task(self._until_stopped())
        serving = asyncio.create_task(self._serve_each())
        try:
            await asyncio.wait([serving, stopped], return_when=asyncio.FIRST_COMPLETED)
            if self._loss is not None:
                raise self._loss
            errors = await serving  # one that was stopped finishes what it is doing
        finally:
            self._stop.set()  # one that is cancelled may miss it, when it waits for the broker just then
            for each in (*looks, stopped, serving):
                each.cancel()
            await asyncio.gather(*looks, stopped, serving, return_exceptions=True)
        if all(errors):
            raise next(filter(None, errors))

    async def _until_stopped(self) -> None:
        await self._stop.wait()

    async def _serve_each(self) -> list[Exception | None]:
        return await asyncio.gather(*(self._serve_one(host) for host in self.hosts))

    async def _serve_one(self, host: FederationHost) -> Exception | None:
        try:
            await host.serve()
        except Exception as error:
            if isinstance(error, JournalLost) and self._pulse is not None:
                self._lose(error)
                return error
            log.exception("the federation %s has failed and is served no more", host.plan.name)
            host.fail(error)
            return error
        return None

    def _warn(self) -> None:
        """Say which federations lack limits, and of which single observations leave their sites."""
        told = self.plan.warnings()
        for host in self.hosts:
            algorithm, dimension = host.server.charter.algorithm, host.server.charter.setting.dimension
            if has_smallest_upload(type(algorithm)) and algorithm.smallest_upload == 1:
                log.warning(ONE_BY_ONE, host.plan.name, host.plan.name, usual_smallest_upload(dimension))
            if host.plan.name in told:
                host.server.concerns.note("limits-missing", told[host.plan.name], time.time())
            host.look()

    async def _look(self) -> None:
        """Look, now and then, at what calls for somebody's attention."""
        while not self._stop.is_set():
            self._note_broker()
            for host in self.hosts:
                host.look()
            await pause(self._stop, LOOK_SECONDS)

    def _note_broker(self) -> None:
        """Raise what the broker shows, or clear it."""
        for host in self.hosts:
            host.concern("broker-cannot-store", self._broker_problem())
            host.concern("two-coordinators", OTHER if self.hub.hears_another(host.subjects) else "")

    async def _look_at_the_broker(self) -> None:
        """Find out, now and then, whether the broker can store; and let no site stay without showing its credential."""
        while not self._stop.is_set():
            try:
                await self._require_office()
                await self.hub.probe()
                await self.hub.end_connections(older_than=LONGEST_CONNECTION, spared=self.plan.elsewhere)
            except JournalLost as loss:
                self._lose(loss)
            except Exception:
                log.exception("the broker could not be looked at")
            await pause(self._stop, BROKER_SECONDS)

    async def _send_away(self) -> None:
        """See to it that sites that were removed or revoked are not connected."""
        while self._desk is not None and not self._stop.is_set():
            try:
                if self.hub.is_connected:
                    await self._desk.send_away()
            except Exception:
                log.exception("connections of sites that are gone could not be ended")
            await pause(self._stop, LOOK_SECONDS)


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait for so long, or until it is over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


def _raise_first(found: Iterable[BaseException | None]) -> None:
    for each in found:
        if each is not None:
            raise each
