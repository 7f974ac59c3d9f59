"""What both sides of an algorithm have in common: what they say of messages, and how they go on after a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fedbandit.core.arrays import Ints
from fedbandit.core.messages import Message


class Side(Protocol):
    """What either side of an algorithm says of the messages that it takes in; a side inherits what it leaves unsaid."""

    sizes: Mapping[str, int] = {}  # lengths that its messages declare by name, beside or in place of N, K and d
    kinds: Sequence[type[Message]] | None = None  # those it takes in; None: those that annotate `message` of `receive`
    number_bytes: int = 8  # of one number in its arrays: 4 where they are in single precision
    discount: float = 1.0  # what sums keep of their weight when an epoch ends: see `core.forgetting`
    may_restart: bool = False  # whether the server may let all be forgotten, at both sides

    def revised(self, state: Any, before: Any, places: Ints | None = None) -> Any:  # noqa: ARG002
        """Return the state of this side with other parameters, `before`, as it is with these from now on.

        The two differ in what parameters declare that can change. Most of that is no part of a state. `before` has
        nothing around it (`core.around.innermost`), since that may differ too. `places` says of each feature where it
        stood before, -1 of a new one; None: the features are what they were.
        """
        return state

    def carried_over(self, message: Any, before: Any, places: Ints) -> Any:  # noqa: ARG002
        """Return a message to `before`, this side with other parameters, as it is to this one: both as above."""
        return message
