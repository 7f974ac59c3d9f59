"""The server side of the generalised linear family: a machine that moves only when the whole roster has answered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedbandit.algorithms.glm.shared.messages import Answer, Batch, Behind, Call, Curvature, Due, Gradient, Statistics
from fedbandit.algorithms.glm.shared.plausible import largest_residual, largest_slope
from fedbandit.algorithms.glm.shared.steps import NoSteps
from fedbandit.algorithms.glm.shared.updates import CALLED, IDLE, GlmServerState, GlobalUpdate, nothing_learnt
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_length, check_not_ahead
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Outgoing, Server
from fedbandit.core.messages import Download, Upload


class GlmServer(Server):
    """Asks all clients, waits for all of them, asks on, and sends the new model to all.

    Answers wait in their sender's row. An answer that comes twice, late, or to another question changes nothing, and a
    client that does not answer leaves the last model in force; when any client calls again, those who owe an answer
    are asked again. A deadline goes on without those who are silent, to the end of the update: what they have learnt
    is asked for again by the next one, from the last observation on that the server has.
    """

    begins_anew = True

    def __init__(
        self, update: GlobalUpdate | None, local: NoSteps, dimension: int, kinds: Sequence[type[Upload]]
    ) -> None:
        """Take the strategies, and what clients may send; without a global update there is nothing to do."""
        self.update = update
        self.local = local
        self.dimension = dimension
        self.kinds = kinds

    def start(self, clients: int) -> GlmServerState:
        """Return a server that has heard nothing."""
        return nothing_learnt(clients, self.dimension)

    def receive(
        self, state: GlmServerState, senders: Ints, message: Due | Behind | Answer
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

    def check(
        self, state: GlmServerState, sender: int, message: Due | Behind | Answer, bounds: Bounds,
        observations: int,  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse an update that is far ahead, and answers that are too large for the sender's n observations.

        With r and s as in `plausible`, at the model that was asked about: |gradient| <= n L r, the Hessian is positive
        semi-definite with a trace of at most n s L^2. An answer to another question than the open one changes nothing,
        nor does one of a client that is not asked it.
        """
        check_not_ahead("update", int(message.version[0]), state.version + 1)
        if self.update is None or isinstance(message, Due | Behind):
            return
        is_asked = bool(state.questions.fits(np.array([sender]), message.step)[0])
        if message.version[0] != state.version + 1 or not is_asked:
            return
        self._check_kind(state, self.update, message)
        if not isinstance(message, Statistics):
            told = int(message.told()[0]) if isinstance(message, Batch) else _told(state, sender)
            self.check_size(state, message, told, bounds)

    def check_size(self, state: GlmServerState, message: Batch | Gradient | Curvature, n: int, bounds: Bounds) -> None:
        """Refuse an answer to the open question that is too large for n observations."""
        assert self.update is not None, "else nothing is asked"
        link = self.update.link
        model = state.model if isinstance(message, Batch) else state.search.iterate
        residual = largest_residual(link, model, bounds) * bounds.context if n else 0.0
        check_length("gradient", message.gradient[0], n * residual)
        if isinstance(message, Curvature):
            bounds.check_gram("curvature", message.curvature[0], n, largest_slope(link, model, bounds))

    def sums(self, state: GlmServerState) -> Sequence[Floats]:
        """Return what an update changes."""
        return state.gram, state.moment, state.model, state.metric, state.search.iterate, state.search.place

    def _begin(self, state: GlmServerState, update: GlobalUpdate, message: Due) -> Sequence[Outgoing[Download]]:
        wanted = message.version > state.version
        if not wanted.any():
            return ()
        if not state.questions.is_open:
            state.questions.ask()
            state.calling_round = int(message.round[wanted].max())
        return (Outgoing(state.questions.awaited(), update.question(state)),)

    def awaited(self, state: GlmServerState) -> Ints:
        """Return who takes part in the update under way and has not answered."""
        return state.questions.awaited()

    def deadline(self, state: GlmServerState) -> Sequence[Outgoing[Download]]:
        """Go on without those who are silent; if all are, the last model stays in force."""
        questions = state.questions
        if self.update is None or not questions.is_open:
            return ()
        questions.forget_silent()
        questions.dismiss_silent()
        if not questions.roster.any():
            self._end(state)
            return ()
        if questions.number == CALLED:
            return self._go_on(state, self.update)
        self.update.begin_search(state)  # another sum is minimised from here on
        questions.ask()
        return (Outgoing(questions.awaited(), self.update.question(state)),)

    def numbered(self, state: GlmServerState) -> int:
        """Return the number of the update that is under way, or comes next."""
        return state.version + 1

    def count_on(self, state: GlmServerState, number: int) -> None:
        """Let the last update have this number."""
        state.version = number

    def tell_anew(self, state: GlmServerState, to: Ints) -> Sequence[Outgoing[Download]]:
        """Send clients a model that nobody has moved, and call for all that they have observed: they have it still."""
        if self.update is None:
            return ()
        version, calling_round = state.version, state.calling_round
        vars(state).update(vars(self.start(len(state.taken))))
        state.version, state.calling_round = version, calling_round
        state.questions.ask()
        return Outgoing(to, self.local.publish(state)), Outgoing(to, Call(version + 1, since=0))

    def go_on_without_silent(self, state: GlmServerState) -> Sequence[Outgoing[Download]]:
        """Go on by the answers that have come, which cannot be asked for again; whoever is silent takes no more part.

        At a deadline the same place is asked about once more. Where answers are sums over some clients, two of them
        about one place, over different clients, would be their difference.
        """
        assert self.update is not None, "else nothing is asked"
        state.questions.forget_silent()
        state.questions.dismiss_silent()
        if state.questions.number != CALLED:
            self.update.begin_search(state)
        return self._go_on(state, self.update)

    def stop(self, state: GlmServerState) -> Sequence[Outgoing[Download]]:
        """End an update that cannot go on, if one is under way; return the last model, which stays in force."""
        if state.questions.is_open:
            self._end(state)
        return (Outgoing(state.questions.everyone, self.local.publish(state)),) if state.version else ()

    def _bring_up_to_date(
        self, state: GlmServerState, update: GlobalUpdate, late: Ints
    ) -> Sequence[Outgoing[Download]]:
        outgoing: list[Outgoing[Download]] = [Outgoing(late, self.local.publish(state))]
        waited_for = late[state.questions.silent[late]]
        if state.questions.is_open and waited_for.size:
            outgoing.append(Outgoing(waited_for, update.question(state)))
        return outgoing

    def _take_in(
        self, state: GlmServerState, update: GlobalUpdate, senders: Ints, message: Answer
    ) -> Sequence[Outgoing[Download]]:
        fits = state.questions.fits(senders, message.step) & (message.version == state.version + 1)
        if not fits.any():
            return ()
        self._check_kind(state, update, message)
        again: list[Outgoing[Download]] = []
        if isinstance(message, Statistics | Batch):
            whole = message.since == state.taken[senders]  # or an update went on without what came before
            again = [self._call_again(state, sender) for sender in senders[fits & ~whole].tolist()]
            fits &= whole
        return self._go_on(state, update) if state.questions.take_in(senders, message, fits) else again

    def _check_kind(self, state: GlmServerState, update: GlobalUpdate, message: Upload) -> None:
        step = state.questions.number
        expected = update.expected(step)
        if not isinstance(message, expected):
            raise ProtocolError(f"step {step} is answered by {expected.kind!r}, not by {message.kind!r}")

    def _call_again(self, state: GlmServerState, client: int) -> Outgoing[Download]:
        return Outgoing(np.array([client]), Call(state.version + 1, since=int(state.taken[client])))

    def _go_on(self, state: GlmServerState, update: GlobalUpdate) -> Sequence[Outgoing[Download]]:
        """Use the answers of all who take part: ask them on, or send everyone the new model."""
        questions = state.questions
        if not update.advance(state):
            questions.ask()
            return (Outgoing(questions.awaited(), update.question(state)),)
        self._end(state)
        return (Outgoing(questions.everyone, self.local.publish(state)),)

    def _end(self, state: GlmServerState) -> None:
        state.questions.close()
        state.questions.number = IDLE


def _told(state: GlmServerState, sender: int) -> int:
    """Return of how many observations a client has told in the update under way."""
    return int(state.questions.rows.observations[sender])
