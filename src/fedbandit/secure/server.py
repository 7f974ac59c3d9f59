"""The server side of an algorithm whose uploads are aggregated securely: it is given sums over several sites alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedbandit.core.around import ServerAround, WithOwnState
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.deadlines import RefusedSums, Waiting
from fedbandit.core.errors import FedbanditError
from fedbandit.core.interfaces import Outgoing, Server
from fedbandit.core.messages import Download
from fedbandit.secure.gathering import MASKED, NONE, READY, SHARES, UNMASK, nothing_gathered
from fedbandit.secure.messages import (
    KEYS_BYTES,
    PARCEL_BYTES,
    SIGNATURE_BYTES,
    UPLOADS,
    AnyUpload,
    Bytes,
    Call,
    Parcels,
    Present,
    Question,
    Ready,
    Result,
    Roster,
    marked,
    rows_of,
)
from fedbandit.secure.parts import Parts, SecureServerState
from fedbandit.wire import encode


class SecureServer(WithOwnState, ServerAround):
    """A server side that hears of no site alone; in all else it is the side within.

    It meets deadlines, gives up and checks sums (`core.deadlines`), whatever the side within can do. It cannot take one
    site out of its sums, age them, or take in many uploads at once.
    """

    def __init__(self, within: Server, parts: Parts, smallest_cohort: int, sizes: dict[str, int]) -> None:
        """Take the side, how its sums are added up, over how many sites at least, and the sizes of messages."""
        super().__init__(within)
        self.kinds, self.sizes, self.rounding = UPLOADS, sizes, 0.0
        self.number_bytes = 8  # whatever the numbers of the side within have
        self.parts = parts
        self.smallest_cohort = smallest_cohort

    def start(self, clients: int) -> SecureServerState:
        """Return a server that has received nothing."""
        return self.parts.server(self.within.start(clients), nothing_gathered(clients))

    def receive(self, state: SecureServerState, senders: Ints, message: AnyUpload) -> Sequence[Outgoing[Download]]:
        """Take in what sites send in the present step; return what begins the next, if that is over."""
        sent: list[Outgoing[Download]] = []
        for each, sender in enumerate(senders.tolist()):
            sent += self._take_in(state, sender, message.rows(slice(each, each + 1)))
        return sent

    def check(
        self, state: SecureServerState, sender: int, message: AnyUpload, bounds: Bounds, observations: int  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse what no honest site sends in the aggregation that is under way."""
        state.gathering.check(sender, message)

    def awaited(self, state: SecureServerState) -> Ints:
        """Return who has not answered a step that a deadline may end."""
        gathering = state.gathering
        return np.array(gathering.awaited if gathering.stage != UNMASK else [], dtype=np.int64)

    def deadline(self, state: SecureServerState) -> Sequence[Outgoing[Download]]:
        """End the present step with those who have answered, unless it is the last."""
        gathering = state.gathering
        if gathering.stage == READY:
            return self._call(state)
        return self._advance(state, is_over=True) if gathering.stage not in (NONE, UNMASK) else ()

    def waits_beyond(self, state: SecureServerState) -> Waiting | None:
        """Return who has not answered the last step, though it may have left; None while that is not under way."""
        gathering = state.gathering
        if gathering.stage != UNMASK:
            return None
        awaited = sorted(gathering.masked.keys() - gathering.shares.keys())
        return Waiting(gathering.version, gathering.name, sorted(gathering.shares), awaited)

    def abandon(self, state: SecureServerState) -> Sequence[Outgoing[Download]]:
        """Give up the aggregation that is under way; sites that have answered its last step lose their parts."""
        gathering = state.gathering
        if not gathering.is_under_way:
            return ()
        gathering.abandoned += 1
        return self._give_up(state)

    def sum_limits(self, state: SecureServerState) -> Bounds:
        """Return the limits by which sums are checked."""
        return Bounds(state.context, state.reward)

    def limit_sums(self, state: SecureServerState, limits: Bounds) -> None:
        """Check sums by other limits."""
        state.context, state.reward = limits.context, limits.reward

    def refused_sums(self, state: SecureServerState) -> RefusedSums:
        """Return how many sums of sites were not taken in."""
        return RefusedSums(state.gathering.refused, state.gathering.reason)

    def _take_in(self, state: SecureServerState, sender: int, message: AnyUpload) -> Sequence[Outgoing[Download]]:
        gathering = state.gathering
        if isinstance(message, Ready):
            if self.parts.waits_for_all:
                gathering.ready.add(sender)
            if gathering.is_under_way:
                return ()
            gathering.wait_for_all()
            return () if gathering.awaited else self._call(state)
        gathering.take_in(sender, message)
        return self._advance(state, is_over=False) if gathering.is_under_way else ()

    def _call(self, state: SecureServerState) -> Sequence[Outgoing[Download]]:
        """Call all to the first aggregation of a round."""
        everyone, question = np.arange(len(state.gathering.counted)), self.parts.opening(self.within, state)
        if question is not None:
            return self._ask(state, Outgoing(everyone, question), step=0)
        gathering = state.gathering
        gathering.begin(everyone.tolist())
        return (Outgoing(everyone, Call(gathering.version, 0, gathering.counted.astype(np.float64))),)

    def _ask(self, state: SecureServerState, asked: Outgoing[Download], step: int) -> Sequence[Outgoing[Download]]:
        """Call sites to an aggregation of what they answer to a question."""
        gathering, body = state.gathering, encode(asked.message)
        gathering.begin(asked.clients.tolist(), step)
        told = gathering.counted.astype(np.float64)
        return (Outgoing(asked.clients, Question(gathering.version, step, told, len(body), self._padded(body))),)

    def _advance(self, state: SecureServerState, *, is_over: bool) -> Sequence[Outgoing[Download]]:
        gathering = state.gathering
        if gathering.stage == UNMASK:
            total = gathering.total()
            return () if total is None else self._finish(state, total)
        if gathering.can_go_on(self.smallest_cohort):
            if gathering.awaited and not is_over:
                return ()
            if gathering.may_go_on(self.smallest_cohort):
                gathering.go_on()
                return self._next_step(state)
        gathering.dropped += 1
        return self._give_up(state)

    def _next_step(self, state: SecureServerState) -> Sequence[Outgoing[Download]]:
        gathering, clients = state.gathering, len(state.gathering.counted)
        name, to = (gathering.version, gathering.step), np.array(gathering.awaited)
        if gathering.stage == SHARES:
            observations = np.zeros(clients)
            observations[list(gathering.keys)] = [gathering.observations[client] for client in gathering.keys]
            signatures = {client: data[:SIGNATURE_BYTES] for client, data in gathering.vouched.items()}
            certificates = {client: data[SIGNATURE_BYTES:] for client, data in gathering.vouched.items()}
            roster = Roster(
                *name, observations, rows_of(clients, KEYS_BYTES, gathering.keys),
                rows_of(clients, SIGNATURE_BYTES, signatures),
                rows_of(clients, self.sizes["certificate"], certificates),
            )  # fmt: skip
            return (Outgoing(to, roster),)
        if gathering.stage == MASKED:
            return [Outgoing(np.array([client]), self._parcels(state, client)) for client in gathering.awaited]
        return (Outgoing(to, Present(*name, marked(clients, gathering.awaited))),)

    def _parcels(self, state: SecureServerState, to: int) -> Parcels:
        gathering, clients = state.gathering, len(state.gathering.counted)
        place = slice(to * PARCEL_BYTES, (to + 1) * PARCEL_BYTES)
        parcels = {sender: data[place] for sender, data in gathering.parcels.items()}
        senders = marked(clients, list(gathering.parcels))
        return Parcels(gathering.version, gathering.step, senders, rows_of(clients, PARCEL_BYTES, parcels))

    def _finish(self, state: SecureServerState, values: Floats) -> Sequence[Outgoing[Download]]:
        """Let the algorithm take in the sum, if it is one of honest sites."""
        gathering = state.gathering
        counted = np.array(sorted(gathering.masked))
        empty = np.array([client for client, count in sorted(gathering.observations.items()) if not count], dtype=int)
        observations = {client: gathering.observations[client] for client in counted.tolist()}
        gathering.counted[counted] = gathering.version
        if not gathering.step:
            gathering.ready.difference_update(observations)
        bounds = self.within.bounds(self.sum_limits(state))
        try:
            self.parts.check_sum(self.within, state, values, observations, bounds)
            (outgoing,) = self.parts.merge(self.within, state, values, observations, empty)
        except FedbanditError as error:  # no honest sum, or one of which the algorithm makes nothing
            gathering.refused += 1
            gathering.reason = str(error)
            return self._give_up(state)
        gathering.finished += 1
        if self.parts.is_question(outgoing.message):
            return self._ask(state, outgoing, gathering.step + 1)
        return self._end(state, encode(outgoing.message))

    def _give_up(self, state: SecureServerState) -> Sequence[Outgoing[Download]]:
        """End a round of which no sum comes."""
        told = self.parts.give_up(self.within, state)
        return self._end(state, encode(told[0].message) if told else b"")

    def _end(self, state: SecureServerState, body: bytes = b"") -> Sequence[Outgoing[Download]]:
        """Tell all that the aggregation is over, and whose parts were counted."""
        gathering = state.gathering
        gathering.clear()
        gathering.wait_for_all()
        counted = gathering.counted.astype(np.float64)
        result = Result(gathering.version, gathering.step, counted, len(body), self._padded(body))
        ended = Outgoing(np.arange(len(counted)), result)
        return (ended, *self._call(state)) if gathering.stage == READY and not gathering.awaited else (ended,)

    def _padded(self, body: bytes) -> Bytes:
        """Return a message of the algorithm at the length that all of them have."""
        return np.frombuffer(body.ljust(self.sizes["body"], b"\0"), dtype=np.uint8)
