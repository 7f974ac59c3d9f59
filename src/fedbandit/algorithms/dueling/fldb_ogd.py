"""FLDB-OGD: Huang et al., "Federated Linear Dueling Bandits", 2025. Algorithms 1 and 2 (section 3.2).

Every client adds up, at the theta_hat that was broadcast last, the gradient of the loss of its duels, and their
information z z^T (lines 7 to 9). After round 1, and after every round t with t mod period = 0, all send both sums; the
server answers with theta_sync, theta_hat and W_sync (lines 10 to 13).

Round 1: theta_hat is the minimiser of the loss of the round's duels plus ridge / 2 |theta|^2. The gradients that the
clients have sent are those at zero, where the search begins; every further one is asked for by a `Probe`.

Later, with g the sum of the gradients and t_c = t / period (algorithm 2, lines 3 to 6):

    theta_hat <- theta_hat - g / (step_scale t_c), projected on the ball of radius 2 r around its old place
    r = sqrt((2 log(1 / delta) + d log(1 + T N curvature / (d ridge))) / (ridge curvature))
    theta_sync <- the mean of all theta_hat so far,   W_sync <- W_sync + the sum of the information

With `smallest_upload` n > 1 sums of fewer duels are kept: after round 1, with one duel, all send zeros, so that
theta_hat begins at zero, and the duel counts in the sums of the first period.

With `average_gradient` the step is g / (rounds since the last communication) / (step_scale t) instead. (Literally, g is
a sum over `period` rounds and 1 / t_c is `period` times 1 / t, so a longer period takes larger steps: with the paper's
step_scale regret then falls with the period, against the paper's figures.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fedbandit.algorithms.attendance import Attendance, nobody_yet
from fedbandit.algorithms.dueling.shared.family import (
    PAPER,
    ArmRule,
    DuelingAlgorithm,
    DuelingServer,
    Inbox,
    emptied,
    empty_inbox,
    put,
)
from fedbandit.algorithms.dueling.shared.online_duels import OnlineClients, Progress, Synchronised
from fedbandit.algorithms.dueling.shared.parts import ProgressPart
from fedbandit.algorithms.dueling.shared.search import Gradient, Lbfgs, Probe, check_gradient
from fedbandit.algorithms.federated_minimum import Gradients, Questions, no_questions
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.changes import Change
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Federation, Outgoing
from fedbandit.core.messages import Download
from fedbandit.core.parameters import parameter
from fedbandit.core.smallest_upload import smallest_upload_parameter
from fedbandit.kernels.glm.descent import Search, new_search


def literal_divisor(rounds: int, window: int, *, step_scale: float, period: int) -> float:  # noqa: ARG001
    """Return what the paper divides the sum of the gradients by: step_scale t_c, t_c = rounds / period."""
    return step_scale * rounds / period


def averaged_divisor(rounds: int, window: int, *, step_scale: float) -> float:
    """Return what `average_gradient` divides the sum over `window` rounds by: window step_scale t."""
    return window * step_scale * rounds


@formerly("ServerState")
@dataclass
class OnlineServerState:
    """The estimates and the shared information."""

    anchor: Floats  # theta_hat
    anchor_sum: Floats  # of all theta_hat so far
    anchors: int  # how many they are
    information: Floats  # W_sync
    rounds: int  # rounds that the last communication ended
    latest: int  # and that any client has told of
    search: Search  # of the minimum after round 1
    questions: Questions[Gradients]  # of the search
    gradients: Inbox
    new_information: Inbox
    attendance: Attendance  # who has sent them since the last communication


class OnlineServer(DuelingServer):
    """Finds the first minimum, and then takes one projected gradient step a communication."""

    def __init__(
        self, rule: ArmRule, period: int, divisor: Callable[[int, int], float], radius: float, smallest_upload: int
    ) -> None:
        """Take the arm rule, the period, what divides a gradient (by rounds and window), the longest step, and n."""
        super().__init__(rule)
        self.kinds = (Progress if smallest_upload == 1 else ProgressPart, Gradient)
        self.period = period
        self.divisor = divisor
        self.radius = radius
        self.solver = Lbfgs(rule.ridge)

    def start(self, clients: int) -> OnlineServerState:
        """Return a server that has received nothing."""
        size = self.rule.dimension
        return OnlineServerState(
            anchor=np.zeros(size),
            anchor_sum=np.zeros(size),
            anchors=0,
            information=self.rule.prior * np.eye(size),
            rounds=0,
            latest=0,
            search=new_search(size),
            questions=no_questions(clients, Gradients(np.zeros((clients, size)))),
            gradients=empty_inbox(clients, size),
            new_information=empty_inbox(clients, size, size),
            attendance=nobody_yet(clients),
        )

    def note_part(self, state: OnlineServerState, senders: Ints, message: Progress | ProgressPart) -> None:
        """Keep both sums until they are shared, and the latest round that anybody has told of."""
        put(state.gradients, senders, message.gradient)
        put(state.new_information, senders, message.information)
        state.latest = max(state.latest, int(message.rounds.max()))

    def check(
        self, state: OnlineServerState, sender: int, message: Progress | ProgressPart | Gradient,  # noqa: ARG002
        bounds: Bounds, observations: int,  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse sums over more duels than a period has, a round in which nothing is sent, or a too long gradient."""
        if isinstance(message, Gradient):
            check_gradient(state.questions, message, 1, bounds)  # of the first duel alone
            return
        rounds = int(message.rounds[0])
        if rounds > 1 and rounds % self.period:
            raise ProtocolError(f"nothing is sent after round {rounds}: the period is {self.period}")
        if isinstance(message, Progress):
            message.check_sums(bounds, 0, 1 if rounds == 1 else self.period)
        self.check_information(state.information, state.new_information, message.information[0])

    def sums(self, state: OnlineServerState) -> Sequence[Floats]:
        """Return what a communication changes."""
        return state.information, state.anchor, state.anchor_sum, state.search.point, state.search.trial

    def tell_anew(self, state: OnlineServerState, to: Ints) -> Sequence[Outgoing[Download]]:
        """Share all information that there is, and estimates that nobody has moved."""
        self.leave(state)
        state.information += emptied(state.new_information)
        emptied(state.gradients)
        state.rounds, state.anchors = state.latest, 0
        state.anchor[:] = state.anchor_sum[:] = 0.0
        return (Outgoing(to, self._share(state)),)

    def begin(self, state: OnlineServerState) -> Sequence[Outgoing[Download]]:
        """Take a step by what has come, or begin the search by it."""
        state.attendance.close()
        duels, gradient = int(state.gradients.counts.sum()), emptied(state.gradients)
        information = emptied(state.new_information)
        window, state.rounds = state.latest - state.rounds, state.latest
        state.information += information
        if not state.anchors:
            self.solver.begin(state.search, information, duels)
            return self._go_on(state, Gradients(gradient[np.newaxis]))
        self._descend(state, gradient, window)
        return (Outgoing(state.attendance.everyone, self._share(state)),)

    def advance(self, state: OnlineServerState) -> Sequence[Outgoing[Download]]:
        """Take one step of the search by all gradients."""
        return self._go_on(state, state.questions.rows)

    def stop(self, state: OnlineServerState) -> Sequence[Outgoing[Download]]:
        """End a search that cannot go on, if one is under way, and share where it stands."""
        if not state.questions.is_open:
            return ()
        state.questions.close()
        self.solver.retreat(state.search)
        state.anchor[:] = state.search.trial
        return (Outgoing(state.attendance.everyone, self._share(state)),)

    def _go_on(self, state: OnlineServerState, answers: Gradients) -> Sequence[Outgoing[Download]]:
        """Take one step of the search; share where it ends, and go on if all have sent more meanwhile."""
        questions = state.questions
        if not self.solver.advance(state.search, answers):
            probe = Probe(state.search.trial.copy(), is_answer=0, number=questions.ask())
            return (Outgoing(state.attendance.everyone, probe),)
        if questions.is_open:
            questions.close()
        state.anchor[:] = state.search.trial
        shared = Outgoing(state.attendance.everyone, self._share(state))
        return (shared, *(self.begin(state) if state.attendance.is_complete else ()))

    def _descend(self, state: OnlineServerState, gradient: Floats, window: int) -> None:
        """Move theta_hat against the gradient, by no more than the radius of the ball."""
        step = gradient / self.divisor(state.rounds, window)
        length = float(np.linalg.norm(step))
        state.anchor -= step if length <= self.radius else step * (self.radius / length)

    def _share(self, state: OnlineServerState) -> Synchronised:
        """Add theta_hat to the mean of all, which is theta_sync."""
        state.anchor_sum += state.anchor
        state.anchors += 1
        estimate = state.anchor_sum / state.anchors
        return Synchronised(estimate, state.anchor.copy(), state.information.copy(), state.rounds)


