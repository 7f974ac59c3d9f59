"""When the next group of arrivals begins: at once, or a moment after a large one began, so that it is large as well.

A group costs a write to the disk, and words to every stream of the broker, however few uploads it has. Under load,
groups that begin as soon as they can have a few uploads each, and take several times the processor of large ones.
"""

from __future__ import annotations

import math

GATHER_SECONDS = 0.015  # that an upload waits at most for others
MANY = 16  # arrivals that show that others are coming


class GroupTimer:
    """When the next group of arrivals begins.

    >>> timer = GroupTimer()
    >>> timer.began(now=5.0, arrivals=MANY - 1)
    >>> timer.left(now=5.0)
    0.0
    >>> timer.began(now=0.0, arrivals=MANY)
    >>> timer.left(now=0.0), timer.left(now=1.0)
    (0.015, 0.0)
    """

    def __init__(self) -> None:
        """Begin before the first group."""
        self._not_before = -math.inf

    def began(self, now: float, arrivals: int) -> None:
        """Note that a group with so many arrivals has begun."""
        self._not_before = now + GATHER_SECONDS if arrivals >= MANY else -math.inf

    def left(self, now: float) -> float:
        """Return the seconds for which the next group waits for more arrivals."""
        return max(0.0, self._not_before - now)
