"""How many observations a site may tell of by now: a bucket that fills at the site's rate.

| | observations that it may tell of at once |
| --- | --- |
| a site that is new to this federation | what it makes in a second, at least 10 |
| any other | what it makes in a minute, at least 10 (`observations_ahead`, where given) |
| a site that was not heard of for a while | that, and what it can have made since |

The last line lets in whoever was away for long, or begins with a past of its own: an upload that is larger than the
bucket waits until the site's silence is long enough for it, and is never refused for good. What a silence allowed
beyond the bucket is forgotten with the next upload that is taken in. All this is held in memory: a coordinator that
starts anew counts silences from then on.
"""

from __future__ import annotations

from typing import NamedTuple

LEAST = 10.0  # observations at once, however slow the rate
MINUTE = 60.0


class _Credit(NamedTuple):
    left: float
    at: float


class Pace:
    """The buckets of all sites, for one rate.

    >>> pace = Pace(per_second=2.0, ahead=None)
    >>> pace.allowance(site=4, now=0.0, is_new=True)
    10.0
    >>> pace.take(site=4, observations=10, now=0.0)
    >>> pace.allowance(4, now=3.0, is_new=False), pace.allowance(4, now=3600.0, is_new=False)
    (6.0, 7200.0)
    """

    def __init__(self, per_second: float, ahead: float | None) -> None:
        """Take the rate, and how much a bucket holds; None: what is made in a minute."""
        self.per_second = per_second
        self.ahead = max(LEAST, MINUTE * per_second) if ahead is None else ahead
        self._credits: dict[int, _Credit] = {}

    def has_rate_of(self, other: Pace) -> bool:
        """Tell whether another has the same rate."""
        return (self.per_second, self.ahead) == (other.per_second, other.ahead)

    def allowance(self, site: int, now: float, is_new: bool) -> float:
        """Return how many observations the site may tell of now; the first time that it is asked, the clock starts."""
        first = min(self.ahead, max(LEAST, self.per_second)) if is_new else self.ahead
        credit = self._credits.setdefault(site, _Credit(first, now))
        if now < credit.at:  # the clock was set back
            credit = self._credits[site] = credit._replace(at=now)
        return credit.left + self.per_second * (now - credit.at)

    def take(self, site: int, observations: int, now: float) -> None:
        """Note that so many were taken in."""
        left = self.allowance(site, now, is_new=False) - observations
        self._credits[site] = _Credit(min(left, self.ahead), now)
