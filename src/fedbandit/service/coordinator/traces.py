"""A coordinator's part of a trace: that an upload is taken in, and that a download follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.transport.nats.door import Arrival
from fedbandit.transport.traces import Kept, Tracing
from fedbandit.wire.frame import Kind, read_header


class HostTraces:
    """The spans of one federation."""

    def __init__(self, federation: str, server: DurableServer) -> None:
        """Take the federation's name, and who takes uploads in."""
        self._tracing = Tracing(federation=federation)
        self._server = server
        self._causes: Kept[Any] = Kept()  # by epoch and number of a download: the span of the upload it follows from

    def take_in(self, arrival: Arrival, judge: Callable[[], Verdict]) -> Verdict:
        """Judge an arrival in the span `take_in`, within the one that it came from."""
        if arrival.source.headers is None:
            return judge()
        parent, sender = self._tracing.read(arrival.source.headers), -1 if arrival.sender is None else arrival.sender
        with self._tracing.span("take_in", parent, site=sender, bytes=len(arrival.data)) as span:
            before = self._server.node.sent
            verdict = judge()
            span.set_attribute("fedbandit.outcome", verdict.outcome.name.lower())
            if verdict.outcome in (Outcome.REFUSED, Outcome.NOT_YET):
                span.add_event("refused", {"fedbandit.reason": verdict.reason})
            node = self._server.node
            for number in range(before + 1, node.sent + 1):
                self._causes.put((node.epoch, number), self._tracing.context())
            return verdict

    def headers(self, frame: bytes) -> dict[str, str] | None:
        """Return the headers of a frame to a site: those of the span `send`, if it follows from another."""
        header = read_header(frame)
        cause = self._causes.look((header.epoch, header.sequence)) if header.kind is Kind.DOWNLOAD else None
        if cause is None:
            return None
        told = {"site": header.client, "download": header.sequence, "bytes": len(frame)}
        with self._tracing.span("send", cause, **told):
            return self._tracing.written(self._tracing.context())
