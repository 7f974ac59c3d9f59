"""Sums of secure aggregations: by which limits they are checked, and what becomes of one that never comes.

A secure aggregation has four steps. Up to the last one a deadline drops it, and sites keep their data. In the last one
sites have counted their parts as spent, so no deadline applies, and any t answers give the sum, whenever they come. If
so many sites are lost for good that t cannot be had, an operator gives the sum up: that is a record of the journal, and
the sum is never made.

A sum is checked against the federation's limits as one site's upload of so many observations. Whether it passes decides
about the state, so that the limits are in the journal too, before the first frame that is taken in with them.
"""

from __future__ import annotations

from typing import NamedTuple

from fedbandit.core.arrays import Ints
from fedbandit.core.deadlines import ChecksSums, GivesUp, Waiting
from fedbandit.core.errors import InvalidInput
from fedbandit.core.seconds import DAY
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord, limited, limits_in
from fedbandit.durable.coordinator.revised_server import RevisedServer
from fedbandit.protocol.envelope import Envelope

WAITS, REFUSED = "sum-waits", "sum-refused"
LONG_SECONDS = 600.0  # after which somebody should look why a last step is not over


class Abandoned(NamedTuple):
    """An aggregation that was given up, and the sites whose parts in it are lost."""

    lost: list[int]
    awaited: list[int]


class AbandoningServer(RevisedServer):
    """The part of a coordinator that looks after sums, and can give one up."""

    _last_step = 0, 0.0  # the aggregation whose last step is under way, and since when that is known
    _refused_sums = 0  # that an operator was told of

    def awaited(self) -> Ints:
        """Return the sites for which an open round waits."""
        return self.node.awaited()

    def waits_beyond_deadlines(self) -> Waiting | None:
        """Return who has not answered the last step of a secure aggregation; None while none is in its last step."""
        side = self.node.side
        return side.waits_beyond(self.node.state) if isinstance(side, GivesUp) else None

    def look_at_sums(self, now: float) -> None:
        """Tell an operator of a sum that has long waited for sites, and of one that no honest sites can have."""
        self._look_at_last_step(now)
        side = self.node.side
        if not isinstance(side, ChecksSums):
            return
        refused = side.refused_sums(self.node.state)
        if refused.total > self._refused_sums:
            text = f"no observations can have the sum of a secure aggregation ({refused.reason}), and it was not "
            blamed = "taken in: some site lies or is broken, and nobody can tell which"
            self.concerns.note(REFUSED, text + blamed, now, lasts=DAY)
        self._refused_sums = refused.total

    def _look_at_last_step(self, now: float) -> None:
        waiting = self.waits_beyond_deadlines()
        if waiting is None or self._last_step[0] != waiting.number:
            self._last_step = 0 if waiting is None else waiting.number, now
            self.concerns.clear(WAITS)
        elif now - self._last_step[1] >= LONG_SECONDS:
            listed = ", ".join(map(str, waiting.awaited))
            text = f"the last step of secure aggregation {waiting.name} lacks answers of sites {listed}: start them, "
            self.concerns.note(WAITS, f"{text}or give it up with `fedbandit abandon` if they are lost for good", now)

    def _limit_sums(self, now: float) -> None:
        """Write down by which limits sums are checked, where these are others than before."""
        before, limits = self.node.sum_limits(), self.validation.limits.bounds
        if before not in (None, limits):
            record = limited(now, limits)
            self._append(record)
            self._take_in(record)

    def _take_in_of_rounds(self, record: ServerRecord) -> list[Envelope]:
        """Change what is known of an open round, or of how sums are checked, as a record says; return what is sent."""
        if record.what is RecordKind.LIMITED:
            self.node.limit_sums(limits_in(record))
            return []
        return self.node.deadline() if record.what is RecordKind.DEADLINE else self.node.abandon()

    def abandon(self, now: float) -> Abandoned:
        """Give up the secure aggregation whose last step is under way; sites hear of it when they next ask."""
        if not isinstance(self.node.side, GivesUp):
            raise InvalidInput("this federation has no secure_aggregation: there is nothing to abandon")
        waiting = self.waits_beyond_deadlines()
        if waiting is None:
            raise InvalidInput(
                "no secure aggregation waits for answers that no deadline goes on without: there is nothing to abandon"
            )
        record = ServerRecord(RecordKind.ABANDONED, now)
        self._append(record)
        self._take_in(record)
        self._sync()
        return Abandoned(waiting.answered, waiting.awaited)
