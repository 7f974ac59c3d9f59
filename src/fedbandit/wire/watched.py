"""What a site that reports has watched: sums over decisions, by which predictions, exploring and control are judged.

    rows u64 | sums of predictions f64, of rewards f64, of squared differences f64 | known u64 | explored u64
    | if there is a control group: share f64 | rewards u64 without it, u64 with it | difference f64, low f64, high f64

Where the interval of the difference is not known yet, its ends are infinite; before each group has a reward the
difference is 0.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, Self

from fedbandit.core.bounds import SLACK
from fedbandit.core.errors import ProtocolError
from fedbandit.wire.frame import LARGEST_NUMBER
from fedbandit.wire.reader import Reader

LARGEST_PREDICTION = 1e100
_SUMS = "<QdddQQ"
_CONTROL = "<dQQddd"


@dataclass(frozen=True, slots=True)
class Controlled:
    """A site's own decisions beside those of its control group."""

    share: float  # of decisions, that control makes
    without: int  # rewards of the site's own decisions
    with_control: int
    difference: float | None  # of mean rewards: how much a decision of the site's own earns more; None: not known yet
    interval: tuple[float, float] | None  # of the difference, 95 % at any time

    def to_bytes(self) -> bytes:
        """Return it as in a report."""
        low, high = self.interval or (-math.inf, math.inf)
        return struct.pack(_CONTROL, self.share, self.without, self.with_control, self.difference or 0.0, low, high)

    @classmethod
    def read(cls, reader: Reader, rewards: int) -> Self:
        """Return what stands in a report of so many rewards, or raise ProtocolError."""
        share, without, with_control, difference, low, high = reader.unpack(_CONTROL)
        interval = None if (low, high) == (-math.inf, math.inf) else (low, high)
        largest = 2 * LARGEST_PREDICTION
        is_good = 0 < share < 1 and without + with_control <= rewards and abs(difference) <= largest
        if interval is not None:
            is_good &= -1e200 <= low <= difference <= high <= 1e200
        if not is_good:
            raise ProtocolError(
                f"report speaks of a control group with {share:g} of the decisions and {with_control} of {rewards} "
                f"rewards, and of a difference of {difference:g} from {low:g} to {high:g}"
            )
        return cls(share, without, with_control, difference if without and with_control else None, interval)


@dataclass(frozen=True, slots=True)
class Watched:
    """Totals of one site since it was opened."""

    rows: int  # rewards of choices of which a reward was predicted
    predicted: float  # their sum
    reward: float  # the sum of what came
    squares: float  # of the differences
    known: int  # decisions whose propensity is known
    explored: int  # those of them that were less likely than not
    control: Controlled | None = None

    @property
    def means(self) -> tuple[float, float, float] | None:
        """Return the mean prediction, the mean reward, and the standard error of their difference; None: none yet.

        >>> Watched(rows=4, predicted=2.0, reward=3.0, squares=1.0, known=0, explored=0).means
        (0.5, 0.75, 0.25)
        """
        if self.rows < 2:
            return None
        predicted, reward = self.predicted / self.rows, self.reward / self.rows
        spread = max(0.0, self.squares / self.rows - (reward - predicted) ** 2)
        return predicted, reward, math.sqrt(spread / (self.rows - 1))

    def to_bytes(self) -> bytes:
        """Return it as in a report."""
        sums = struct.pack(_SUMS, self.rows, self.predicted, self.reward, self.squares, self.known, self.explored)
        return sums if self.control is None else sums + self.control.to_bytes()

    @classmethod
    def read(cls, reader: Reader, decisions: int, rewards: int, largest_reward: float) -> Self:
        """Return what stands in a report of so many decisions and rewards, or raise ProtocolError."""
        rows, predicted, reward, squares, known, explored = reader.unpack(_SUMS)
        if not (rows <= rewards <= LARGEST_NUMBER and explored <= known <= decisions):
            raise ProtocolError(
                f"report has watched {rows} of {rewards} rewards, and {explored} of {known} of {decisions} decisions"
            )
        most = (1 + SLACK) * rows
        is_good = abs(predicted) <= most * LARGEST_PREDICTION and abs(reward) <= most * largest_reward
        if not (is_good and 0 <= squares <= 4 * most * LARGEST_PREDICTION**2):  # nor is it so of what is no number
            raise ProtocolError(
                f"report has {predicted:g} as the sum of {rows} predictions, {reward:g} as that of their rewards, and "
                f"{squares:g} as that of squared differences"
            )
        control = Controlled.read(reader, rewards) if reader.left else None
        return cls(rows, predicted, reward, squares, known, explored, control)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Self:
        """Return what `dataclasses.asdict` has taken apart, be it by way of JSON."""
        control = values["control"]
        if control is not None:
            interval = control["interval"]
            control = Controlled(**{**control, "interval": interval and (float(interval[0]), float(interval[1]))})
        return cls(**{**values, "control": control})

    def goes_on_from(self, earlier: Watched | None) -> bool:
        """Tell whether no count is less than in an earlier report of the same life; control may have begun anew."""
        if earlier is None:
            return True
        return all(getattr(self, name) >= getattr(earlier, name) for name in ("rows", "known", "explored"))
