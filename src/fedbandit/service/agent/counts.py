"""What the service counts, for Prometheus."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from fedbandit.site.site import Site

BUCKETS = (25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 10e-3, 100e-3, 1.0)  # seconds


class Counts:
    """Counters of one service, and how its site stands when they are read."""

    def __init__(self, site: Site) -> None:
        """Begin at zero."""
        self._registry = CollectorRegistry()
        named: dict[str, Any] = {"registry": self._registry, "namespace": "fedbandit_agent"}
        self._choices = Histogram("choose_seconds", "Time that a decision took.", buckets=BUCKETS, **named)
        rewards = Counter("rewards", "Rewards that were told.", ["new"], **named)
        self._rewards = {is_new: rewards.labels("yes" if is_new else "no") for is_new in (True, False)}
        for name, text, value in (
            ("pending", "Decisions that await their reward.", lambda: site.pending),
            ("unsent", "Uploads that the coordinator has not acknowledged.", lambda: site.unsent),
            ("version", "Downloads of the shared model so far.", lambda: site.version),
            ("connected", "1 if the coordinator has answered, else 0.", lambda: site.connected),
        ):
            Gauge(name, text, **named).set_function(value)

    def choosing(self) -> AbstractContextManager[Any]:
        """Count a decision, and the time that it takes."""
        return self._choices.time()

    def learnt(self, *, is_new: bool) -> None:
        """Count a reward."""
        self._rewards[is_new].inc()

    def text(self) -> bytes:
        """Return everything as Prometheus reads it."""
        return generate_latest(self._registry)
