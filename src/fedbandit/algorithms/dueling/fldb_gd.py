"""FLDB-GD: Huang et al., "Federated Linear Dueling Bandits", 2025. Algorithms 3 and 4 (appendix A).

After every round all clients together move theta_sync to the minimiser of (equation 1)

    sum over all clients' duels so far of -log sigmoid(theta^T z)  +  ridge / 2 |theta|^2

without showing a duel. The information goes first: every client sends the z z^T of its new duel, the server adds them
to W_sync and sends it back. This calls for gradients. An inner step is: every client sends the gradient of its own
loss where theta stands, the server adds them up, moves theta and sends it. theta stands where the last round
left it (a warm start, which the clients hold already), and the last theta sent is theta_sync.

(The paper sends W after the inner steps. First is as good, the messages are the same, and it lets the server bound the
Hessian by W / 4: see `fedbandit.kernels.glm.descent`.)

With `smallest_upload` n a client takes part with its first m_i duels, the number of its last part or, if at least n
have come since, all: it sends the sum of their z z^T, or zeros, and gradients over these m_i for a whole search.

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
    DuelingAlgorithm,
    DuelingServer,
    Inbox,
    emptied,
    empty_inbox,
    put,
)
from fedbandit.algorithms.dueling.shared.gradient_duels import GradientClients, Information, SharedInformation
from fedbandit.algorithms.dueling.shared.parts import InformationPart
from fedbandit.algorithms.dueling.shared.search import (
    DuelingSolver,
    Gradient,
    GradientSteps,
    Lbfgs,
    Probe,
    check_gradient,
)
from fedbandit.algorithms.federated_minimum import Gradients, Questions, no_questions
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.changes import Change
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Federation, Outgoing
from fedbandit.core.messages import Download
from fedbandit.core.parameters import parameter
from fedbandit.core.smallest_upload import smallest_upload_parameter
from fedbandit.kernels.glm.descent import Search, new_search


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

    def __init__(self, rule: ArmRule, solver: DuelingSolver, smallest_upload: int) -> None:
        """Take the arm rule, the way in which theta moves, and how many duels information is over at least."""
        super().__init__(rule)
        self.solver = solver
        self.kinds = (Information if smallest_upload == 1 else InformationPart, Gradient)

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

    def note_part(self, state: GradientServerState, senders: Ints, message: Information | InformationPart) -> None:
        """Keep information until it is shared."""
        duels = message.duels if isinstance(message, InformationPart) else 1
        put(state.new_information, senders, message.information, duels)

    def check(
        self, state: GradientServerState, sender: int, message: Information | InformationPart | Gradient,  # noqa: ARG002
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

    def tell_anew(self, state: GradientServerState, to: Ints) -> Sequence[Outgoing[Download]]:
        """Search from the beginning, with all information that there is."""
        self.leave(state)
        state.search = new_search(self.rule.dimension)
        state.questions.number += 1
        beginning = Probe(state.search.trial.copy(), is_answer=1, number=state.questions.number)
        return Outgoing(to, beginning), Outgoing(to, self._share(state))

    def begin(self, state: GradientServerState) -> Sequence[Outgoing[Download]]:
        """Share W_sync, and ask for the first gradients."""
        state.attendance.close()
        return (Outgoing(state.attendance.everyone, self._share(state)),)

    def _share(self, state: GradientServerState) -> SharedInformation:
        state.duels += int(state.new_information.counts.sum())
        state.information += emptied(state.new_information)
        gram = state.information - self.rule.prior * np.eye(self.rule.dimension)
        self.solver.begin(state.search, gram, state.duels)
        return SharedInformation(state.information.copy(), state.questions.ask())

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

    def stop(self, state: GradientServerState) -> Sequence[Outgoing[Download]]:
        """End a search that cannot go on, if one is under way; return the last answer, if there ever was one."""
        questions = state.questions
        if questions.is_open:
            self.solver.retreat(state.search)
            questions.close()
            questions.number += 1
        answer = Probe(state.search.trial.copy(), 1, questions.number)
        return (Outgoing(state.attendance.everyone, answer),) if questions.number else ()


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
    smallest_upload: int = smallest_upload_parameter(Change.NEVER)  # type: ignore[misc]
    step: float = parameter(1e-4, "length of a step of solver=gradient", symbol="eta", above=0)

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        rule = self.rule(setting, sharing=setting.clients)
        solvers: dict[str, DuelingSolver] = {
            "lbfgs": Lbfgs(rule.ridge),
            "gradient": GradientSteps(rule.ridge, self.inner_steps, self.step),
        }
        least = self.smallest_upload
        return Federation(GradientClients(rule, least), GradientServer(rule, solvers[self.solver], least))
