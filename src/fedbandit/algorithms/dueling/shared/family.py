"""What the dueling family shares: its parameters, the arm rule, and the choice of two arms.

In round t (from 1) client i chooses two arms (Huang et al. 2025, section 3, lines 4 and 5 of algorithm 1):

    x1 = argmax theta_sync^T x
    x2 = argmax theta_sync^T (x - x1) + (beta_t / curvature) sqrt((x - x1)^T W_sync^-1 (x - x1))
    beta_t = sqrt(2 log(1 / delta) + d log(1 + t N curvature / (d ridge)))                          (lemma 4.2)

and learns which of them won. W_sync begins as (ridge / curvature) I, theta_sync as zero. With z = winner - loser a
duel's loss is -log sigmoid(theta^T z) (equation 5) and its information z z^T.

`curvature` is the paper's kappa_mu = inf mu'(f(x) - f(x')), which with Gaussian arms is 0: the paper does not say what
its experiments use. The default 0.25 is the largest slope of the logistic function.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from fedbandit.algorithms.attendance import Attendance
from fedbandit.algorithms.dueling.shared.search import Gradient
from fedbandit.algorithms.federated_minimum import Gradients, Questions
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_invertible, is_lost_in
from fedbandit.core.changes import Change
from fedbandit.core.interfaces import Cadence, Outgoing, Server, TurnByTurn
from fedbandit.core.messages import Download
from fedbandit.core.parameters import parameter
from fedbandit.kernels.dueling.choices import choose_pairs

PAPER = "Huang et al. 2025, Federated Linear Dueling Bandits"


@dataclass(frozen=True)
class ArmRule:
    """How far to trust an estimate: the parameters that every member of the family has, in a setting."""

    ridge: float
    curvature: float
    delta: float
    beta: float | None
    clients: int  # N of beta_t: those who share their data
    dimension: int

    def theory(self, rounds: Ints) -> Floats:
        """Return beta_t of the theory in each of some rounds."""
        inside = 1.0 + rounds * (self.clients * self.curvature / (self.dimension * self.ridge))
        return np.asarray(np.sqrt(2.0 * math.log(1.0 / self.delta) + self.dimension * np.log(inside)))

    def optimism(self, rounds: Ints) -> Floats:
        """Return beta_t / curvature in each of some rounds."""
        beta = self.theory(rounds) if self.beta is None else np.full(len(rounds), self.beta)
        return np.asarray(beta / self.curvature)

    @property
    def prior(self) -> float:
        """Return what W begins with on its diagonal."""
        return self.ridge / self.curvature


@dataclass(frozen=True)
class DuelingAlgorithm(Algorithm):
    """The parameters that every member of the family has."""

    acts_in_rounds: ClassVar[bool] = True
    duels: ClassVar[bool] = True
    explore: ClassVar[float] = 0.0  # type: ignore[misc]  # no parameter here: two arms are chosen

    ridge: float | None = parameter(
        None, "regularisation of the likelihood; default: 1 / rounds", symbol="lambda", above=0
    )
    curvature: float = parameter(
        0.25, "least slope of the preference function that the width assumes", symbol="kappa_mu", above=0
    )
    delta: float = parameter(
        0.01, "probability that the confidence bound fails", symbol="delta", above=0, below=1, change=Change.AT_ONCE
    )
    beta: float | None = parameter(
        None,
        "a fixed width of the confidence bound; default: the theory's",
        symbol="beta_t",
        at_least=0,
        change=Change.AT_ONCE,
    )

    def rule(self, setting: Setting, sharing: int) -> ArmRule:
        """Return the arm rule in a setting where so many clients share what they learn."""
        ridge = 1.0 / setting.horizon if self.ridge is None else self.ridge
        return ArmRule(ridge, self.curvature, self.delta, self.beta, sharing, setting.dimension)


@dataclass
class Beliefs:
    """What every client chooses by."""

    estimate: Floats  # (clients, d) theta_sync
    inverse: Floats  # (clients, d, d) W_sync^-1
    turns: Ints  # (clients,)


class DuelingClients(TurnByTurn):
    """The choice of two arms, from each client's own estimate and inverse."""

    cadence = Cadence.ROUND
    draws = 0
    learns_from_choice = True

    def __init__(self, rule: ArmRule) -> None:
        """Take the arm rule."""
        self.rule = rule

    def choose(self, state: Beliefs, who: Ints, features: Floats, draws: Floats) -> Ints:  # noqa: ARG002
        """Return the two arms of each client."""
        optimism = self.rule.optimism(state.turns[who] + 1)
        return choose_pairs(state.estimate, state.inverse, optimism, who, features)

    def beliefs(self, clients: int) -> tuple[Floats, Floats, Ints]:
        """Return the beliefs of clients that have seen nothing."""
        size = self.rule.dimension
        inverse = np.tile(np.eye(size) / self.rule.prior, (clients, 1, 1))
        return np.zeros((clients, size)), inverse, np.zeros(clients, dtype=np.int64)


