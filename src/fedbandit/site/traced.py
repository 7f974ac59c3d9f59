"""A site that tells OpenTelemetry what it does: a span for each choice, reward, upload and download.

    choose                                  linked from
      learn                                 the reward of that decision, in the span of whoever tells it
        upload                              from the sending of what the reward gave rise to until it is acknowledged
          take_in, at the coordinator
            send, at the coordinator        of the download that followed
              download                      at each site that hears it

Spans name the site, decisions by their ids, and messages by their numbers: no arm, context or reward is in them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from fedbandit.core.errors import ProtocolError
from fedbandit.features.features import Values
from fedbandit.site.decision import Decision, name_of
from fedbandit.site.site import Site
from fedbandit.transport.link import RESEND, Connect
from fedbandit.transport.nats.link import connector
from fedbandit.transport.traces import Kept, Tracing
from fedbandit.wire.frame import Frame, Kind, read_header


class TracedSite(Site):
    """A `Site` with traces; it is opened, and used, as that is. A plain `Site` has none, and pays nothing for them."""

    def __init__(self, *given: Any, **named: Any) -> None:
        """Open the site as `Site` does, if there is OpenTelemetry."""
        self._tracing = Tracing(site=int(named.get("number") or 0))
        self._order = threading.RLock()  # so that an upload belongs to the reward that gave rise to it
        self._decided: Kept[Any] = Kept()  # by decision: the span of its choice
        self._causes: Kept[Any] = Kept()  # by epoch and number of an upload: of what it follows
        self._uploads: Kept[Any] = Kept()  # likewise: its own span, until it is acknowledged
        self._came: Kept[Any] = Kept()  # by epoch and number of a download: where it comes from
        super().__init__(*given, **named)

    def choose(self, arms: Any = None, ids: Sequence[Any] | None = None, *, context: Values | None = None) -> Decision:
        """Decide as `Site.choose` does, in a span."""
        with self._tracing.span("choose") as span, self._noting():
            decision = super().choose(arms, ids, context=context)
            span.set_attributes({"fedbandit.decision": decision.id, "fedbandit.version": decision.version})
            self._decided.put(decision.id, span.get_span_context())
            return decision

    def learn(self, decision: str | Decision, reward: float) -> bool:
        """Take in a reward as `Site.learn` does, in a span that is linked to that of the choice."""
        name = name_of(decision)
        known = self._decided.look(name)
        with self._tracing.span("learn", after=known, decision=str(name)) as span, self._noting():
            is_new = super().learn(decision, reward)
            span.set_attribute("fedbandit.is_new", is_new)
            self._decided.take(name)
            return is_new

    def hear(self, frame: bytes) -> str:
        """Take in a frame as `Site.hear` does; a download is a span, and an acknowledgement ends those of uploads."""
        header = read_header(frame)
        if header.kind is not Kind.DOWNLOAD:
            answer = super().hear(frame)
            if header.kind is Kind.ACKNOWLEDGEMENT:
                self._end(header.epoch, Frame.from_bytes(frame).sequence)
            return answer
        version = header.epoch, header.sequence
        numbers = {"download": header.sequence, "bytes": len(frame)}
        with self._tracing.span("download", self._came.take(version), **numbers), self._noting():
            return super().hear(frame)

    def news(self) -> list[bytes]:
        """Return what `Site.news` does; with it the spans of uploads begin."""
        return self._begun(super().news())

    def everything(self) -> list[bytes]:
        """Return what `Site.everything` does; what is sent again is in the span that it was in."""
        return self._begun(super().everything())

    async def run(
        self, to: str | Connect, *, credentials: str | Path | None = None, every: float = RESEND, patience: float = 1.0
    ) -> None:
        """Talk to the coordinator as `Site.run` does; the spans of frames travel beside them."""
        self._introduce(to, credentials)
        await super().run(self._with_headers(to, credentials), every=every, patience=patience)

    def connect(
        self, to: str | Connect, *, credentials: str | Path | None = None, every: float = RESEND, patience: float = 1.0
    ) -> None:
        """Talk to the coordinator as `Site.connect` does; the spans of frames travel beside them."""
        self._introduce(to, credentials)
        super().connect(self._with_headers(to, credentials), every=every, patience=patience)

    def within(self, headers: Mapping[str, str]) -> AbstractContextManager[None]:
        """Let what is done in a block be within the span of a request, of which its headers tell."""
        return self._tracing.within(headers)

    def headers(self, frame: bytes) -> dict[str, str] | None:
        """Return the headers of a frame that is sent: those of its span, if it has one."""
        header = read_header(frame)
        span = self._uploads.look((header.epoch, header.sequence)) if header.kind is Kind.UPLOAD else None
        return None if span is None else self._tracing.written(self._tracing.context(span))

    def came(self, frame: bytes, headers: Mapping[str, str] | None) -> None:
        """Remember where a download comes from until it is heard."""
        with suppress(ProtocolError):  # which `hear` tells of
            header = read_header(frame)
            if headers and header.kind is Kind.DOWNLOAD:
                self._came.put((header.epoch, header.sequence), self._tracing.read(headers))

    def _with_headers(self, to: str | Connect, credentials: str | Path | None) -> Connect:
        return connector(to, self.node.number, credentials, self) if isinstance(to, str) else to

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Note of which span the uploads are that come about in a block."""
        with self._order:
            epoch, before = self.node.last_upload
            yield
            now, after = self.node.last_upload
            for number in range(before + 1 if now == epoch else 1, after + 1):
                self._causes.put((now, number), self._tracing.context())

    def _begun(self, frames: list[bytes]) -> list[bytes]:
        for frame in frames:
            header = read_header(frame)
            number = header.epoch, header.sequence
            cause = self._causes.take(number) if header.kind is Kind.UPLOAD else None
            if cause is not None:
                told = {"upload": header.sequence, "bytes": len(frame)}
                self._uploads.put(number, self._tracing.begin("upload", cause, **told))
        return frames

    def _end(self, epoch: int, up_to: int) -> None:
        """End the spans of uploads that are acknowledged; those before them were, or are kept no longer."""
        number = up_to
        while (span := self._uploads.take((epoch, number))) is not None:
            span.end()
            number -= 1
