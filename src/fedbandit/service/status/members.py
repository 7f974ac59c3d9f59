"""What the roster tells the status page and the log: the names of sites, and who is gone."""

from __future__ import annotations

from collections.abc import Sequence

from fedbandit.durable.coordinator.roster import Roster, Standing
from fedbandit.service.status.site_record import SiteRecord


def show_members(sites: Sequence[SiteRecord], roster: Roster) -> None:
    """Give sites the names that they joined under, and note who was removed or revoked and has not joined again."""
    for member in roster.members.values():
        if member.number is not None:
            site = sites[member.number]
            site.name = "" if member.name == str(member.number) else member.name
            site.is_gone = member.standing is not Standing.JOINED


def called(federation: str, sites: Sequence[SiteRecord], site: int | None) -> str:
    """Return how the log calls a federation, or one of its sites.

    >>> called("clinics", [SiteRecord(0, "north"), SiteRecord(1, "")], 0)
    'clinics, north'
    >>> called("clinics", [SiteRecord(0, "north"), SiteRecord(1, "")], 1)
    'clinics'
    """
    name = "" if site is None or site >= len(sites) else sites[site].name
    return f"{federation}, {name}" if name else federation
