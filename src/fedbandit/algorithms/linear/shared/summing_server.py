"""What the servers have in common that keep V_g and b_g: how these fade, and how other features change them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from fedbandit.algorithms.linear.shared import encoding
from fedbandit.algorithms.linear.shared.carrying_over import Summed, carried_upload, carry_sums
from fedbandit.algorithms.linear.shared.forgetting import age_arrays, aged_upload
from fedbandit.algorithms.linear.shared.ways import Way
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Server
from fedbandit.core.messages import Upload

S = TypeVar("S", bound=Summed)


class SummingServer(Server, Generic[S]):
    """Adds up what clients upload."""

    def __init__(self, ridge: float, dimension: int, way: Way) -> None:
        """Take the regularisation, the dimension of the arms, and how sums travel."""
        self.ridge = ridge
        self.dimension = dimension
        self.kinds = way.uploads
        self.precision = way.precision
        self.rounding = encoding.ROUNDING[way.precision]

    def sums(self, state: S) -> Sequence[Floats]:
        """Return V_g and b_g."""
        return state.gram, state.moment

    def revised(self, state: S, before: Any, places: Ints | None = None) -> S:  # noqa: ARG002
        """Carry sums over to other features."""
        if places is not None:
            carry_sums(state, places)
        return state

    def carried_over(self, message: Upload, before: Any, places: Ints) -> Upload:  # noqa: ARG002
        """Return an upload as it is with other features or another ridge."""
        return carried_upload(message, places, self.ridge)

    def age(self, state: S, weight: float) -> None:
        """Let all uploads so far count for less."""
        age_arrays(weight, state.gram, state.moment)

    def aged(self, message: Upload, weight: float) -> Upload:
        """Return an upload of an earlier epoch as it counts now."""
        return aged_upload(message, weight)
