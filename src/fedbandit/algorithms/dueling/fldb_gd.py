"""FLDB-GD: Huang et al., "Federated Linear Dueling Bandits", 2025. Algorithms 3 and 4 (appendix A).

After every round all clients together move theta_sync to the minimiser of (equation 1)

    sum over all clients' duels so far of -log sigmoid(theta^T z)  +  ridge / 2 |theta|^2

without showing a duel. The information goes first: every client sends the z z^T of its new duel, the server adds them
to W_sync and sends it back. This calls for gradients. An inner step is: every client sends the gradient of its own
loss where theta stands, the server adds them up, moves theta and sends it. theta stands where the last round
left it (a warm start, which the clients hold already), and the last theta sent is theta_sync.

(The paper sends W after the inner steps. First is as good, the messages are the same, and it lets the server bound the
Hessian by W / 4: see `fedbandit.kernels.glm.descent`.)

`solver` says how theta moves: `lbfgs` until the gradient is as small as rounding allows (assumption 4.1), with the
pairs of earlier rounds in its memory; or `gradient`, line 3 of algorithm 4: theta - step * gradient, `inner_steps`
times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.algorithms.attendance import Attendance, nobody_yet
from fedbandit.algorithms.dueling.shared.family import (
    PAPER,
    ArmRule,
    Beliefs,
    DuelingAlgorithm,
    DuelingClients,
    DuelingServer,
    Inbox,
    emptied,
    empty_inbox,
    put,
)
from fedbandit.algorithms.dueling.shared.search import Gradient, GradientSteps, Lbfgs, Probe, check_gradient
from fedbandit.algorithms.federated_minimum import Gradients, Questions, Solver, no_questions
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Federation, Outgoing
from fedbandit.core.messages import Download, Layout, Upload, array, header
from fedbandit.core.parameters import parameter
from fedbandit.core.turns import Observations
from fedbandit.kernels.dueling.choices import share_inverse, winner_minus_loser
from fedbandit.kernels.dueling.preference import gradients, keep_duels, outer_products
from fedbandit.kernels.glm.descent import Search, new_search
from fedbandit.kernels.glm.kept_data import Kept, nothing_kept


@dataclass(frozen=True)
class Information(Upload, kind="dueling.information"):
    """What a client's new duel tells: W_new = z z^T."""

    information: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))

    def check(self, bounds: Bounds) -> None:
        """Refuse what is no z z^T: positive semi-definite, trace |z|^2 <= (2 L)^2, and sum of squares trace^2."""
        for information in self.information:
            trace = bounds.check_gram("information", information, observations=1)
            if np.square(information / (trace or 1.0)).sum() < 1.0 - 1e-6 and trace > 0.0:
                raise ProtocolError("the information is not that of one duel: it has more than one direction")


@dataclass(frozen=True)
class SharedInformation(Download, kind="dueling.shared-information"):
    """W_sync; and a call for the first gradient of the round, at theta_sync."""

    information: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    number: int = header()  # of the question


@formerly("CohortState")
@dataclass
class GradientCohortState(Beliefs):
    """Beliefs of clients that keep their duels to themselves."""

    kept: Kept


