"""What an optimistic score consists of, for readers of policies in other languages."""

from __future__ import annotations

from typing import NamedTuple

from fedbandit.core.arrays import Floats


class ScorePart(NamedTuple):
    """A part of an optimistic score: see `Clients.score_parts`."""

    first: int
    estimate: Floats
    inverse: Floats
    bonus: float
