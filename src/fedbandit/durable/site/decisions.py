"""Decisions that await their reward. Rewards may come late, in any order and repeatedly; each counts once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput

RANDOM_BITS = 30  # the last of a fresh number; what stands before them is a time


def later(fresh: int, life: int) -> int:
    """Return a fresh number that is greater than a life: with a clock that was set back it may not be so by itself.

    Its random bits stay. To count on from the life would not do: whenever an old backup is restored it would come to
    the same number, and names of decisions and epochs would be given twice.

    >>> later(12, life=9), later(7, life=9) == 7 + 2**30
    (12, True)
    """
    return fresh if fresh > life else fresh + (((life - fresh >> RANDOM_BITS) + 1) << RANDOM_BITS)


@dataclass(slots=True)
class Pending:
    """One decision: what it will be learnt from, and its reward if that has come already."""

    features: Floats  # the chosen arms; all that were on offer, where the algorithm looks at those too
    choice: Ints  # their places among these
    expected: Floats | None = None  # the reward that the site expected when it chose, if it learns from that
    clock: int = 0  # the epoch in which it was made, where the federation forgets
    time: float = 0.0  # when it was made, in seconds since 1970; 0: nobody told
    row: bytes = b""  # what a log of decisions will say of it
    reward: float | None = None
    position: int = 0  # of the record that keeps it beyond the next snapshot; 0: there is none yet


class Closed(NamedTuple):
    """A decision whose reward has come, or that has ended without, for a log of decisions."""

    decision: str
    row: bytes
    reward: float | None
    time: float
    is_expired: bool


@dataclass
class Decisions:
    """All decisions of a site that have not been learnt from.

    A decision is named by the life of the site (a number that it gets whenever it is opened) and a count, so that no
    name is ever given twice, even if decisions are lost or an old backup is restored. One that was given and is not
    pending has been learnt from.
    """

    life: int = 0
    issued: dict[int, int] = field(default_factory=dict)  # by life
    pending: dict[str, Pending] = field(default_factory=dict)

    def open(self, fresh: int) -> None:
        """Begin a new life."""
        self.life = max(fresh, self.life + 1)
        self.issued[self.life] = 0

    def add(self, pending: Pending) -> str:
        """Remember a decision; return its name."""
        number = self.issued[self.life] = self.issued[self.life] + 1
        name = f"{self.life:x}-{number:x}"
        self.pending[name] = pending
        return name

    def awaiting(self, name: str) -> Pending | None:
        """Return a decision that awaits its reward, or None if that has come; refuse a name that was never given."""
        pending = self.pending.get(name) if isinstance(name, str) else None
        if pending is None:
            if not (isinstance(name, str) and self._was_given(name)):
                raise InvalidInput(f"no decision {name!r} was made at this site: give the id that choose returned")
            return None
        return pending if pending.reward is None else None

    def _was_given(self, name: str) -> bool:
        life, _, number = name.partition("-")
        try:
            given_in, count = int(life, 16), int(number, 16)
        except ValueError:
            return False
        return name == f"{given_in:x}-{count:x}" and 0 < count <= self.issued.get(given_in, 0)
