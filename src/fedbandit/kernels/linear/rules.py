"""How clients of the linear family choose and when they upload: an algorithm's parameters, as kernels need them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from fedbandit.kernels.linear.confidence import Width

UCB, THOMPSON, PERTURBED, IGW = 0, 1, 2, 3
AUTO = -1.0  # a greed that says: find your own


class ScoreRule(NamedTuple):
    """Of clients that choose the arm of the best score, optimistic or by a sample."""

    ridge: float
    width: Width
    exploration: int
    timed: bool  # weigh growth by the observations since the last upload (Sync-LinUCB)


class GapRule(NamedTuple):
    """Of clients that choose by lot, with chances by inverse gap weighting."""

    ridge: float
    exploration: int
    timed: bool
    greed: float
    noise: float
    quiet_width: Width  # what the width would be without noise
    unit_width: Width  # and with noise 1; it grows with noise at a constant rate


Rule: TypeAlias = ScoreRule | GapRule
