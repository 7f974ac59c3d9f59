"""When an open round has waited long enough: the one place where a deployment looks at a clock for a deadline."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class RoundTimer:
    """Counts from the moment at which a round, or its next step, was opened.

    >>> timer = RoundTimer(seconds=30.0)
    >>> timer.watch(is_open=True, step=1, now=100.0)
    >>> timer.left(now=110.0), timer.is_due(now=110.0), timer.is_due(now=130.0)
    (20.0, False, True)
    """

    seconds: float | None  # None: a round waits for ever
    _step: int = -1
    _began: float | None = None

    def watch(self, *, is_open: bool, step: int, now: float) -> None:
        """Look at the round: is one open, and which step of it; `step` counts what was sent."""
        if not is_open:
            self._began = None
        elif self._began is None or step != self._step:
            self._step, self._began = step, now

    def left(self, now: float) -> float | None:
        """Return the seconds until the round has waited long enough; None while nothing is awaited."""
        if self._began is None or self.seconds is None:
            return None
        return max(0.0, self._began + self.seconds - now)

    def is_due(self, now: float) -> bool:
        """Tell whether the open round is to go on without those who are silent."""
        return self.left(now) == 0.0
