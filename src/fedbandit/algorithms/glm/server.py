"""The server side of the generalised linear family: a machine that moves only when the whole roster has answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedbandit.algorithms.glm.messages import Batch, Behind, Curvature, Due, Gradient, Statistics
from fedbandit.algorithms.glm.steps import NoSteps
from fedbandit.algorithms.glm.updates import CALLED, IDLE, GlobalUpdate, ServerState, nothing_learnt
from fedbandit.core.arrays import Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download

_PROTOCOL = {"version", "step"}


class GlmServer:
    """Asks all clients, waits for all of them, asks on, and sends the new model to all.

    Answers wait in their sender's row. An answer that comes twice, late, or to another question changes nothing, and a
    client that does not answer leaves the last model in force; when any client calls again, those who owe an answer
    are asked again.
    """

    def __init__(self, update: GlobalUpdate | None, local: NoSteps, dimension: int) -> None:
        """Take the strategies; without a global update the server has nothing to do."""
        self.update = update
        self.local = local
        self.dimension = dimension

    def start(self, clients: int) -> ServerState:
        """Return a server that has heard nothing."""
        return nothing_learnt(clients, self.dimension)

    def receive(
        self,
        state: ServerState,
        senders: Ints,
        message: Due | Behind | Statistics | Batch | Gradient | Curvature,
    ) -> Sequence[Outgoing[Download]]:
        """Begin an update, take in answers, or help a client that missed the end of the last update."""
        if self.update is None:
            return ()
        if isinstance(message, Due):
            return self._begin(state, self.update, message)
        if isinstance(message, Behind):
            late = senders[message.version < state.version]
            return self._bring_up_to_date(state, self.update, late) if late.size else ()
        return self._take_in(state, self.update, senders, message)

    def _begin(self, state: ServerState, update: GlobalUpdate, message: Due) -> Sequence[Outgoing[Download]]:
        wanted = message.version > state.version
        if not wanted.any():
            return ()
        if state.step == IDLE:
            state.step = CALLED
            state.calling_round = int(message.round[wanted].max())
        return (Outgoing(np.flatnonzero(~state.answered), update.question(state)),)

    def _bring_up_to_date(self, state: ServerState, update: GlobalUpdate, late: Ints) -> Sequence[Outgoing[Download]]:
        outgoing: list[Outgoing[Download]] = [Outgoing(late, self.local.publish(state))]
        waited_for = late[~state.answered[late]]
        if state.step != IDLE and waited_for.size:
            outgoing.append(Outgoing(waited_for, update.question(state)))
        return outgoing

    def _take_in(
        self, state: ServerState, update: GlobalUpdate, senders: Ints, message: Any
    ) -> Sequence[Outgoing[Download]]:
        fits = (message.version == state.version + 1) & (message.step == state.step) & ~state.answered[senders]
        if not fits.any():
            return ()
        expected = update.expected(state.step)
        if not isinstance(message, expected):
            raise ProtocolError(f"step {state.step} is answered by {expected.kind!r}, not by {message.kind!r}")
        if not fits.all():
            senders, message = senders[fits], message.rows(fits)
        for name in message.layout().keys() - _PROTOCOL:
            getattr(state.answers, name)[senders] = getattr(message, name)
        state.answered[senders] = True
        if not state.answered.all():
            return ()
        state.answered[:] = False
        everyone = np.arange(state.answered.size)
        if not update.advance(state):
            return (Outgoing(everyone, update.question(state)),)
        state.step = IDLE
        return (Outgoing(everyone, self.local.publish(state)),)