@dataclass(frozen=True)
class FLDBOGD(
    DuelingAlgorithm,
    id="fldb-ogd",
    title="one gradient step of all clients together, every few rounds",
    paper=PAPER,
):
    """FLDB-OGD (algorithms 1 and 2): online gradient descent, one exchange every `period` rounds.

    >>> FLDBOGD(period=0)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: period must be at least 1, not 0: give a whole number in that range
    """

    step_scale: float = parameter(1000.0, "divides every gradient step", symbol="alpha", above=0)
    period: int = parameter(1, "rounds between two communications", symbol="tau", at_least=1)
    smallest_upload: int = smallest_upload_parameter(Change.NEVER)  # type: ignore[misc]
    average_gradient: bool = parameter(False, "average the gradient over the period's rounds before the step")

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        rule = self.rule(setting, sharing=setting.clients)
        literal = partial(literal_divisor, step_scale=self.step_scale, period=self.period)
        averaged = partial(averaged_divisor, step_scale=self.step_scale)
        width = float(rule.theory(np.array([setting.horizon]))[0])
        radius = 2.0 * width / math.sqrt(rule.ridge * rule.curvature)
        if self.period < self.smallest_upload:
            raise InvalidInput(
                f"period={self.period} is below smallest_upload={self.smallest_upload}, and one sum is sent a period: "
                f"give period={self.smallest_upload} or more, or a lower smallest_upload"
            )
        divisor, least = averaged if self.average_gradient else literal, self.smallest_upload
        server = OnlineServer(rule, self.period, divisor, radius, least)
        return Federation(OnlineClients(rule, self.period, least), server)
