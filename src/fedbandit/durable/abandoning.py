"""A secure aggregation is given up: its last step waits for sites that will never answer.

Until that step a deadline drops an aggregation, and sites keep their data. In it they have counted their parts as
spent, so that no deadline applies, and any t answers give the sum, whenever they come. If so many sites are lost for
good that t cannot be had, an operator gives the sum up: that is a record of the journal, and the sum is never made.
"""

from __future__ import annotations

from typing import NamedTuple

from fedbandit.core.deadlines import GivesUp
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.renewal import DAY
from fedbandit.durable.revised_server import RevisedServer
from fedbandit.durable.server_record import ServerRecord, What

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

    def waits_beyond_deadlines(self) -> list[int] | None:
        """Return who has not answered the last step of a secure aggregation; None while none is in its last step."""
        side = self.node.side
        awaited = side.waits_beyond(self.node.state) if isinstance(side, GivesUp) else None
        return None if awaited is None else awaited.tolist()

    def look_at_sums(self, now: float) -> None:
        """Tell an operator of a sum that has long waited for sites, and of one that no honest sites can have."""
        if not isinstance(self.node.side, GivesUp):
            return
        gathering, awaited = self.node.state.gathering, self.waits_beyond_deadlines()
        if awaited is None or self._last_step[0] != gathering.version:
            self._last_step = 0 if awaited is None else gathering.version, now
            self.concerns.clear(WAITS)
        elif now - self._last_step[1] >= LONG_SECONDS:
            listed = ", ".join(map(str, awaited))
            text = f"secure aggregation {gathering.name} waits for too many of its sites to end, {listed}: start them, "
            self.concerns.note(WAITS, f"{text}or give it up with `fedbandit abandon` if they are lost for good", now)
        if gathering.refused > self._refused_sums:
            text = "the sum of a secure aggregation was not one that observations can have, and is not taken in: some "
            self.concerns.note(REFUSED, f"{text}site lies or is broken, and nobody can tell which", now, lasts=DAY)
        self._refused_sums = gathering.refused

    def abandon(self, now: float) -> Abandoned:
        """Give up the secure aggregation whose last step is under way; sites hear of it when they next ask."""
        side = self.node.side
        if not isinstance(side, GivesUp):
            raise InvalidInput("this federation has no secure_aggregation: there is nothing to abandon")
        awaited = self.waits_beyond_deadlines()
        if awaited is None:
            raise InvalidInput(
                "no secure aggregation waits for answers that no deadline goes on without: there is nothing to abandon"
            )
        answered = sorted(self.node.state.gathering.shares)
        record = ServerRecord(What.ABANDONED, now)
        self._append(record)
        self._take_in(record)
        self._sync()
        return Abandoned(answered, awaited)
