"""Traces for OpenTelemetry: spans, and how they belong together though they are made in different processes.

Which span a frame belongs to stands in the headers of the message that carries it (W3C `traceparent`); frames are the
same bytes with traces and without. Where spans go is not said here: whoever runs the process sets OpenTelemetry up, and
without that the interface of OpenTelemetry makes none.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, Protocol, TypeVar

from fedbandit.core.errors import InvalidInput
from fedbandit.core.version import VERSION

T = TypeVar("T")
MOST_KEPT = 4096  # things that are remembered until their time comes; of more the oldest are forgotten


class FrameHeaders(Protocol):
    """What travels beside frames, in the headers of the messages that carry them."""

    def headers(self, frame: bytes) -> dict[str, str] | None:
        """Return the headers of a frame that is sent."""

    def came(self, frame: bytes, headers: Mapping[str, str] | None) -> None:
        """Hear with which headers a frame has come."""


class Kept(Generic[T]):
    """Remembers the last things by name.

    >>> kept = Kept(most=2)
    >>> for name in "abc":
    ...     kept.put(name, name.upper())
    >>> kept.take("a"), kept.take("c"), kept.take("c")
    (None, 'C', None)
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        """Begin with nothing."""
        self._most = most
        self._things: dict[Hashable, T] = {}

    def put(self, name: Hashable, thing: T) -> None:
        """Remember something, in place of what had the name before."""
        self._things.pop(name, None)
        self._things[name] = thing
        if len(self._things) > self._most:
            del self._things[next(iter(self._things))]

    def take(self, name: Hashable) -> T | None:
        """Return what has a name, and forget it."""
        return self._things.pop(name, None)

    def look(self, name: Hashable) -> T | None:
        """Return what has a name."""
        return self._things.get(name)


class Tracing:
    """Makes spans with the attributes of one site, or of one federation at its coordinator."""

    def __init__(self, **attributes: str | int) -> None:
        """Take attributes that all spans have; their names get `fedbandit.` before them."""
        try:
            from opentelemetry import context, propagate, trace
        except ImportError:
            raise InvalidInput("traces need opentelemetry-api: install fedbandit with its extra telemetry") from None
        self._trace, self._propagate, self._contexts = trace, propagate, context
        self._tracer = trace.get_tracer("fedbandit", VERSION)
        self._attributes = _named(attributes)

    def span(
        self, name: str, parent: Any = None, after: Any = None, **attributes: str | int
    ) -> AbstractContextManager[Any]:
        """Return a span for a block: within `parent`, by default the present one, and linked to `after`."""
        return self._tracer.start_as_current_span(f"fedbandit.{name}", **self._said(parent, after, attributes))  # type: ignore[no-any-return, unused-ignore]

    def begin(self, name: str, parent: Any, **attributes: str | int) -> Any:
        """Return a span that lasts until its `end` is called."""
        return self._tracer.start_span(f"fedbandit.{name}", **self._said(parent, None, attributes))

    def context(self, span: Any = None) -> Any:
        """Return what a span is to be the parent by; without one, the present span."""
        return self._trace.set_span_in_context(self._trace.get_current_span() if span is None else span)

    @contextmanager
    def within(self, headers: Mapping[str, str]) -> Iterator[None]:
        """Let spans of a block be within the one that headers of a request tell of, unless they are within another."""
        if self._trace.get_current_span().get_span_context().is_valid:
            yield
            return
        token = self._contexts.attach(self.read({name.lower(): value for name, value in headers.items()}))
        try:
            yield
        finally:
            self._contexts.detach(token)

    def written(self, context: Any) -> dict[str, str]:
        """Return a context as headers."""
        headers: dict[str, str] = {}
        self._propagate.inject(headers, context)
        return headers

    def read(self, headers: Mapping[str, str] | None) -> Any:
        """Return the context that headers tell of; an empty one if they tell of none."""
        return self._propagate.extract(dict(headers or {}), self._trace.set_span_in_context(self._trace.INVALID_SPAN))

    def _said(self, parent: Any, after: Any, attributes: Mapping[str, str | int]) -> dict[str, Any]:
        links = [] if after is None else [self._trace.Link(after)]
        return {"context": parent, "links": links, "attributes": self._attributes | _named(attributes)}


def _named(attributes: Mapping[str, str | int]) -> dict[str, str | int]:
    return {f"fedbandit.{name}": value for name, value in attributes.items()}
