"""The coordinator's process: its pages, and its terms, in which it serves. One that stands by waits between them."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from contextlib import AsyncExitStack
from functools import partial

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.lease import JournalLost, JournalTaken
from fedbandit.service.coordinator.settings import ServicePlan
from fedbandit.service.coordinator.standby import Standby
from fedbandit.service.coordinator.term import Term, pause
from fedbandit.service.status.telemetry import Telemetry

log = logging.getLogger("fedbandit.coordinator")

# After so many new objects, so many times, so many times that. By default Python soon looks through everything again,
# which takes long where there are many sites, and nobody is answered meanwhile.
LOOK_FOR_GARBAGE = (10_000, 50, 40)
# Seconds after which a thread that computes, as one does that stores a snapshot, lets another go on. The one that
# answers sites asks for its turn after each word to the broker, and would wait ten times as long by default.
SWITCH_SECONDS = 0.0005


class Coordinator:
    """Serves the federations of a plan; one that stands by does so while no other coordinator has their journals."""

    def __init__(self, plan: ServicePlan) -> None:
        """Take the plan; nothing is opened yet."""
        self.plan = plan
        self._term: Term | None = Term(plan)  # what is wrong with the plan is said now
        self._told: list[Telemetry] = []  # of the federations that are served now
        self._standby = Standby(plan) if plan.standby else None
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Serve until `stop`, or until something fails for good, which is raised."""
        async with AsyncExitStack() as stack:
            address = await self._show(stack)
            if self._standby is None:
                await self._serve(address)
            else:
                stack.callback(self._standby.close)
                await self._take_turns(self._standby, address)
        log.info("stopped")

    def stop(self) -> None:
        """Let `run` end when what is being done is done."""
        self._stop.set()
        if self._term is not None:
            self._term.stop()

    @property
    def is_active(self) -> bool:
        """Tell whether it serves, and does not stand by."""
        return self._standby is None or (self._term is not None and self._term.is_serving)

    def problem(self) -> str:
        """Return why the coordinator does not work now, or nothing."""
        if self._standby is not None and not self.is_active:
            return self._standby.problem
        return "not serving yet, or no more" if self._term is None else self._term.problem()

    async def _take_turns(self, standby: Standby, address: str) -> None:
        """Wait and serve, again and again."""
        while not self._stop.is_set():
            await standby.wait(partial(pause, self._stop), self._stop.is_set)
            if self._stop.is_set():
                return
            try:
                await self._serve(address)
            except (JournalTaken, JournalLost) as error:  # another was faster, or has taken over
                standby.has_waited = True
                log.warning("standby: %s", error)
            except InvalidInput as error:
                await standby.failed(error, partial(pause, self._stop))

    async def _serve(self, address: str) -> None:
        """Serve for a term."""
        self._term = self._term or Term(self.plan)

        def begin() -> None:
            log.info("serving at %s, status page at %s", self.plan.broker, address)
            if self.plan.elsewhere:
                log.info("left to other coordinators: %s", ", ".join(sorted(self.plan.elsewhere)))
            if self._standby is not None:
                self._standby.has_served()

        try:
            await self._term.run(self._told, begin)
        finally:
            self._told.clear()
            self._term = None

    async def _show(self, stack: AsyncExitStack) -> str:
        """Serve the pages until the stack is left; return their address."""
        try:
            from fedbandit.service.status.web import Pages, serving
        except ImportError:
            raise InvalidInput(
                "the pages need aiohttp and prometheus-client: install fedbandit with its extra deploy"
            ) from None
        pages = Pages(self._told, readiness=self.problem, is_active=lambda: self.is_active)
        return await stack.enter_async_context(serving(pages, self.plan.host, self.plan.port))


def serve(plan: ServicePlan) -> None:
    """Run a coordinator until SIGTERM or Ctrl-C."""
    gc.freeze()  # what the program consists of is no garbage
    gc.set_threshold(*LOOK_FOR_GARBAGE)
    sys.setswitchinterval(SWITCH_SECONDS)

    async def until_told() -> None:
        coordinator = Coordinator(plan)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, coordinator.stop)
        await coordinator.run()

    asyncio.run(until_told())