class GradientClients(DuelingClients):
    """Clients that answer every theta with the gradient of their own loss."""

    def start(self, clients: int) -> GradientCohortState:
        """Return a cohort that has seen nothing."""
        return GradientCohortState(*self.beliefs(clients), nothing_kept(clients, self.rule.dimension))

    def learn(self, state: GradientCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Keep each client's duel and send its information."""
        differences = winner_minus_loser(seen.features, seen.choice, seen.feedback)
        state.kept = keep_duels(state.kept, who, differences)
        state.turns[who] += 1
        return (Outgoing(who, Information(outer_products(differences))),)

    def receive(
        self, state: GradientCohortState, to: Ints, message: SharedInformation | Probe
    ) -> Sequence[Outgoing[Upload]]:
        """Take in W_sync, or the answer; else send the gradient that is asked for."""
        if isinstance(message, SharedInformation):
            share_inverse(message.information, to, state.inverse)
            theta = state.estimate[to]
        elif message.is_answer:
            state.estimate[to] = message.theta
            return ()
        else:
            theta = np.tile(message.theta, (len(to), 1))
        return (Outgoing(to, Gradient(gradients(state.kept, to, theta), np.full(len(to), message.number))),)


@formerly("ServerState")
@dataclass
class GradientServerState:
    """The shared information, and where the minimisation of the round stands."""

    information: Floats  # W_sync
    duels: int  # that it is the sum of
    search: Search
    questions: Questions[Gradients]  # of the search
    new_information: Inbox
    attendance: Attendance  # who has sent information since the last search began


class GradientServer(DuelingServer):
    """Adds up information and gradients, and moves theta."""

    def __init__(self, rule: ArmRule, solver: Solver[Search, Gradients]) -> None:
        """Take the arm rule, and the way in which theta moves."""
        super().__init__(rule)
        self.solver = solver

    def start(self, clients: int) -> GradientServerState:
        """Return a server that has received nothing."""
        size = self.rule.dimension
        return GradientServerState(
            information=self.rule.prior * np.eye(size),
            duels=0,
            search=new_search(size),
            questions=no_questions(clients, Gradients(np.zeros((clients, size)))),
            new_information=empty_inbox(clients, size, size),
            attendance=nobody_yet(clients),
        )

    def receive(
        self, state: GradientServerState, senders: Ints, message: Information | Gradient
    ) -> Sequence[Outgoing[Download]]:
        """When all clients have sent their part: share the new W_sync, or move theta."""
        if isinstance(message, Information):
            put(state.new_information, senders, message.information)
            state.attendance.answer(senders)
            return self.begin(state) if state.attendance.is_complete and not state.questions.is_open else ()
        is_last = state.questions.take_in(senders, message, state.questions.fits(senders, message.number))
        return self.advance(state) if is_last else ()

    def check(
        self, state: GradientServerState, sender: int, message: Information | Gradient,  # noqa: ARG002
        bounds: Bounds, observations: int,
    ) -> None:  # fmt: skip
        """Refuse a gradient that is too long for the duels that the sender has told of, or information too large."""
        if isinstance(message, Gradient):
            check_gradient(state.questions, message, observations, bounds)
        else:
            self.check_information(state.information, state.new_information, message.information[0])

    def sums(self, state: GradientServerState) -> Sequence[Floats]:
        """Return W_sync, and where the search stands."""
        return state.information, state.search.bound_inverse, state.search.point, state.search.trial

    def begin(self, state: GradientServerState) -> Sequence[Outgoing[Download]]:
        """Share W_sync, and ask for the first gradients."""
        state.attendance.close()
        state.duels += int(state.new_information.counts.sum())
        state.information += emptied(state.new_information)
        gram = state.information - self.rule.prior * np.eye(self.rule.dimension)
        self.solver.begin(state.search, gram, state.duels)
        shared = SharedInformation(state.information.copy(), state.questions.ask())
        return (Outgoing(state.attendance.everyone, shared),)

    def advance(self, state: GradientServerState) -> Sequence[Outgoing[Download]]:
        """Move theta; where it has arrived, begin anew if all have had another duel meanwhile."""
        questions = state.questions
        is_answer = self.solver.advance(state.search, questions.rows)
        if is_answer:
            questions.close()
            questions.number += 1  # the answer has one too, though nobody says anything to it
        else:
            questions.ask()
        probe = Outgoing(state.attendance.everyone, Probe(state.search.trial.copy(), int(is_answer), questions.number))
        return (probe, *(self.begin(state) if is_answer and state.attendance.is_complete else ()))


@dataclass(frozen=True)
class FLDBGD(
    DuelingAlgorithm,
    id="fldb-gd",
    title="all clients find the joint maximum-likelihood estimate by exchanging gradients, every round",
    paper=PAPER,
):
    """FLDB-GD (algorithms 3 and 4): the joint maximum-likelihood estimate after every round, gradients travel.

    >>> FLDBGD(solver="newton")
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: unknown solver 'newton': known: gradient, lbfgs
    """

    solver: str = parameter("lbfgs", "how theta moves in an inner step", choices=("lbfgs", "gradient"))
    inner_steps: int = parameter(10, "inner steps a round of solver=gradient", symbol="M", at_least=1)
    step: float = parameter(1e-4, "length of a step of solver=gradient", symbol="eta", above=0)

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        rule = self.rule(setting, sharing=setting.clients)
        solvers: dict[str, Solver[Search, Gradients]] = {
            "lbfgs": Lbfgs(rule.ridge),
            "gradient": GradientSteps(rule.ridge, self.inner_steps, self.step),
        }
        return Federation(GradientClients(rule), GradientServer(rule, solvers[self.solver]))
