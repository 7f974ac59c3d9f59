"""A part of a site's decisions goes to another policy, the old one say, so that the two can be compared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Decided
from fedbandit.core.randomness import stream
from fedbandit.durable.site.frozen_life import WHO
from fedbandit.durable.site.journalled import JournalledSite
from fedbandit.logs.comparison import Comparison
from fedbandit.protocol.charter import Charter
from fedbandit.site.exploration import chances_given
from fedbandit.site.policy import Policy

MOST_WAITING = 100_000  # decisions whose group is remembered


class Mixed(NamedTuple):
    """A decision of one of two policies, and how likely it was by both together."""

    decided: Decided
    propensity: float | None
    is_control: bool


class Control:
    """Draws which decisions are made by the other policy, and compares the rewards of the two groups."""

    def __init__(self, policy: Policy, share: float, node: JournalledSite, seed: int) -> None:
        """Take the policy and its share of the decisions at a site; one that cannot decide here is refused.

        It goes on to decide by the features that there are now, also when as many others take their places.
        """
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
            raise InvalidInput(f"share must be above 0 and below 1, not {share!r}: give a part, as in 0.1")
        _require_fit(policy.charter, node.charter)
        self._form = node.form
        self.comparison = Comparison(float(share))
        self._policy = policy
        self._groups: dict[str, bool] = {}
        self._lots = stream(seed, "control", node.opening)
        self.fields = {
            is_control: f',"control":{"true" if is_control else "false"},"control_share":{float(share)!r}'.encode()
            for is_control in (False, True)
        }  # of a row of the log

    def misfit(self, charter: Charter) -> str:
        """Return why the policy cannot decide with a revised charter, "" if it can."""
        try:
            _require_fit(self._policy.charter, charter)
        except InvalidInput as error:
            return str(error)
        return ""

    def mixed(self, node: JournalledSite, offer: Floats, draws: Floats, decided: Decided, arms: int) -> Mixed:
        """Return a decision: the site's own, or the other policy's where the lot says so."""
        share, is_control = self.comparison.share, bool(self._lots.random() < self.comparison.share)
        chosen, by_control = self._policy.decide(node.as_they_were(offer, self._form), arms)
        own = chances_given(node.side, node.deciding, offer, draws, int(decided.choices[0]), arms)
        if is_control:
            choices = np.array([chosen])
            expected = node.side.expected(node.deciding, WHO, offer, choices)
            decided = Decided(choices, None, expected)
        arm = int(decided.choices[0])
        if own is None or by_control is None:
            return Mixed(decided, None, is_control)
        return Mixed(decided, float((1 - share) * own[arm] + share * by_control[arm]), is_control)

    def chose(self, name: str, is_control: bool) -> None:
        """Remember to which group a decision belongs."""
        self._groups[name] = is_control
        if len(self._groups) > MOST_WAITING:
            del self._groups[next(iter(self._groups))]

    def learnt(self, name: str, reward: float) -> None:
        """Take in a reward; of decisions from before the site was opened only the log knows the group."""
        group = self._groups.pop(name, None)
        if group is not None:
            self.comparison.add(group, reward)


def _require_fit(one: Charter, here: Charter) -> None:
    """Refuse a policy that cannot choose from what is on offer here."""
    if here.algorithm.duels or one.algorithm.duels:
        raise InvalidInput("duels have no rewards to compare: control is for algorithms that choose one arm")
    for what, there, wanted in (
        ("dimension", one.setting.dimension, here.setting.dimension),
        ("features", one.features, here.features),
        ("shares_context", one.algorithm.shares_context, here.algorithm.shares_context),
    ):
        if there != wanted:
            raise InvalidInput(
                f"{what} of the policy is {there!r}, and of the site {wanted!r}: give a policy that decides between "
                "the same arms"
            )
