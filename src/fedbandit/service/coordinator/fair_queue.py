"""What has arrived and waits for its turn: no site, however much it sends, delays another by more than a turn.

The streams of the broker deliver only so much before something is settled, so a queue stays short whatever sites do. Of
questions and reports only the last of a site counts; those before it are settled unread.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from fedbandit.transport.nats.hub import Arrival
from fedbandit.transport.nats.subjects import Subjects


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

    def __init__(self, subjects: Subjects, most_of_one: int) -> None:
        """Take the subjects of the federation, and how many of one site are handled in one turn."""
        self._subjects = subjects
        self._most_of_one = most_of_one
        self._lanes: dict[int | None, _Lane] = {}  # of those who have something waiting, whose turn is next first
        self._unread: list[Arrival] = []

    def __len__(self) -> int:
        """Return how many arrivals wait."""
        return sum(map(len, self._lanes.values()))

    def put(self, arrival: Arrival) -> None:
        """Take in what has arrived; a question or a report takes the place of the site's earlier one."""
        site, subject = arrival.sender, arrival.source.subject
        lane = self._lanes.setdefault(site, _Lane())
        if site is not None and subject in (self._subjects.ask(site), self._subjects.report(site)):
            if subject in lane.last:
                self._unread.append(lane.last[subject])
            lane.last[subject] = arrival
        else:
            lane.uploads.append(arrival)

    def take(self, most: int) -> list[Arrival]:
        """Return the next group: in turn one of each site, until there are enough."""
        group: list[Arrival] = []
        for _ in range(self._most_of_one):
            for site in list(self._lanes):
                if len(group) == most:
                    return group
                lane = self._lanes.pop(site)
                group.append(lane.next())
                if lane:
                    self._lanes[site] = lane  # at the end
        return group

    def take_unread(self) -> list[Arrival]:
        """Return what was replaced before it was read, which is to be settled too."""
        unread, self._unread = self._unread, []
        return unread
