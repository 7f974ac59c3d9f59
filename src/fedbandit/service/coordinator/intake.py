"""How a coordinator takes in what has arrived: uploads of which all is well together, all else one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fedbandit.durable.coordinator.many_uploads import Arrived
from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.durable.coordinator.roster import Roster
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.service.coordinator.telling import Telling
from fedbandit.service.coordinator.traces import HostTraces
from fedbandit.transport.nats.door import Arrival
from fedbandit.wire.frame import REPORTS


class Intake:
    """Takes in the arrivals of one federation, and tells what became of them."""

    def __init__(
        self, server: DurableServer, telling: Telling, roster: Roster | None, traces: HostTraces | None
    ) -> None:
        """Take who takes in, who tells of it, who may send anything, if that is limited, and what traces it, if any."""
        self._server, self._telling, self._roster, self._traces = server, telling, roster, traces

    def take_in(self, arrivals: Sequence[Arrival], now: float) -> None:
        """Take in some arrivals."""
        admitted = [(each, sender) for each in arrivals if (sender := self._admitted(each)) is not None]
        is_taken = [False] * len(admitted)
        if self._traces is None:
            is_taken = self._take_in_together([Arrived(each.data, sender) for each, sender in admitted], now)
        for (arrival, sender), is_done in zip(admitted, is_taken, strict=True):
            if not is_done:
                self._take_in_one(arrival, sender, now)

    def _admitted(self, arrival: Arrival) -> int | None:
        """Return whose an arrival is, if it is to be looked at."""
        sender = arrival.sender
        if sender is None:
            self._telling.refused(None, f"refused what came under {arrival.source.subject}")
        elif self._roster is not None and self._roster.is_revoked(sender):
            self._telling.refused(sender, f"refused from site {sender}: it is revoked")
            return None
        return sender

    def _take_in_together(self, arrived: Sequence[Arrived], now: float) -> list[bool]:
        ledger = self._server.ledger
        uploads, scalars = ledger.uploads, ledger.scalars
        is_taken = self._server.take_in_together(arrived, now)
        taken = [each for each, is_done in zip(arrived, is_taken, strict=True) if is_done]
        if taken:
            each_scalars = (ledger.scalars - scalars) // (ledger.uploads - uploads)
            sizes = [(sender, len(data)) for data, sender in taken]
            with self._telling.beside():
                self._telling.telemetry.accepted(sizes, now, scalars=each_scalars)
        return is_taken

    def _take_in_one(self, arrival: Arrival, sender: int, now: float) -> None:
        judge = partial(self._verdict, arrival.data, now, sender)
        verdict = judge() if self._traces is None else self._traces.take_in(arrival, judge)
        if verdict.reason:
            word = "refused" if verdict.outcome in (Outcome.REFUSED, Outcome.NOT_YET) else "noted"
            site = sender if sender < len(self._telling.telemetry.sites) else None
            self._telling.refused(site, f"{word} from site {sender}: {verdict.reason}")

    def _verdict(self, data: bytes, now: float, sender: int) -> Verdict:
        telemetry, ledger = self._telling.telemetry, self._server.ledger
        if data[:1] in REPORTS:
            with self._telling.beside():
                return telemetry.report(data, now, sender=sender)
            return Verdict(Outcome.REFUSED)
        uploads, scalars = ledger.uploads, ledger.scalars
        verdict = self._server.receive(data, now, sender)
        with self._telling.beside():
            news = {"uploads": ledger.uploads - uploads, "scalars": ledger.scalars - scalars}
            telemetry.received(data, verdict, now, sender=sender, **news)
        return verdict
