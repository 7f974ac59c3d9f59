"""How grave a concern is: some keep the coordinator from its work, all others only want to be looked at.

A grave one turns `/health` red. What concerns a site never does, whatever it is: else one site that misbehaves could
take the coordinator of all others out of service.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fedbandit.durable.coordinator.concerns import Concern

GRAVE = ("journal-damaged", "broker-cannot-store", "federation-failed", "two-coordinators")
LIGHT = (
    "limits-missing", "coordinator-went-back", "uploads-refused", "uploads-put-off", "uploads-missing", "backlog",
    "one-site-outweighs", "two-sites-one-number", "another-charter", "site-ahead-too-often", "frame-put-aside",
    "site-drift", "sum-waits", "sum-refused",
)  # fmt: skip
OTHER = "other"


def is_grave(concern: Concern) -> bool:
    """Tell whether the coordinator cannot do its work.

    >>> is_grave(Concern("journal-damaged", "record 7 is damaged", since=0.0))
    True
    >>> is_grave(Concern("journal-damaged", "says site 4", since=0.0, site=4))
    False
    """
    return concern.site is None and concern.kind in GRAVE


def by_kind(concerns: Iterable[Concern]) -> dict[str, int]:
    """Return how many concerns there are of each kind that is known, and of all others together."""
    counted = Counter(each.kind if each.kind in GRAVE + LIGHT else OTHER for each in concerns)
    return {kind: counted[kind] for kind in (*GRAVE, *LIGHT, OTHER)}
