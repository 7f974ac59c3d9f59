"""A policy to take along: what a site has learnt so far, in a file, without a pickle. It decides and does not learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.around import innermost
from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.interfaces import Clients
from fedbandit.core.scores import ScorePart
from fedbandit.durable.checked_input import InputCheck
from fedbandit.durable.site.frozen_life import WHO
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.forms import Forms
from fedbandit.protocol.revisions import Agreed
from fedbandit.site.decision import check_ids, named_arm
from fedbandit.site.exploration import Lots, chances_given
from fedbandit.wire.state import decode_state, encode_state

SAMPLES = 1000  # of a policy that chooses by a sample, to see how likely it is to choose each arm


@dataclass
class PolicyFile:
    """What stands in the file."""

    charter: str
    number: int
    version: int
    state: bytes  # which type it is of follows from the charter
    taken: float = 0.0  # when, in seconds since 1970; 0 in files of versions that did not say
    form: int = 0  # of the features: see `protocol.forms`
    parts: tuple[ScorePart, ...] = ()  # what an optimistic choice needs, for readers in other languages


class Policy:
    """Chooses as the site would have chosen when the policy was taken.

    >>> from fedbandit.site.site import Site
    >>> policy = Site("async-linucb", dimension=2).policy()
    >>> policy.choose([[1.0, 0.0], [0.0, 1.0]], ids=["red", "blue"])
    'red'
    >>> Policy.from_bytes(policy.to_bytes()).version
    0
    """

    def __init__(
        self,
        charter: Charter,
        number: int,
        version: int,
        state: bytes,
        seed: int = 0,
        taken: float = 0.0,
        form: int = 0,
    ) -> None:
        """Take the state of a client side, as bytes, and when it was taken, in seconds since 1970; 0: nobody knows."""
        self.taken = taken
        self.form = form
        self.charter = charter
        self.number = number
        self.version = version
        self._check = InputCheck(charter.algorithm, charter.setting.dimension)
        self._side = charter.build_for(number).clients
        self._state = decode_state(state, type(self._side.start(1)))
        self._lots = Lots(seed, 0, self._side.draws)

    def state_for(self, side: Clients, agreed: Agreed) -> bytes:
        """Return the model of this policy as bytes, made to fit the features and parameters that a site has now.

        They may have changed since the policy was taken: `side` is the site's client side, and `agreed` knows the
        changes.
        """
        forms, before = Forms(agreed), innermost(self._side)
        if not forms.knows(self.form):
            raise InvalidInput("the policy was taken with features of which this site has not heard: take another")
        state = decode_state(encode_state(self._state), type(self._state))
        for sides, places in forms.steps(self.form):
            state, before = sides.clients.revised(state, before, places), innermost(sides.clients)
        return encode_state(side.revised(state, before))

    def choose(self, arms: Any, ids: Sequence[Any] | None = None) -> Any:
        """Return the arm to play, or the two of a duel: by its id where ids are given, else by its index."""
        charter = self.charter
        offer = self._check.offer(arms)
        check_ids(ids, charter.setting.arms if charter.algorithm.shares_context else offer.shape[1])
        return named_arm(self._side.choose(self._state, WHO, offer, self._lots.draw()), ids)

    def decide(self, offer: Floats, arms: int) -> tuple[int, Floats | None]:
        """Choose one of `arms` arms that were checked before; return its index, and the probability of each arm.

        The probabilities are those before the random draw that decided. They are None where nobody can compute them.
        """
        draws = self._lots.draw()
        chosen = int(self._side.choose(self._state, WHO, offer, draws)[0])
        return chosen, chances_given(self._side, self._state, offer, draws, chosen, arms)

    def chances(self, arms: Any) -> Floats:
        """Return the probability with which this policy chooses each arm.

        They are exact, unless the policy samples a model to choose: then they are averages over 1,000 samples.
        """
        if self.charter.algorithm.duels:
            raise InvalidInput(f"{self.charter.algorithm.id} chooses two arms, which have no chance of their own")
        side, offer = self._side, self._check.offer(arms)
        count = self.charter.setting.arms if self.charter.algorithm.shares_context else offer.shape[1]
        samples = self._lots.size - side.draws_lot
        found = np.zeros(count)
        repeats = SAMPLES if samples else 1
        for _ in range(repeats):
            draws = self._lots.draw()
            if side.draws_lot:
                found += side.chances(self._state, WHO, offer, draws)[0]
            else:
                found[int(side.choose(self._state, WHO, offer, draws)[0])] += 1.0
        return found / repeats

    def to_bytes(self) -> bytes:
        """Return the policy as bytes."""
        parts = tuple(self._side.score_parts(self._state, 0) or ())
        state = encode_state(self._state)
        file = PolicyFile(self.charter.text, self.number, self.version, state, self.taken, self.form, parts)
        return encode_state(file)

    @classmethod
    def from_bytes(cls, data: bytes, seed: int = 0) -> Policy:
        """Return the policy that bytes stand for, or raise."""
        file = decode_state(data, PolicyFile)
        if not isinstance(file, PolicyFile):
            raise ProtocolError("these bytes are a state, but not a policy")
        return cls(Charter.from_text(file.charter), file.number, file.version, file.state, seed, file.taken, file.form)

    def save(self, path: str | Path) -> None:
        """Write the policy to a file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path, seed: int = 0) -> Policy:
        """Read a policy from a file."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise InvalidInput(f"no policy can be read from {str(path)!r} ({error.strerror}): give its path") from None
        try:
            return cls.from_bytes(data, seed)
        except ProtocolError as error:
            raise InvalidInput(f"{path} is no policy that a site has saved ({error}): give the file of one") from None
