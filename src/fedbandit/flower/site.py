"""The client side of a Flower app, without Flower: a site's life between two messages is bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.randomness import ClientStreams
from fedbandit.durable.checked_input import checked_limits
from fedbandit.durable.site.events import Awaiting, Chose
from fedbandit.durable.site.frozen_life import WHO
from fedbandit.durable.site.life import SiteLife
from fedbandit.durable.site.memory import SiteMemory
from fedbandit.flower.plan import Plan
from fedbandit.protocol.revisions import Agreed
from fedbandit.site.decision import Decision, name_of, named_arm
from fedbandit.site.exploration import Propensities
from fedbandit.site.offer import Offers
from fedbandit.site.policy import Policy
from fedbandit.wire.frame import Frame, Kind, Standing
from fedbandit.wire.state import decode_state, encode_state

NO_TURN = -1


class Request(NamedTuple):
    """What the server says to a site: frames, and the round in which it is to act now, if it is."""

    frames: list[bytes]
    round: int = NO_TURN


@dataclass
class FlowerMemory:
    """What a site keeps from one message to the next."""

    memory: SiteMemory
    awaiting: list[Awaiting]  # decisions without a reward
    draws: dict[str, Any] | None  # where the stream of its draws is
    acted: int  # the last round in which it acted
    is_known: bool  # whether the server has answered its introduction


class FlowerSite:
    """One site of a federation, from its first message or from what it kept."""

    def __init__(self, plan: Plan, number: int, kept: bytes | None, fresh: int) -> None:
        """Begin, or go on from bytes; `fresh` is a number that no other life of this site has had: the time will do."""
        clients = plan.charter.setting.clients
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < clients:
            raise InvalidInput(
                f"partition-id is {number!r}, but the {clients} sites are numbered from 0 to {clients - 1}: give each "
                'SuperNode one of these, as in --node-config "partition-id=0"'
            )
        self._plan, self.number = plan, number
        self.life = SiteLife(Agreed(plan.charter), number)
        self._streams = ClientStreams(plan.seed)
        self._propensities = Propensities(self.life.side, 0, plan.seed, fresh)
        self._offers = Offers(plan.charter, checked_limits(plan.charter.limits))
        self._acted, self._is_known = NO_TURN, False
        if kept is None:
            self.life.open(fresh)
        else:
            self._recall(kept)

    def answer(self, request: Request, play: Callable[[Turn], None], config: Mapping[str, Any]) -> list[bytes]:
        """Take in what the server says, act if it is this site's turn, and return all that the server may lack.

        A round that came before is not played again, so a request may come twice.
        """
        for frame in request.frames:
            self._hear(Frame.from_bytes(frame))
        if request.round > self._acted:
            self._acted = request.round
            play(Turn(self, request.round, config))
        asks = [] if self._is_known else [self.life.question(self.life.node.epoch).to_bytes()]
        return asks + self.life.outbox.unacknowledged()

    def kept(self) -> bytes:
        """Return what the site needs to go on, in this process or another."""
        waiting = [Awaiting.of(name, each, 0) for name, each in self.life.decisions.pending.items()]
        for position, each in enumerate(self.life.decisions.pending.values(), start=1):
            each.position = position
        draws = self._streams.place_of(self.number)
        return encode_state(FlowerMemory(self.life.memory(), waiting, draws, self._acted, self._is_known))

    def choose(self, arms: Any, ids: Sequence[Any] | None) -> Decision:
        """Decide as a site does, and remember what the decision will be learnt from."""
        offer, named = self._offers.read(arms, ids, None)
        life = self.life
        draws = self._streams.normals(WHO + self.number, life.side.draws)
        decided = life.decide(offer, draws)
        likely = self._propensities.of(decided, life.deciding, offer, draws)
        name = life.decided(Chose(offer, draws, decided.choices, decided.expected, 0, time.time(), b"", 0))
        return Decision(name, named_arm(decided.choices, named), likely, life.version[1])

    def learn(self, decision: str, reward: float) -> bool:
        """Take in the reward of a decision, once."""
        number = self._offers.check.reward(reward)
        pending = self.life.decisions.awaiting(decision)
        if pending is None:
            return False
        self.life.learn(decision, pending, number, time.time())
        return True

    def policy(self) -> Policy:
        """Return what the site has learnt so far."""
        state = encode_state(self.life.side.without_secrets(self.life.node.state))
        return Policy(self._plan.charter, self.number, self.life.version[1], state, taken=time.time())

    def _recall(self, kept: bytes) -> None:
        found = decode_state(kept, FlowerMemory, type(self.life.node.state))
        if not isinstance(found, FlowerMemory):
            raise ProtocolError("what Flower kept of this site is not that of a site")
        self._plan.charter.require(found.memory.charter, "what Flower kept of this site")
        self.life.recall(found.memory, dict(enumerate(found.awaiting, start=1)))
        self.life.outbox.take_new()
        if found.draws is not None:
            self._streams.go_on(self.number, found.draws)
        self._acted, self._is_known = found.acted, found.is_known

    def _hear(self, frame: Frame) -> None:
        life = self.life
        if frame.kind is Kind.DOWNLOAD:
            life.receive(frame)
        elif frame.kind is Kind.RENEWED:
            life.renew(frame.epoch)
        elif frame.kind is Kind.ACKNOWLEDGEMENT:
            life.outbox.acknowledge(frame.epoch, frame.sequence)
            self._is_known = True
        elif frame.kind is Kind.REFUSAL:
            self._is_known &= frame.standing is not Standing.ASK_FIRST
            if frame.verdict[0]:
                life.outbox.refuse(frame)
        elif frame.kind is Kind.CHARTER:
            self._plan.charter.require(Agreed.from_text(frame.body.decode()).charter.text, "the server")


@dataclass(frozen=True)
class Turn:
    """What an application is given when its site is to act: decide with `choose`, tell rewards with `learn`."""

    _site: FlowerSite = field(repr=False)
    round: int  # counted from 0
    config: Mapping[str, Any]  # of this SuperNode, as given to it with --node-config

    @property
    def number(self) -> int:
        """Return the number of this site."""
        return self._site.number

    def choose(self, arms: Any, ids: Sequence[Any] | None = None) -> Decision:
        """Decide between arms (K, d), or by a context (d,) that they share, as `fb.Site.choose` does."""
        return self._site.choose(arms, ids)

    def learn(self, decision: str | Decision, reward: float) -> bool:
        """Take in the reward of a decision of this turn or an earlier one; False if it has come before.

        Of a duel the reward is 1 if the first arm won, else 0.
        """
        return self._site.learn(name_of(decision), reward)

    def policy(self) -> Policy:
        """Return what the site has learnt so far as a policy, which can be saved to a file."""
        return self._site.policy()
