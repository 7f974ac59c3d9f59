"""The coordinator's process: all its federations on one connection to the broker, until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from contextlib import AsyncExitStack, suppress

from fedbandit.core.errors import InvalidInput
from fedbandit.service.coordinator.host import FederationHost
from fedbandit.service.coordinator.settings import ServicePlan
from fedbandit.transport.nats.hub import Hub

log = logging.getLogger("fedbandit.coordinator")

LOOK_SECONDS = 5.0
TIDY_SECONDS = 300.0  # a broker stops for a moment to remove messages: rarely, then


class Coordinator:
    """Serves the federations of a plan."""

    def __init__(self, plan: ServicePlan) -> None:
        """Take the plan; nothing is opened yet."""
        self.plan = plan
        self.hub = Hub(plan.broker, plan.credentials)
        self.hosts: list[FederationHost] = []
        self._is_serving = False
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Serve until `stop`, or until something fails for good, which is raised."""
        try:
            for each in self.plan.federations:
                self.hosts.append(FederationHost(each, self.plan.journal, self.hub))
            self._warn()
            async with AsyncExitStack() as stack:
                address = await self._show(stack)
                stack.push_async_callback(self.hub.close)
                await self.hub.connect()
                for host in self.hosts:
                    await host.open()
                log.info("serving at %s, status page at %s", self.plan.broker, address)
                self._is_serving = True
                await self._serve()
                self._is_serving = False
        except BaseException:
            for host in self.hosts:
                host.abandon()
            raise
        for host in self.hosts:
            host.close()
        log.info("stopped")

    def stop(self) -> None:
        """Let `run` end when what is being done is done."""
        self._stop.set()
        for host in self.hosts:
            host.stop()

    def problem(self) -> str:
        """Return why the coordinator does not work now, or nothing."""
        if not self._is_serving:
            return "not serving yet, or no more"
        return "" if self.hub.is_connected else f"the broker at {self.plan.broker} is away"

    async def _show(self, stack: AsyncExitStack) -> str:
        """Serve the pages until the stack is left; return their address."""
        try:
            from fedbandit.service.status.web import Pages, serving
        except ImportError:
            raise InvalidInput("the pages need aiohttp and prometheus-client: install fedbandit[deploy]") from None
        pages = Pages([host.telemetry for host in self.hosts], readiness=self.problem)
        return await stack.enter_async_context(serving(pages, self.plan.host, self.plan.port))

    async def _serve(self) -> None:
        tasks = [asyncio.create_task(host.serve()) for host in self.hosts]
        tasks.append(asyncio.create_task(self._tidy()))
        tasks.append(asyncio.create_task(self._look()))
        done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for task in done:
            task.result()

    def _warn(self) -> None:
        """Say which federations lack limits."""
        told = self.plan.warnings()
        for host in self.hosts:
            if host.plan.name in told:
                host.server.concerns.note("limits-missing", told[host.plan.name], time.time())
            host.look()

    async def _look(self) -> None:
        """Look, now and then, at what calls for somebody's attention."""
        while not self._stop.is_set():
            for host in self.hosts:
                host.look()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), LOOK_SECONDS)

    async def _tidy(self) -> None:
        """Remove from the broker's streams, now and then, what is in the journal."""
        while not self._stop.is_set():
            try:
                await asyncio.wait_for(self._stop.wait(), TIDY_SECONDS)
            except TimeoutError:
                await self.hub.tidy()


def serve(plan: ServicePlan) -> None:
    """Run a coordinator until SIGTERM or Ctrl-C."""

    async def until_told() -> None:
        coordinator = Coordinator(plan)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, coordinator.stop)
        await coordinator.run()

    asyncio.run(until_told())
