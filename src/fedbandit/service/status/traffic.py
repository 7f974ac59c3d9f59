"""What has travelled over time: to and from all sites, and each of some."""

from __future__ import annotations

from collections.abc import Sequence

from fedbandit.service.status.history import Bucket, History

MOST_HISTORIES = 100  # sites with a history of their own, those heard of first: it takes far more room than all else


class Traffic:
    """Counts by key and time.

    >>> traffic = Traffic()
    >>> traffic.add(1000.0, 3, {"uploads": 1, "scalars": 8})
    >>> traffic.all.buckets(now=1001.0, span=600) == traffic.sites[3].buckets(now=1001.0, span=600)
    True
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.all = History()
        self.sites: dict[int, History] = {}  # by number

    def add(self, now: float, site: int, amounts: Bucket) -> None:
        """Add to what happens now; a site below 0 is nobody on the roster."""
        self.all.add_each(now, amounts)
        self._add_to(site, now, amounts)

    def add_all(self, now: float, uploads: Sequence[tuple[int, int]], scalars: int) -> None:
        """Add many uploads, by site and bytes, with so many scalars each."""
        amounts: Bucket = {"uploads": len(uploads), "scalars": scalars * len(uploads)}
        self.all.add_each(now, {"bytes_up": sum(size for _, size in uploads), **amounts})
        for site, size in uploads:
            if site in self.sites or len(self.sites) < MOST_HISTORIES:
                self._add_to(site, now, {"bytes_up": size, "uploads": 1, "scalars": scalars})

    def _add_to(self, site: int, now: float, amounts: Bucket) -> None:
        history = self.sites.get(site)
        if history is None and site >= 0 and len(self.sites) < MOST_HISTORIES:
            history = self.sites[site] = History()
        if history is not None:
            history.add_each(now, amounts)
