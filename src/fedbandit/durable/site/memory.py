"""What a snapshot of a site holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.durable.site.events import Froze
from fedbandit.durable.site.outbox import Outbox


@dataclass
class SiteMemory:
    """A snapshot of a site. What pending decisions are learnt from stands in records that the journal keeps."""

    charter: str
    number: int
    epoch: int
    sent: int
    server_epoch: int
    received: int
    outbox: Outbox
    life: int
    issued: dict[int, int]
    waiting: list[str]
    in_exchange: bool
    state: Any
    doubt: Doubt | None = None
    clock: int | None = None  # the epoch as of which the state counts, where the federation forgets
    awaiting: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # positions of the records, in order
    rewards: dict[str, float] = field(default_factory=dict)  # of those whose reward has come
    past: tuple[str, int] = "", 0  # which log the site has learnt from before its first decision, and how many rows
    frozen: Froze | None = None  # the policy by which the site decides in place of what it has learnt
    pending: dict[str, tuple[int, float | None]] = field(default_factory=dict)  # before 0.2, in place of these two


@dataclass
class Doubt:
    """That a site was opened again, and the coordinator has not told yet whether it knows of a later life of it.

    Uploads are held back from a number on. If it knows of none, they are sent as they are; if it does, they are sent in
    a new epoch, or the site goes on from what it would be had it begun anew when it was opened.
    """

    epoch: int
    number: int
    opened_at: int  # the position of the record since which this holds
    restored_at: int  # and of the one since which the journal may be an old backup
    is_closing: bool
    anew: SiteMemory
