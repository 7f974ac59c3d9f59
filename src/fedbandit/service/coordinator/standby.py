"""A coordinator that waits: for journals that another one has, until that one ends, or shows no sign of life."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import without_password
from fedbandit.durable.journals.lease import waiting_for
from fedbandit.service.coordinator.settings import ServicePlan

log = logging.getLogger("fedbandit.coordinator")

LOOK_SECONDS = 0.25
RETRY_SECONDS = 1.0  # after something that is wrong


class Standby:
    """Waits for all journals of a plan, and tells what is in the way."""

    def __init__(self, plan: ServicePlan) -> None:
        """Take the plan; nothing is opened yet."""
        self._plan = plan
        self._waits = [waiting_for(plan.journal, name) for name in plan.journals]
        self.problem = ""  # why it could not take over if it had to
        self.has_waited = False  # behind another, or served before: what is wrong now may pass

    async def wait(self, pause: Callable[[float], Awaitable[None]], is_over: Callable[[], bool]) -> None:
        """Return when nobody has the journals, or when it is over."""
        is_told = False
        while not is_over():
            try:
                if await asyncio.to_thread(self._may_begin):
                    return
            except InvalidInput as error:
                await self.failed(error, pause)
                continue
            if not is_told:
                where = without_password(self._plan.journal)
                log.info("standby: another coordinator has the journals in %s; waiting", where)
            is_told = self.has_waited = True
            await pause(LOOK_SECONDS)

    async def failed(self, error: InvalidInput, pause: Callable[[float], Awaitable[None]]) -> None:
        """Take in that this one could not serve, and let a while pass; at the first start, raise it."""
        if not self.has_waited:
            raise error
        if str(error) != self.problem:
            log.error("standby: %s", error)
        self.problem = str(error)
        await pause(RETRY_SECONDS)

    def has_served(self) -> None:
        """Take in that this one serves now."""
        self.has_waited, self.problem = True, ""

    def close(self) -> None:
        """Wait no more."""
        for each in self._waits:
            each.close()

    def _may_begin(self) -> bool:
        are_free = [each.may_take() for each in self._waits]  # each is looked at, every time
        return all(are_free)
