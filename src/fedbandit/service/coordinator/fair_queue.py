"""What has arrived and waits for its turn: no site, however much it sends, delays another by more than a turn.

The streams of the broker deliver only so much before something is settled, so a queue stays short whatever sites do. Of
questions and reports only the last of a site counts; those before it are settled unread. They are settled now and then,
not at once, so that a site that never stops asking does not keep broker and coordinator busy.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from fedbandit.transport.nats.door import Arrival

LARGEST_GROUP = 1024  # one sync for many, but the first of a group must not wait long for its acknowledgement
AT_A_TIME = 128  # of them are taken in before something else is looked at
MOST_OF_ONE = 8  # in a group, so that a site that sends without end does not make groups long
WORDS_SECONDS = 0.1
MOST_WORDS = 1000  # that are not settled, whatever the time


@dataclass
class _Lane:
    """What waits of one site."""

    uploads: deque[Arrival] = field(default_factory=deque)
    last: dict[str, Arrival] = field(default_factory=dict)  # by subject: a question, a report

    def next(self) -> Arrival:
        """Take what comes first: words that are the last of their kind stand for many."""
        return self.last.pop(next(iter(self.last))) if self.last else self.uploads.popleft()

    def __len__(self) -> int:
        return len(self.uploads) + len(self.last)


class FairQueue:
    """Arrivals by site; a group has a few of each, in turn."""

    def __init__(self, most_of_one: int = MOST_OF_ONE) -> None:
        """Take how many of one site are handled in one turn."""
        self._most_of_one = most_of_one
        self._lanes: dict[int | None, _Lane] = {}  # of those who have something waiting, whose turn is next first
        self._words: list[Arrival] = []  # questions and reports that are not settled
        self._words_due = 0.0

    def __len__(self) -> int:
        """Return how many arrivals wait."""
        return sum(map(len, self._lanes.values()))

    def __bool__(self) -> bool:
        """Tell whether any waits."""
        return bool(self._lanes)

    def put(self, arrival: Arrival) -> None:
        """Take in what has arrived; a question or a report takes the place of the site's earlier one."""
        lane = self._lanes.setdefault(arrival.sender, _Lane())
        if arrival.is_word:
            self._words.append(arrival)
            lane.last[arrival.source.subject] = arrival
        else:
            lane.uploads.append(arrival)

    def take(self, most: int) -> list[Arrival]:
        """Return the next group: a few of each site, in turn, until there are enough.

        Several of one site at once, because they are acknowledged by one frame.
        """
        group: list[Arrival] = []
        for site in list(self._lanes):
            room = min(self._most_of_one, most - len(group))
            if not room:
                break
            lane = self._lanes.pop(site)
            group += [lane.next() for _ in range(min(room, len(lane)))]
            if lane:
                self._lanes[site] = lane  # at the end
        return group

    def to_settle(self, group: list[Arrival], elapsed: float) -> list[Arrival]:
        """Return what the broker may forget when a group is in the journal: its uploads; words, if it is time."""
        done = [each for each in group if not each.is_word]
        if elapsed >= self._words_due or len(self._words) > MOST_WORDS:
            waiting = {id(each) for lane in self._lanes.values() for each in lane.last.values()}
            done += [each for each in self._words if id(each) not in waiting]
            self._words = [each for each in self._words if id(each) in waiting]
            self._words_due = elapsed + WORDS_SECONDS
        return done

    def words_left(self, elapsed: float) -> float | None:
        """Return the seconds until questions and reports are to be settled, None if there are none."""
        return max(0.0, self._words_due - elapsed) if self._words else None
