"""What it means to change something that a federation has agreed on, while it runs. Parameters declare it."""

from __future__ import annotations

from enum import Enum


class Change(Enum):
    """When a new value counts, if it can be given at all."""

    AT_ONCE = "at once"  # from the moment at which a site hears of it; what it has learnt stays as it is
    MIGRATION = "with migration"  # what has been learnt is carried over to it, at the coordinator and at each site
    NEVER = "only as a new federation"  # what has been learnt means nothing under another value
