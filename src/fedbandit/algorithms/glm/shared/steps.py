"""The local updates: what a client keeps between global updates, and so what the end of one must bring it.

`publish` is the server's half: the message that ends a global update. `take_in` is the client's half. What a turn does
is in `fedbandit.kernels.glm.rows`, under the rule's code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fedbandit.algorithms.glm.shared.messages import FrozenModel, GlobalModel, NewModel, NewtonModel
from fedbandit.algorithms.glm.shared.updates import GlmServerState
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.messages import Download
from fedbandit.kernels.glm.rows import FROZEN, GRADIENT_STEP, REFIT, STEP, GlmRows
from fedbandit.kernels.linear.ridge import invert, multiply


class Shared(NamedTuple):
    """What each client remembers of the global updates; the first axis is the client."""

    model: Floats  # theta at the last update
    moment: Floats  # b
    square: Floats  # |z|^2 of the predictions in b
    online: Floats  # sum |gradient|^2 in the norm of A^-1, over the global Newton steps
    log_det: Floats  # log det A (algorithm 6)
    called: Ints  # observations that the update under way, or the last one, speaks of
    before: Ints  # observations that the one before it spoke of
    calling: Ints  # the last update that the client was called for


def nothing_shared(clients: int, dimension: int, ridge: float) -> Shared:
    """Return the memory of clients before the first update.

    >>> nothing_shared(2, 3, ridge=1.0).calling
    array([0, 0])
    """
    model, moment = (np.zeros((clients, dimension)) for _ in range(2))
    called, before, calling = (np.zeros(clients, dtype=np.int64) for _ in range(3))
    log_det = np.full(clients, dimension * np.log(ridge))
    return Shared(model, moment, np.zeros(clients), np.zeros(clients), log_det, called, before, calling)


@dataclass(frozen=True)
class NoSteps:
    """Nothing changes between global updates: scores use theta and A of the last one (algorithm 4)."""

    ridge: float  # of V and A
    rate: float = 0.0  # of the Newton step
    code: ClassVar[int] = FROZEN
    has_metric: ClassVar[bool] = False  # whether rows keep a matrix of the Newton step, beside V

    def publish(self, state: GlmServerState) -> Download:
        """Return A and theta."""
        return FrozenModel(state.gram, state.model, state.version, state.round, state.observations)

    def take_in(self, rows: GlmRows, shared: Shared, to: Ints, message: NewModel) -> None:
        """Set V and theta, and begin to wait anew."""
        inverse, _ = _inverse(message.gram, self.ridge)
        rows.gram[to], rows.inverse[to] = message.gram, inverse
        rows.model[to] = rows.estimate[to] = shared.model[to] = message.model
        rows.version[to], rows.last[to] = message.version, message.round
        rows.growth[to] = 0.0
        rows.updates[to] = 0


@dataclass(frozen=True)
class NewtonSteps(NoSteps):
    """An online Newton step a turn, in the norm of A = V; scores use the ridge centre A^-1 b (algorithms 1 and 5)."""

    code: ClassVar[int] = STEP

    def publish(self, state: GlmServerState) -> Download:
        """Return A, b and theta."""
        return GlobalModel(
            state.gram, state.moment, state.model, state.version, state.round, state.observations
        )  # fmt: skip

    def take_in(self, rows: GlmRows, shared: Shared, to: Ints, message: NewModel) -> None:
        """Set b and |z|^2 as well.

        |z|^2 grows by theta^T (sum of dA) theta, and the client knows it from b, which grew by (sum of dA) theta.
        """
        assert not isinstance(message, FrozenModel), "`publish` makes none"
        predictor = self.predictor(shared, to, message)
        shared.square[to] += ((message.moment - shared.moment[to]) * predictor).sum(axis=1)
        super().take_in(rows, shared, to, message)
        rows.moment[to] = shared.moment[to] = message.moment
        rows.square[to] = shared.square[to]
        rows.online[to] = shared.online[to]
        centre = np.empty_like(message.moment)
        multiply(rows.inverse[to[0]], message.moment, centre)
        rows.estimate[to] = centre

    def predictor(self, shared: Shared, to: Ints, message: GlobalModel | NewtonModel) -> Floats:  # noqa: ARG002
        """Return the models whose predictions the new part of b holds: the new one."""
        return np.tile(message.model, (len(to), 1))


@dataclass(frozen=True)
class GradientSteps(NewtonSteps):
    """An online Newton step a turn, in the norm of A += g g^T, while scores use V (algorithm 6)."""

    code: ClassVar[int] = GRADIENT_STEP
    has_metric: ClassVar[bool] = True

    def publish(self, state: GlmServerState) -> Download:
        """Return A, V, b and theta."""
        return NewtonModel(
            state.metric, state.gram, state.moment, state.model, state.version, state.round, state.observations
        )

    def take_in(self, rows: GlmRows, shared: Shared, to: Ints, message: NewModel) -> None:
        """Set A as well.

        The online sum grows by g^T A^-1 g of the global step, and the client knows it from the determinant of A, which
        grew by the factor 1 + s for g^T A^-1 g = s / (1 + s).
        """
        assert isinstance(message, NewtonModel), "`publish` makes no other"
        inverse, log_det = _inverse(message.metric, self.ridge)
        shared.online[to] += 1.0 - np.exp(shared.log_det[to] - log_det)
        shared.log_det[to] = log_det
        rows.metric[to], rows.metric_inverse[to] = message.metric, inverse
        super().take_in(rows, shared, to, message)

    def predictor(self, shared: Shared, to: Ints, message: GlobalModel | NewtonModel) -> Floats:  # noqa: ARG002
        """Return the models whose predictions the new part of b holds: the ones before."""
        return np.asarray(shared.model[to])


@dataclass(frozen=True)
class Refits(NoSteps):
    """The ridge maximum likelihood of the client's own data, every so many turns (UCB-GLM); no global updates."""

    code: ClassVar[int] = REFIT
    has_metric: ClassVar[bool] = True


def _inverse(gram: Floats, ridge: float) -> tuple[Floats, float]:
    inverse, scratch = np.empty_like(gram), np.empty((2, *gram.shape))
    return inverse, invert(gram, ridge, inverse, scratch[0], scratch[1])
