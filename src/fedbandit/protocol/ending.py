"""How decisions end whose reward does not come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import is_number


@dataclass(frozen=True)
class Ending:
    """After how long a decision without a reward ends, and which reward is learnt in its place.

    >>> Ending(expires=3600).told()
    {'expires': 3600.0}
    >>> Ending(expires=0)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: expires must be a number greater than 0, not 0: give seconds, or leave it out
    """

    expires: float | None = None  # seconds; None: it waits for ever
    default_reward: float | None = None  # None: the decision is forgotten

    def __post_init__(self) -> None:
        """Refuse what is no length of time, or no reward."""
        if self.expires is not None and not (is_number(self.expires) and self.expires > 0):
            raise InvalidInput(
                f"expires must be a number greater than 0, not {self.expires!r}: give seconds, or leave it out"
            )
        if self.default_reward is not None and not is_number(self.default_reward):
            raise InvalidInput(
                f"default_reward must be a finite number, not {self.default_reward!r}: give the reward that a decision "
                "without one counts as, or leave it out"
            )

    def require_possible(self, *, duels: bool, largest: float) -> None:
        """Refuse a default that is no reward of the federation.

        >>> Ending(default_reward=2.0).require_possible(duels=False, largest=1.0)
        Traceback (most recent call last):
        ...
        fedbandit.core.errors.InvalidInput: default_reward is 2, farther from 0 than the limit of 1: give a reward \
within it
        """
        reward = self.default_reward
        if reward is None:
            return
        if duels and reward not in (0.0, 1.0):
            raise InvalidInput(f"default_reward is {reward:g}, but of a duel it is 1 or 0: give one of the two")
        if abs(reward) > largest:
            raise InvalidInput(
                f"default_reward is {reward:g}, farther from 0 than the limit of {largest:g}: give a reward within it"
            )

    def told(self) -> dict[str, float]:
        """Return what is set, by name."""
        return {name: float(value) for name, value in asdict(self).items() if value is not None}

    @classmethod
    def among(cls, values: Mapping[str, Any]) -> Ending:
        """Return what is set among other things.

        >>> Ending.among({"expires": 60, "clients": 3})
        Ending(expires=60, default_reward=None)
        """
        return cls(values.get("expires"), values.get("default_reward"))


FOR_EVER = Ending()  # decisions wait for their rewards, however long
