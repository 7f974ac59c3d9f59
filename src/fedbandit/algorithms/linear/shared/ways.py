"""The asynchronous linear family as one table: what an algorithm is made of, and what each part may be.

| part | what it says | choices |
| --- | --- | --- |
| upload rule | when a client uploads dV_i | its determinant has grown by a factor; `timed`: log growth times turns |
| `delivery` | when a client gets a download | see `Delivery` |
| `smallest_upload` | on how many observations an upload rests at least | 1: on any |
| `welcome` | whether a newcomer asks before its first turn | no: its first choice is blind |
| `uses_own` | what scores use | all that a client knows, or its last download alone |
| `precision` | how sums travel | see `shared.encoding` |

`WAYS` has one row for each algorithm; parameters of the algorithm may replace parts of it. `shared.composition` makes
the two sides of a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from fedbandit.algorithms.linear.shared.encoding import kinds_of_download, kinds_of_upload
from fedbandit.algorithms.linear.shared.exchange import NEVER
from fedbandit.algorithms.linear.shared.messages import FadingQuestion, Hello, Question, Shared, Sums, Welcome
from fedbandit.core.messages import Message


class Delivery(Enum):
    """When a client gets a download."""

    NONE = "none"  # never
    CALL = "call"  # when one client's upload has made all others upload
    PUSH = "push"  # when what it lacks has grown enough, as the server knows, who remembers each client
    REPLY = "reply"  # when it uploads, always
    UPLOAD = "upload"  # when it uploads, if what it lacks has grown enough
    TURN = "turn"  # when it asks before a turn, if what it lacks has grown enough

    @property
    def answers(self) -> bool:
        """Tell whether a client says itself what it knows, so that the server need not remember."""
        return self in (Delivery.UPLOAD, Delivery.TURN)


@dataclass(frozen=True)
class Way:
    """One row of the table."""

    delivery: Delivery
    timed: bool = False
    welcome: bool = False
    uses_own: bool = True
    precision: str = "float64"
    ask_growth: float = 1.0  # with `Delivery.TURN`: who asked after n turns asks again after ask_growth n
    smallest_upload: int = 1
    meets: bool = False  # with `Delivery.CALL`: only clients that have said hello, at their first turn, take part
    fades: bool = False  # whether sums lose weight on their way, so that questions tell eigenvalues and not a level

    @property
    def smallest(self) -> int:
        """Return how many observations of arms that are not zero an upload needs; 0: any will do."""
        return self.smallest_upload if self.smallest_upload > 1 else 0

    @property
    def first_ask(self) -> int:
        """Return how many turns a client makes before it first asks."""
        if self.welcome:
            return 0
        return 1 if self.delivery is Delivery.TURN else NEVER

    def ask_after(self, turns: int) -> int:
        """Return how many turns a client has made when it next asks, having asked after so many.

        >>> way = Way(Delivery.TURN, ask_growth=1.3)
        >>> [way.ask_after(turns) for turns in (0, 1, 2, 3, 4, 10)]
        [1, 2, 3, 4, 6, 13]
        """
        if self.delivery is not Delivery.TURN:
            return NEVER
        return max(turns + 1, math.ceil(self.ask_growth * turns - 1e-9))

    @property
    def uploads(self) -> tuple[type[Message], ...]:
        """Return the messages that a server takes in."""
        if self.delivery is Delivery.NONE:
            return ()
        found: list[type[Message]] = [self.sums]
        found += [Welcome] if self.welcome and self.delivery is not Delivery.CALL else []
        found += [Hello] if self.delivery is Delivery.PUSH or self.meets else []
        return (*found, self.question) if self.delivery is Delivery.TURN else tuple(found)

    @property
    def sums(self) -> type[Sums]:
        """Return the type of uploads that carry sums."""
        return kinds_of_upload(self.precision, asks=self.delivery is Delivery.UPLOAD, fades=self.fades)

    @property
    def question(self) -> type[FadingQuestion] | type[Question]:
        """Return the type of questions that carry none."""
        return FadingQuestion if self.fades else Question

    @property
    def downloads(self) -> tuple[type[Shared], ...]:
        """Return the messages that clients take in."""
        if self.delivery is Delivery.NONE:
            return ()
        return (kinds_of_download(self.precision, answers=self.delivery.answers),)


WAYS = {
    "local-linucb": Way(Delivery.NONE),
    "sync-linucb": Way(Delivery.CALL, timed=True),
    "async-linucb": Way(Delivery.PUSH),
    "fedlinucb": Way(Delivery.REPLY, uses_own=False),
    "lean-linucb": Way(Delivery.TURN, welcome=True, precision="float16", ask_growth=1.3),
}
