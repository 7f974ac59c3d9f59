"""The coordinator of secure aggregations, one after the other: what it has heard, and what follows. No clock.

A step is over when all who are awaited have answered, or at the deadline, and goes on only with enough of them: t of
those who contribute, and `smallest_cohort`. With fewer the aggregation is dropped, and all keep their data; but not in
step 4, when sites have counted their parts as spent: there t answers will do, whenever they come, and only an operator
can give the sum up (`abandon`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.secure.masks import check_keys
from fedbandit.secure.member import name_of, threshold_of
from fedbandit.secure.messages import AnyUpload, Keys, Left, Masked, Ready, Shares, Unmask
from fedbandit.secure.ring import Words, from_ring
from fedbandit.secure.unmasking import unmasked

NONE, KEYS, SHARES, MASKED, UNMASK, READY = range(6)  # READY: before the call, until all have something
_STAGES = {Keys: KEYS, Shares: SHARES, Masked: MASKED, Unmask: UNMASK}
_CONTENTS = {Keys: "keys", Shares: "shares", Masked: "masked sums", Unmask: "shares to unmask"}


@dataclass
class Gathering:
    """What a coordinator has heard in an aggregation: nothing from which the part of one site follows."""

    counted: Ints  # (clients,) the last aggregation that each site's part was counted in
    version: int = 0
    step: int = 0
    stage: int = NONE
    awaited: list[int] = field(default_factory=list)
    ready: set[int] = field(default_factory=set)  # who has said that it has something, and was not counted since
    observations: dict[int, int] = field(default_factory=dict)  # of all who answered step 1
    keys: dict[int, bytes] = field(default_factory=dict)  # of those who contribute: U1
    vouched: dict[int, bytes] = field(default_factory=dict)  # their signatures and certificates
    parcels: dict[int, bytes] = field(default_factory=dict)  # of those who go on: U2
    masked: dict[int, Words] = field(default_factory=dict)  # of those in the sum: U3
    shares: dict[int, bytes] = field(default_factory=dict)  # of those who answered step 4
    finished: int = 0  # aggregations that came to a sum
    dropped: int = 0  # those that too few took part in
    abandoned: int = 0  # those that an operator gave up
    refused: int = 0  # those whose sum no honest sites can have
    reason: str = ""  # of the last that was refused

    @property
    def name(self) -> str:
        """Return the name of the aggregation."""
        return name_of(self.version, self.step)

    @property
    def threshold(self) -> int:
        """Return how many of those who contribute must be there to the end."""
        return threshold_of(len(self.keys))

    @property
    def answered(self) -> dict[int, bytes] | dict[int, int] | dict[int, Words]:
        """Return what the present step has brought so far, by site."""
        by_stage: dict[int, dict[int, bytes] | dict[int, int] | dict[int, Words]] = {
            KEYS: self.observations, SHARES: self.parcels, MASKED: self.masked, UNMASK: self.shares,
        }  # fmt: skip
        return by_stage.get(self.stage, {})

    @property
    def is_under_way(self) -> bool:
        """Tell whether all were called, and the aggregation is not over."""
        return self.stage not in (NONE, READY)

    def wait_for_all(self) -> None:
        """Wait until all have something to contribute, if anybody has."""
        if self.ready:
            self.stage = READY
            self.awaited = [client for client in range(len(self.counted)) if client not in self.ready]

    def begin(self, awaited: list[int], step: int = 0) -> None:
        """Call sites to the next aggregation, which is that step of its round."""
        self.clear()
        self.version += 1
        self.stage, self.awaited, self.step = KEYS, awaited, step

    def clear(self) -> None:
        """Forget all that was heard in an aggregation."""
        self.stage, self.awaited = NONE, []
        for each in (self.observations, self.keys, self.vouched, self.parcels, self.masked, self.shares):
            each.clear()

    def check(self, sender: int, message: AnyUpload) -> None:
        """Refuse what no honest site sends: one that takes no part, the same once more with other content.

        Other keys it may send: it has come back from a backup, and has lost those that it had.
        """
        stage = _STAGES.get(type(message), NONE)
        if stage == NONE or not self._is_now(message) or not self.is_under_way:
            return
        content = _CONTENTS[type(message)]
        if stage > self.stage or (stage > KEYS and sender not in self._may_answer(stage)):
            raise ProtocolError(f"site {sender} sends {content}, but takes no part in that step of {self.name}")
        before = self._heard(stage).get(sender)
        if before is not None and before != _content(message) and stage > KEYS:
            raise ProtocolError(f"site {sender} has sent other {content} in aggregation {self.name} before")
        if isinstance(message, Keys) and message.observations[0]:
            check_keys(_content(message))
        if isinstance(message, Unmask):
            given = set(np.flatnonzero(message.shares[0].any(axis=1)).tolist())
            if not given <= set(self.parcels):
                stranger = min(given - set(self.parcels))
                raise ProtocolError(f"site {sender} has a share of site {stranger}, which is not in {self.name}")

    def take_in(self, sender: int, message: AnyUpload) -> None:
        """Note an answer to the present step; what belongs to an earlier one comes too late and changes nothing."""
        if not self._is_now(message) or not self.is_under_way:
            return
        has_lost_keys = isinstance(message, Keys) and self.keys.get(sender, b"") not in (b"", _content(message))
        if has_lost_keys and self.stage == KEYS:
            self._note(sender, message)
        elif has_lost_keys or isinstance(message, Left):
            self.awaited = [client for client in self.awaited if client != sender]
        elif sender in self.awaited and _STAGES[type(message)] == self.stage:
            self._note(sender, message)
            self.awaited = [client for client in self.awaited if client != sender]

    def may_go_on(self, smallest_cohort: int) -> bool:
        """Tell whether enough have answered the present step."""
        if self.stage == KEYS:
            return len(self.keys) >= smallest_cohort
        return len(self.answered) >= max(self.threshold, smallest_cohort if self.stage < UNMASK else 0)

    def can_go_on(self, smallest_cohort: int) -> bool:
        """Tell whether enough have answered the present step, or may still do so."""
        if self.stage == KEYS:
            return True
        return len(self.answered) + len(self.awaited) >= max(self.threshold, smallest_cohort)

    def go_on(self) -> None:
        """Begin the next step, with those who have answered."""
        self.awaited = sorted(self.keys if self.stage == KEYS else self.answered)
        self.stage += 1

    def total(self) -> Floats | None:
        """Return the sum without its masks, once the shares that have come give them."""
        if len(self.shares) < self.threshold:
            return None
        words = unmasked(self.name, self.threshold, self.keys, sorted(self.parcels), self.masked, self.shares)
        return None if words is None else from_ring(words)

    def _is_now(self, message: AnyUpload) -> bool:
        return not isinstance(message, Ready) and (self.version, self.step) == (message.version[0], message.step[0])

    def _may_answer(self, stage: int) -> dict[int, bytes] | dict[int, Words]:
        allowed: dict[int, dict[int, bytes] | dict[int, Words]] = {
            SHARES: self.keys, MASKED: self.parcels, UNMASK: self.masked,
        }  # fmt: skip
        return allowed[stage]

    def _heard(self, stage: int) -> dict[int, bytes]:
        if stage == MASKED:
            return {client: words.tobytes() for client, words in self.masked.items()}
        return {KEYS: self.keys, SHARES: self.parcels, UNMASK: self.shares}[stage]

    def _note(self, sender: int, message: AnyUpload) -> None:
        if isinstance(message, Keys):
            self.observations[sender] = int(message.observations[0])
            self.keys.pop(sender, None)
            if self.observations[sender]:
                self.keys[sender] = _content(message)
                self.vouched[sender] = message.signature[0].tobytes() + message.certificate[0].tobytes()
            elif not self.step:  # it has nothing; to a question, it has no answer
                self.ready.discard(sender)
        elif isinstance(message, Masked):
            self.masked[sender] = message.values[0].copy()
        elif isinstance(message, Shares):
            self.parcels[sender] = _content(message)
        elif isinstance(message, Unmask):
            self.shares[sender] = _content(message)


def nothing_gathered(clients: int) -> Gathering:
    """Return what a coordinator of so many sites begins with."""
    return Gathering(np.zeros(clients, dtype=np.int64))


def _content(message: AnyUpload) -> bytes:
    arrays = {Keys: "keys", Shares: "parcels", Masked: "values", Unmask: "shares"}
    content: np.ndarray = getattr(message, arrays[type(message)])[0]
    return content.tobytes()
