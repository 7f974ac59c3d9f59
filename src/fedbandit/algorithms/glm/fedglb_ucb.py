"""FedGLB-UCB: Li and Wang, "Communication Efficient Federated Learning for Generalized Linear Bandits", 2022.

Rewards have mean mu(x^T theta_star). Clients act in rounds. After its turn client i calls for a global update iff

    (t - t_last) log(det A_i / det(A_i - dA_i)) > D        (equation 4, strictly; t counts rounds)

and there and then, in mid-round, the server solves one regression over everyone's data by asking for gradients, then
sends A, b and theta to all (algorithm 1, lines 11 to 14). Between updates each client takes an online Newton step a
turn (line 9, algorithm 2). The turn that calls takes none. Each of the four algorithms is a composition:

    id            global update          local update                        when                    width
    fedglb-ucb    regression             Newton steps, A += x x^T            by the event            lemma 2
    fedglb-ucb-1  regression             none                                B times                 lemma 9
    fedglb-ucb-2  regression             Newton steps, A += x x^T            B times                 lemma 2
    fedglb-ucb-3  one Newton step        Newton steps, A += g g^T            B times                 lemma 14

`n-ons-glm` (GLOC at each client alone) is `fedglb-ucb` with D infinite. A global update of J gradients costs
N (2 J + 2) messages; that of `fedglb-ucb-3` 2 N.

With `smallest_upload` n a client takes part in an update with its first m_i observations, the number of its last part
or, if at least n have come since, all; m_i is fixed for the whole update. It calls by the event with n such only.

Where the paper leaves it open: the objective is (1/n) (sum of losses + (ridge/2) |theta|^2) (equation 2 divides the
regulariser twice); the regression stops when |gradient| <= sqrt(2 (ridge/n) eps); its model is not projected; the ball
of radius S is projected onto exactly, in the norm of A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fedbandit.algorithms.glm.shared.family import (
    LINKS,
    PAPER,
    GlmAlgorithm,
    Parts,
    RegressionAlgorithm,
    calendar,
    event,
)
from fedbandit.algorithms.glm.shared.steps import GradientSteps, NewtonSteps, NoSteps
from fedbandit.algorithms.glm.shared.updates import OneStep
from fedbandit.algorithms.glm.shared.widths import LikelihoodWidth, OfflineOnlineWidth, OnlineWidth
from fedbandit.core.algorithm import Setting
from fedbandit.core.changes import Change
from fedbandit.core.interfaces import Federation
from fedbandit.core.parameters import parameter
from fedbandit.core.smallest_upload import smallest_upload_parameter
from fedbandit.kernels.glm.rows import Schedule

_TIMES = "number of global updates, spread evenly over the run"


@dataclass(frozen=True)
class _OfflineAndOnline(RegressionAlgorithm):
    """A regression for all, Newton steps for each: algorithms 1 and 5, which differ in the schedule alone."""

    def _sides(self, schedule: Schedule, setting: Setting) -> Federation:
        model = self.constants(setting)
        local = NewtonSteps(self.ridge / model.curvature, 1.0 / model.curvature)
        width = self.width(OfflineOnlineWidth(model, self.alpha_scale))
        return self.sides(Parts(self.regression(setting), local, width, schedule), setting)


@dataclass(frozen=True)
class FedGLB(
    _OfflineAndOnline,
    id="fedglb-ucb",
    title="generalised linear: one client's event makes all solve a regression together",
    paper=PAPER,
):
    """FedGLB-UCB (algorithm 1): global regression on events, Newton steps in between.

    >>> FedGLB(radius=0)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: radius must be greater than 0, not 0: give a number in that range
    """

    sync_threshold: float = parameter(
        5.0,
        "rounds times growth that make a client call for a global update",
        symbol="D",
        at_least=0,
        infinite=True,
        change=Change.AT_ONCE,
    )

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        return self._sides(event(self.sync_threshold, setting, self.smallest_upload), setting)


@dataclass(frozen=True)
class FedGLB1(
    RegressionAlgorithm,
    id="fedglb-ucb-1",
    title="generalised linear: scheduled regressions, nothing learnt in between",
    paper=PAPER,
):
    """FedGLB-UCB variant 1 (algorithm 4): the model and its ellipsoid are frozen between scheduled updates."""

    alpha_scale: float = parameter(1.0, "factor of the lemma's width", at_least=0, change=Change.AT_ONCE)
    rounds_of_update: int = parameter(100, _TIMES, symbol="B", at_least=1)

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        model = self.constants(setting)
        local = NoSteps(self.ridge / model.curvature)
        width = self.width(LikelihoodWidth(model, self.alpha_scale))
        schedule = calendar(self.rounds_of_update, setting, self.smallest_upload)
        return self.sides(Parts(self.regression(setting), local, width, schedule), setting)


@dataclass(frozen=True)
class FedGLB2(
    _OfflineAndOnline,
    id="fedglb-ucb-2",
    title="generalised linear: scheduled regressions, Newton steps in between",
    paper=PAPER,
):
    """FedGLB-UCB variant 2 (algorithm 5): FedGLB-UCB on a fixed schedule."""

    rounds_of_update: int = parameter(100, _TIMES, symbol="B", at_least=1)

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        return self._sides(calendar(self.rounds_of_update, setting, self.smallest_upload), setting)


@dataclass(frozen=True)
class FedGLB3(
    GlmAlgorithm,
    id="fedglb-ucb-3",
    title="generalised linear: scheduled single Newton steps, and Newton steps in between",
    paper=PAPER,
):
    """FedGLB-UCB variant 3 (algorithm 6): Newton steps globally, on the batch since the last, and locally."""

    smallest_upload: int = smallest_upload_parameter()  # type: ignore[misc]
    rounds_of_update: int = parameter(100, _TIMES, symbol="B", at_least=1)

    def build(self, setting: Setting) -> Federation:
        """Make both sides; gamma is that of lemma 12 for batches of floor(N T / B) observations."""
        model = self.constants(setting)
        schedule = calendar(self.rounds_of_update, setting, self.smallest_upload)
        slack = (model.smoothness * self.radius) ** 2 + self.noise_bound**2
        gamma = 0.5 * min(1.0 / (4.0 * self.radius * math.sqrt(slack)), model.curvature / (slack * schedule.period))
        local = GradientSteps(self.ridge, 1.0 / gamma)
        width = self.width(OnlineWidth(model, self.alpha_scale, gamma))
        return self.sides(Parts(OneStep(model, LINKS[self.link], gamma), local, width, schedule), setting)


@dataclass(frozen=True)
class LocalONS(
    GlmAlgorithm,
    id="n-ons-glm",
    title="generalised linear: every client alone, by Newton steps (baseline)",
    paper=PAPER,
):
    """GLOC at each client alone (Jun et al. 2017): FedGLB-UCB that never calls for an update."""

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server never hears anything."""
        return FedGLB(sync_threshold=math.inf, **self.values()).build(setting)
