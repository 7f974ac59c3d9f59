"""What a site answers when it is asked for a decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from fedbandit.core.arrays import Ints
from fedbandit.core.errors import InvalidInput


class Decision(NamedTuple):
    """A decision: play `arm`, and tell the site the reward of `id` when it is known.

    `arm` is the id of the chosen arm if ids were given, else its index; of a duel it is a pair of them. `propensity` is
    how likely this choice was before the random draw that decided: exact, or None if it is unknown. `version` is that
    of the shared model: the number of the coordinator's last download, 0 before the first.
    """

    id: str
    arm: Any
    propensity: float | None
    version: int


def name_of(decision: str | Decision) -> str:
    """Return the name of a decision that an application hands back, by its name or as it was given.

    >>> name_of("1a-2"), name_of(Decision("1a-2", "red", 1.0, version=0))
    ('1a-2', '1a-2')
    """
    return decision.id if isinstance(decision, Decision) else decision


def named_arm(choice: Ints, ids: Sequence[Any] | None) -> Any:
    """Return the chosen arm, or the two of a duel, by the ids of the arms where there are any.

    >>> import numpy as np
    >>> named_arm(np.array([1]), ["red", "blue"]), named_arm(np.array([[1, 0]]), None)
    ('blue', (1, 0))
    """
    if choice.ndim == 1:
        index = int(choice[0])
        return index if ids is None else ids[index]
    first, second = choice[0].tolist()
    return (first, second) if ids is None else (ids[first], ids[second])


def check_ids(ids: Sequence[Any] | None, arms: int) -> None:
    """Refuse ids that are not one for each arm.

    >>> check_ids(["red"], arms=2)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: ids has 1 entries for 2 arms: give one for each arm
    """
    if ids is not None and len(ids) != arms:
        raise InvalidInput(f"ids has {len(ids)} entries for {arms} arms: give one for each arm")
