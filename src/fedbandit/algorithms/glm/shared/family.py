"""The parameters that the generalised linear bandits share, and how their parts are put together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fedbandit.algorithms.glm.shared.clients import GlmClients
from fedbandit.algorithms.glm.shared.messages import Behind, Due
from fedbandit.algorithms.glm.shared.regression_shortcut import shortcut_of
from fedbandit.algorithms.glm.shared.server import GlmServer
from fedbandit.algorithms.glm.shared.solvers import Accelerated, DampedNewton, RegressionSolver
from fedbandit.algorithms.glm.shared.steps import NoSteps
from fedbandit.algorithms.glm.shared.updates import GlobalUpdate, Regression
from fedbandit.algorithms.glm.shared.widths import FixedWidth, WidthRule
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.changes import Change
from fedbandit.core.interfaces import Federation
from fedbandit.core.parameters import parameter
from fedbandit.core.smallest_upload import smallest_upload_parameter
from fedbandit.kernels.glm.links import IDENTITY, LOGISTIC, POISSON, mean, slope
from fedbandit.kernels.glm.rows import Rule, Schedule
from fedbandit.kernels.glm.width import Model

PAPER = "Li and Wang 2022, Communication Efficient Federated Learning for Generalized Linear Bandits"
LINKS = {"logistic": LOGISTIC, "identity": IDENTITY, "poisson": POISSON}
SOLVERS: dict[str, type[RegressionSolver]] = {"accelerated": Accelerated, "newton": DampedNewton}


def slopes(link: str, radius: float) -> tuple[float, float]:
    """Return c_mu and k_mu: the least and the greatest slope of the mean on [-radius, radius].

    >>> slopes("identity", 3.0)
    (1.0, 1.0)
    """
    code = LINKS[link]
    ends = [slope(code, mean(code, end)) for end in (-radius, radius)]
    return min(ends), 0.25 if link == "logistic" else max(ends)


def event(threshold: float, setting: Setting, smallest_upload: int = 1) -> Schedule:
    """Return the schedule by events: (t - t_last) log(det A_i / det(A_i - dA_i)) > threshold, with news enough."""
    return Schedule(threshold, 1, 0, setting.clients, _smallest(smallest_upload))


def calendar(updates: int, setting: Setting, smallest_upload: int) -> Schedule:
    """Return the fixed schedule: B updates, one after every floor(N T / B) turns (at least one)."""
    period = max(1, setting.clients * setting.horizon // updates)
    return Schedule(math.inf, period, updates, setting.clients, _smallest(smallest_upload))


def _smallest(smallest_upload: int) -> int:
    """Return how many observations of arms that are not zero are needed; 0: any will do, as smallest_upload is 1."""
    return smallest_upload if smallest_upload > 1 else 0


class Parts(NamedTuple):
    """What an algorithm of the family is composed of."""

    update: GlobalUpdate | None
    local: NoSteps
    width: WidthRule
    schedule: Schedule


@dataclass(frozen=True)
class GlmAlgorithm(Algorithm):
    """The parameters that every member of the family has."""

    acts_in_rounds: ClassVar[bool] = True

    ridge: float = parameter(2.0, "regularisation of the regression", symbol="lambda", above=0)
    delta: float = parameter(
        0.01, "probability that the confidence bound fails", symbol="delta", above=0, below=1, change=Change.AT_ONCE
    )
    radius: float = parameter(1.0, "bound on the length of the parameter", symbol="S", above=0)
    noise_bound: float = parameter(0.5, "bound on the reward noise", symbol="R_max", at_least=0, change=Change.AT_ONCE)
    link: str = parameter("logistic", "how the mean reward follows from the margin", symbol="mu", choices=tuple(LINKS))
    alpha: float | None = parameter(
        None, "a fixed width of the confidence bound, not scaled; default: the lemma's", symbol="alpha", at_least=0
    )
    alpha_scale: float = parameter(0.1, "factor of the lemma's width", at_least=0, change=Change.AT_ONCE)
    arm_bound: float = parameter(1.0, "bound on the length of an arm: sets the step of the solvers", above=0)

    def constants(self, setting: Setting) -> Model:
        """Return the constants of the lemmas."""
        least, greatest = slopes(self.link, self.radius)
        return Model(
            setting.dimension, setting.clients, self.ridge, self.radius, self.noise_bound, self.delta, least, greatest
        )

    def width(self, lemma: WidthRule) -> WidthRule:
        """Return the lemma's width, or the fixed one."""
        return lemma if self.alpha is None else FixedWidth(self.alpha)

    def sides(self, parts: Parts, setting: Setting, refit_every: int = 1) -> Federation:
        """Put the parts together."""
        rule = Rule(
            parts.local.code, LINKS[self.link], parts.local.ridge, parts.local.rate, self.arm_bound, refit_every,
            self.constants(setting), parts.width.shape, parts.schedule,
        )  # fmt: skip
        size = setting.dimension
        clients = GlmClients(rule, parts.update, parts.local, parts.width, size)
        is_called = math.isfinite(parts.schedule.threshold) or bool(parts.schedule.updates)
        kinds = (Due, Behind, *parts.update.uploads) if parts.update is not None and is_called else ()
        server = GlmServer(parts.update, parts.local, size, kinds)
        return Federation(clients, server, shortcut_of(clients, server))


@dataclass(frozen=True)
class RegressionAlgorithm(GlmAlgorithm):
    """The parameters of the members whose global update is a regression."""

    smallest_upload: int = smallest_upload_parameter()  # type: ignore[misc]
    suboptimality: float | None = parameter(
        None, "how far above its minimum the global objective may stay; default: 1/n^2", symbol="epsilon", above=0
    )
    solver: str = parameter("accelerated", "how the global regression is solved", choices=tuple(SOLVERS))

    def regression(self, setting: Setting) -> Regression:
        """Return the global update."""
        solver = SOLVERS[self.solver](self.constants(setting), self.arm_bound, self.suboptimality)
        return Regression(solver, LINKS[self.link])