class Inbox(NamedTuple):
    """The uploads of one step, by sender until they are wanted: their sum owes nothing to the order of arrival.

    A client that is ahead of the others may have sent several, which add up: none is lost.
    """

    rows: Floats  # (clients, ...)
    counts: Ints  # (clients,) duels that the rows are over; of FLDB-OGD without a smallest upload, uploads


def empty_inbox(clients: int, *shape: int) -> Inbox:
    """Return an inbox for rows of a shape.

    >>> empty_inbox(2, 3).rows.shape
    (2, 3)
    """
    return Inbox(np.zeros((clients, *shape)), np.zeros(clients, dtype=np.int64))


def put(inbox: Inbox, senders: Ints, rows: Floats, duels: Ints | int = 1) -> None:
    """Add each sender's row, over so many duels, to what it has sent."""
    inbox.rows[senders] += rows
    inbox.counts[senders] += duels


def emptied(inbox: Inbox) -> Floats:
    """Return the sum of all that is there, and empty the inbox.

    >>> inbox = empty_inbox(2, 1)
    >>> put(inbox, np.array([1]), np.array([[5.0]]))
    >>> put(inbox, np.array([0, 1]), np.array([[2.0], [1.0]]))
    >>> emptied(inbox), emptied(inbox)
    (array([8.]), array([0.]))
    """
    total = np.asarray(inbox.rows.sum(axis=0))
    inbox.rows[:] = 0.0
    inbox.counts[:] = 0
    return total


class Exchanging(Protocol):
    """The part of a server's state that tells what it waits for."""

    questions: Questions[Gradients]  # of a search
    attendance: Attendance  # who has sent a part since the last exchange began


class DuelingServer(Server):
    """What every server side of the family says of its uploads, and whom it waits for."""

    begins_anew = True

    def __init__(self, rule: ArmRule) -> None:
        """Take the arm rule."""
        self.rule = rule

    def check_information(self, shared: Floats, waiting: Inbox, new: Floats) -> None:
        """Refuse information with which W_sync, all that waits included, could not be inverted by anybody."""
        least = min(self.rule.prior, 4.0 * self.rule.ridge)  # of W, and of W / 4 + ridge I, by which searches begin
        trace = shared.trace() + np.einsum("nii->", waiting.rows) + new.trace()
        if is_lost_in(trace, len(new), least):
            own = self.rule.prior * np.eye(len(new))
            check_invertible(shared - own + waiting.rows.sum(axis=0), new, least)

    def receive(self, state: Any, senders: Ints, message: Any) -> Sequence[Outgoing[Download]]:
        """Note parts, and begin an exchange when all have sent one; go on with a search when all have answered."""
        questions, attendance = state.questions, state.attendance
        if isinstance(message, Gradient):
            is_last = questions.take_in(senders, message, questions.fits(senders, message.number))
            return self.advance(state) if is_last else ()
        self.note_part(state, senders, message)
        attendance.answer(senders)
        return self.begin(state) if attendance.is_complete and not questions.is_open else ()

    @abstractmethod
    def note_part(self, state: Any, senders: Ints, message: Any) -> None:
        """Keep what senders tell of their new duels, until the next exchange."""

    @abstractmethod
    def begin(self, state: Any) -> Sequence[Outgoing[Download]]:
        """Begin an exchange with the parts that have come."""

    @abstractmethod
    def advance(self, state: Any) -> Sequence[Outgoing[Download]]:
        """Go on with a search by the gradients that have come."""

    @abstractmethod
    def stop(self, state: Any) -> Sequence[Outgoing[Download]]:
        """End a search that cannot go on, if one is under way; return what clients should know of it, if anything."""

    def numbered(self, state: Exchanging) -> int:
        """Return the number of the last question."""
        return state.questions.number

    def count_on(self, state: Exchanging, number: int) -> None:
        """Ask no question of a number up to this one."""
        state.questions.number = number

    def leave(self, state: Exchanging) -> None:
        """Leave the exchange that may be under way."""
        for each in (state.questions, state.attendance):
            if each.is_open:
                each.close()

    def awaited(self, state: Exchanging) -> Ints:
        """Return whose gradient, or whose part, is still to come."""
        return state.questions.awaited() if state.questions.is_open else state.attendance.awaited()

    def deadline(self, state: Exchanging) -> Sequence[Outgoing[Download]]:
        """Go on with those who have answered; what the others have stays with them until they send it."""
        if not state.questions.is_open:
            return self.begin(state) if state.attendance.is_open else ()
        if not state.questions.answered.any():
            return ()
        state.questions.forget_silent()
        return self.advance(state)

    def bounds(self, known: Bounds) -> Bounds:
        """Return the bounds of z = winner - loser: two arms of length L are at most 2 L apart."""
        return replace(known, context=2.0 * known.context)
