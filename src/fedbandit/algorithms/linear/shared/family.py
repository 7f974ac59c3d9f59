"""What the linear family shares: its parameters, and the scales in which thresholds are compared.

Client i keeps V_i, b_i (all it knows) and dV_i, db_i (its own part not yet uploaded). It chooses

    argmax_x  x^T theta_i + alpha_i sqrt(x^T (V_i + ridge I)^-1 x),   theta_i = (V_i + ridge I)^-1 b_i
    alpha_i = noise sqrt(log det(V_i + ridge I) - d log ridge + 2 log(1 / delta)) + sqrt(ridge)

(Li and Wang 2022, section 3.3, equation 5), or greedily by a sample of theta (footnote 1). Beside this file stand the
clients (`clients`), what they send (`messages`), how that travels (`encoding`), and the table of the algorithms that
are made of these parts (`composition`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.arrays import Floats
from fedbandit.core.changes import Change
from fedbandit.core.parameters import parameter, require_one_each
from fedbandit.core.smallest_upload import smallest_upload_parameter
from fedbandit.kernels.linear.confidence import Width
from fedbandit.kernels.linear.rules import AUTO, IGW, PERTURBED, THOMPSON, UCB, GapRule, Rule, ScoreRule

EXPLORATIONS = {"ucb": UCB, "thompson": THOMPSON, "perturbed": PERTURBED, "igw": IGW}
TIE = 1e-9  # growths this close to a threshold do not pass it, so that exact ties do not depend on rounding


@dataclass(frozen=True)
class LinearAlgorithm(Algorithm):
    """The parameters that every member of the family has."""

    ridge: float = parameter(0.1, "regularisation of the regression", symbol="lambda", above=0, change=Change.MIGRATION)
    noise: float = parameter(
        0.1, "scale of the reward noise (sub-Gaussian)", symbol="sigma", at_least=0, change=Change.AT_ONCE
    )
    delta: float = parameter(
        0.1, "probability that the confidence bound fails", symbol="delta", above=0, below=1, change=Change.AT_ONCE
    )
    exploration: str = parameter(
        "ucb",
        "how to explore: optimism, a sample, or lots by inverse gap weighting",
        choices=tuple(EXPLORATIONS),
        change=Change.AT_ONCE,
    )
    alpha: float | None = parameter(
        None,
        "a fixed width of the confidence bound; default: the theory's",
        symbol="alpha",
        at_least=0,
        change=Change.AT_ONCE,
    )

    greed: float | str = parameter(
        "auto",
        "igw only: how much likelier a better arm is",
        symbol="gamma",
        general=True,
        at_least=0,
        word="auto",
        change=Change.AT_ONCE,
    )

    discount: float = parameter(  # type: ignore[misc]
        1.0, "weight that an observation keeps when an epoch ends", general=True, above=0, at_most=1
    )

    def width(self, dimension: int) -> Width:
        """Return the width of the confidence bound, which grows with `noise` at a constant rate."""
        if self.alpha is not None:
            return Width(self.alpha, 0.0, 0.0)
        offset = 2.0 * math.log(1.0 / self.delta) - dimension * math.log(self.ridge)
        return Width(math.sqrt(self.ridge), self.noise, offset)

    def rule(self, dimension: int, *, timed: bool = False) -> Rule:
        """Return the parameters as the kernels need them."""
        if EXPLORATIONS[self.exploration] != IGW:
            return self.score_rule(dimension, timed=timed)
        greed = AUTO if self.greed == "auto" else float(self.greed)
        quiet, unit = (replace(self, noise=noise).width(dimension) for noise in (0.0, 1.0))
        return GapRule(self.ridge, IGW, timed, greed, self.noise, quiet, unit)

    def score_rule(self, dimension: int, *, timed: bool = False) -> ScoreRule:
        """Return the parameters of clients that choose by a score."""
        return ScoreRule(self.ridge, self.width(dimension), EXPLORATIONS[self.exploration], timed)


@dataclass(frozen=True)
class RestartingAlgorithm(LinearAlgorithm):
    """The parameters of asynchronous members, which may notice that the world has changed: see `shared.restarting`."""

    smallest_upload: int = smallest_upload_parameter()  # type: ignore[misc]
    restart_quorum: int = parameter(  # type: ignore[misc]
        0, "clients that must find at once that the world has changed, for all to forget all; 0: never",
        general=True, at_least=0,
    )  # fmt: skip


def per_client(name: str, value: float | tuple[float, ...], clients: int) -> Floats:
    """Return a threshold for each client from one number for all or one each.

    >>> per_client("upload_threshold", 2.0, 3)
    array([2., 2., 2.])
    """
    require_one_each(name, value, clients)
    return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), clients))


def log_growth(thresholds: Floats) -> Floats:
    """Return the growth of log det beyond which something is sent, from ratios of determinants.

    With a ratio of 1, which gives 0, any growth makes a client upload, and whatever a client lacks is sent to it.

    >>> log_growth(np.array([1.0, 2.0, np.inf])).round(3)
    array([0.   , 0.693,   inf])
    """
    return np.where(thresholds > 1.0, np.log(thresholds) + TIE, 0.0)
