"""A site's report of aggregate counters, for sites that opt in: how often it chose which arm, and the sum of rewards.

A report is a frame of its own kind. It is neither journalled nor acknowledged, and no algorithm sees it. It carries
totals since the site was opened (the frame's epoch), so one that is lost, late or repeated does no harm: the frame's
number counts decisions and rewards, and only a greater one is news.

    decisions u64 | rewards u64 | sum of rewards f64 | arms u8 | for each: length u8, name (UTF-8), times chosen u64
    | if there was drift, or more follows: alarms u64 of each kind | if predictions are watched: see `wire.watched`
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from fedbandit.core.bounds import SLACK
from fedbandit.core.errors import ProtocolError
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind
from fedbandit.wire.reader import Reader
from fedbandit.wire.watched import Watched

MOST_ARMS = 32  # that a report names; the others are counted together under OTHERS
LONGEST_NAME = 40  # bytes of an arm's name
LARGEST_REWARD = 1e100  # so that sums over all sites are numbers
OTHERS = ""
DRIFTS = ("rewards", "values")  # what may drift, in the order in which alarms are told
_ALARMS = struct.Struct(f"<{len(DRIFTS)}Q")


@dataclass(frozen=True, slots=True)
class Report:
    """Totals of one site since it was opened.

    >>> report = Report(decisions=3, rewards=2, reward_sum=1.5, arms={"red": 2, "blue": 1})
    >>> Report.from_frame(report.to_frame(client=7, life=1)) == report
    True
    """

    decisions: int
    rewards: int
    reward_sum: float
    arms: dict[str, int] = field(default_factory=dict)
    drift: dict[str, int] = field(default_factory=dict)  # alarms, by what has drifted
    watched: Watched | None = None

    def to_frame(self, client: int, life: int) -> Frame:
        """Return the frame of site `client` in its present life."""
        body = [struct.pack("<QQdB", self.decisions, self.rewards, self.reward_sum, len(self.arms))]
        for name, count in self.arms.items():
            text = name.encode()
            body.append(struct.pack("<B", len(text)) + text + struct.pack("<Q", count))
        if self.drift or self.watched is not None:
            body.append(_ALARMS.pack(*(self.drift.get(kind, 0) for kind in DRIFTS)))
        if self.watched is not None:
            body.append(self.watched.to_bytes())
        return Frame(Kind.REPORT, client, life, self.decisions + self.rewards, b"".join(body))

    @classmethod
    def from_frame(cls, frame: Frame, largest_reward: float = LARGEST_REWARD) -> Report:
        """Return the report of a frame, or raise ProtocolError if no site can have made it.

        No reward is farther from zero than `largest_reward`, as far as the federation knows.
        """
        reader = Reader(frame.body, "report")
        decisions, rewards, reward_sum, count = reader.unpack("<QQdB")
        arms = dict(_arm(reader) for _ in range(count))
        largest = min(largest_reward, LARGEST_REWARD)
        alarms = _ALARMS.unpack(reader.take(_ALARMS.size)) if reader.left else ()
        watched = Watched.read(reader, decisions, rewards, largest) if reader.left else None
        reader.finish()
        if count > MOST_ARMS + 1 or len(arms) != count:
            raise ProtocolError(f"report names {count} arms, {len(arms)} of them different: {MOST_ARMS} are allowed")
        if max(decisions, rewards, *arms.values(), *alarms) > LARGEST_NUMBER or frame.sequence != decisions + rewards:
            raise ProtocolError(f"report {frame.sequence} speaks of {decisions} decisions and {rewards} rewards")
        if sum(arms.values()) not in (decisions, 2 * decisions):  # a duel plays two arms
            raise ProtocolError(f"report counts {sum(arms.values())} arms in {decisions} decisions")
        if not abs(reward_sum) <= rewards * largest * (1 + SLACK):  # nor is it so of what is no number
            raise ProtocolError(
                f"report has {reward_sum:g} as the sum of {rewards} rewards: none is farther from zero than {largest:g}"
            )
        drift = {kind: count for kind, count in zip(DRIFTS, alarms, strict=False) if count}
        return cls(decisions, rewards, reward_sum, arms, drift, watched)

    def goes_on_from(self, earlier: Report) -> bool:
        """Tell whether no count is less than in an earlier report of the same life."""
        is_less = self.decisions < earlier.decisions or self.rewards < earlier.rewards
        is_less |= any(self.drift.get(kind, 0) < count for kind, count in earlier.drift.items())
        is_less |= self.watched is not None and not self.watched.goes_on_from(earlier.watched)
        return not is_less and all(self.arms.get(arm, 0) >= count for arm, count in earlier.arms.items())


def _arm(reader: Reader) -> tuple[str, int]:
    (length,) = reader.unpack("<B")
    if length > LONGEST_NAME:
        raise ProtocolError(f"report has an arm's name of {length} bytes: {LONGEST_NAME} are allowed")
    try:
        name = reader.take(length).decode()
    except UnicodeDecodeError:
        raise ProtocolError("report has an arm's name that is not UTF-8") from None
    if not name.isprintable():
        raise ProtocolError(f"report has an arm's name that cannot be printed: {name!r}")
    (count,) = reader.unpack("<Q")
    return name, count
