"""The part of a site's life that decides: by what it has learnt, or by a policy that was frozen or loaded."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.interfaces import Clients, Decided
from fedbandit.durable.site.agreed_life import AgreedLife
from fedbandit.durable.site.events import Froze
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire.state import decode_state, encode_state

WHO = np.zeros(1, dtype=np.int64)


class FrozenLife(AgreedLife):
    """A site that goes on learning, whatever it decides by."""

    _policy: Any = None  # the state by which it decides; None: what it has learnt
    frozen_at = 0.0  # when the policy was taken, in seconds since 1970

    @property
    def deciding(self) -> Any:
        """Return the state by which the site decides."""
        return self.node.state if self._policy is None else self._policy

    @property
    def is_frozen(self) -> bool:
        """Tell whether the site decides by a policy."""
        return self._policy is not None

    @property
    def frozen(self) -> Froze | None:
        """Return the policy by which the site decides in place of what it has learnt, if there is one."""
        return None if self._policy is None else Froze(encode_state(self._policy), self.frozen_at)

    def freeze(self, policy: Froze | None) -> None:
        """Decide by a policy from now on, or again by what is learnt."""
        self._policy, self.frozen_at = None, 0.0
        if policy is not None and policy.state:
            self._policy, self.frozen_at = decode_state(policy.state, type(self.node.state)), policy.taken

    def decide(self, features: Floats, draws: Floats) -> Decided:
        """Return the choice."""
        return self.node.side.decide(self.deciding, WHO, features, draws)

    def _take_up(self, side: Clients, agreed: Agreed) -> None:
        """Carry over what the policy knows, too."""
        if self._policy is not None:
            self._policy = self.node.revised(self._policy, side, agreed)
        super()._take_up(side, agreed)
