"""What is tried for an algorithm where algorithms are compared, each with the same budget: see `leaderboard`.

Declared beside each paper's experiments, by `tuned`: three values of what the algorithm is most sensitive to, mostly
the width of its confidence bound, times two values of another knob, mostly the regulariser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple


class Knob(NamedTuple):
    """Parameters that are set alike, the name of their value, and the values to try."""

    name: str
    values: tuple[float, ...]
    parameters: tuple[str, ...] = ()  # the name's, if none are given

    def set_to(self, value: float) -> dict[str, float]:
        """Return the parameters at a value.

        >>> Knob("nu", (0.1, 1), ("nu_local", "nu_pooled")).set_to(0.1)
        {'nu_local': 0.1, 'nu_pooled': 0.1}
        """
        return dict.fromkeys(self.parameters or (self.name,), value)


@dataclass(frozen=True)
class Tuning:
    """What is tried for one algorithm."""

    knobs: tuple[Knob, ...]
    alone: bool  # its clients send nothing, whatever is tried

    def settings(self) -> list[tuple[str, dict[str, float]]]:
        """Return every combination of values, with a label.

        >>> Tuning((Knob("alpha", (0.1, 1)), Knob("ridge", (1,))), alone=False).settings()
        [('alpha 0.1, ridge 1', {'alpha': 0.1, 'ridge': 1}), ('alpha 1, ridge 1', {'alpha': 1, 'ridge': 1})]
        """
        found = []
        for values in product(*(knob.values for knob in self.knobs)):
            chosen = list(zip(self.knobs, values, strict=True))
            label = ", ".join(f"{knob.name} {value:g}" for knob, value in chosen)
            found.append((label, {key: each for knob, value in chosen for key, each in knob.set_to(value).items()}))
        return found


TUNED: dict[str, Tuning] = {}  # by the algorithm's name
WIDTHS = (0.05, 0.2, 0.8)
WIDTH, RIDGE = Knob("alpha", WIDTHS), Knob("ridge", (0.1, 1))


def tuned(*names: str, knobs: Sequence[Knob] = (), alone: bool = False) -> None:
    """Declare what is tried for some algorithms, and whether their clients send nothing."""
    TUNED.update(dict.fromkeys(names, Tuning(tuple(knobs), alone)))
