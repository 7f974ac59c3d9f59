"""The steps of a round, each compiled for itself: for clients that act, send and receive one after the other.

A GPU waits longer for its arguments than for its results: what comes from the host travels in few arrays.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache

import jax.numpy as jnp
import numpy as np

from fedbandit.kernels.neural.arrays import Array
from fedbandit.kernels.neural.steps import Plan, Steps
from fedbandit.kernels.neural.sums import doubly


class Rounds:
    """The compiled steps of one plan (each at its first call)."""

    def __init__(self, plan: Plan) -> None:
        """Take what everything depends on."""
        self.plan = plan
        self.steps = steps = Steps(plan)
        self.device, self.network, self.matrices, self.grams = steps.device, steps.network, steps.matrices, steps.grams
        compiled = self.device.compiled
        self.choose_by_both_bounds = compiled(steps.choose_by_both_bounds)
        self.choose_by_own_bound = compiled(steps.choose_by_own_bound)
        self.observe = compiled(steps.observe, consumed=(0,))
        self.observe_for_upload = compiled(steps.observe_for_upload, consumed=(0,))
        self.train = compiled(steps.train)
        self.ratios = compiled(steps.ratios)
        self.absorb = compiled(self.matrices.absorb)
        self.inverse = compiled(self.matrices.inverse) if plan.diagonal else self.matrices.inverse
        self._refresh = compiled(steps.refresh, consumed=(0, 2))
        self.gather = compiled(steps.gather, static=("averages",))

    def active(self) -> AbstractContextManager[None]:
        """Return the context in which arrays are made and functions called."""
        return self.device.active()

    def refresh(self, base: Array | None, rows: Array, inverses: Array) -> tuple[Array, Array, Array]:
        """Return the sums with the latest rows added up, no rows, and the inverses computed afresh.

        One client after the other, each in the place of what it had: all at once would need the memory twice.
        """
        with doubly():
            sums = jnp.zeros(inverses.shape, np.float64) if base is None else base
            for client in range(len(rows)):
                sums, inverses = self._refresh(sums, rows, inverses, client)
        return sums, jnp.zeros_like(rows), inverses


@lru_cache(maxsize=16)
def rounds_of(plan: Plan) -> Rounds:
    """Return the compiled steps of a plan, the same ones whenever it is equal."""
    return Rounds(plan)
