"""FN-UCB with less communication, by the name that it is asked for: who wants it need not import all algorithms."""

from __future__ import annotations

from fedbandit.algorithms.neural.fn_ucb import FNUCBLess

__all__ = ["FNUCBLess"]
