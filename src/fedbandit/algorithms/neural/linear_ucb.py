"""Linear UCB and Linear TS with a fixed width, every client alone: the linear baselines of FN-UCB's figure 4.

The linear family's clients and kernels, without communication:

    linear-ucb  argmax x . theta + width |x| in the norm of V^-1,   V = ridge I + sum x x^T,   theta = V^-1 sum x y
    linear-ts   argmax x . sample, with one sample from N(theta, width^2 V^-1) a turn
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedbandit.algorithms.linear.async_linucb import AsyncLinUCB
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.changes import Change
from fedbandit.core.interfaces import Federation
from fedbandit.core.parameters import parameter


@dataclass(frozen=True)
class LinearAlone(Algorithm):
    """The parameters of both."""

    exploration: ClassVar[str] = "ucb"

    ridge: float = parameter(1.0, "regularisation of the regression", symbol="lambda", above=0)
    width: float = parameter(
        0.1, "width of the confidence bound, or spread of the sample", symbol="nu", at_least=0, change=Change.AT_ONCE
    )

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server never hears anything."""
        alone = AsyncLinUCB(
            ridge=self.ridge,
            alpha=self.width,
            exploration=self.exploration,
            upload_threshold=np.inf,
            download_threshold=np.inf,
        )
        return alone.build(setting)


@dataclass(frozen=True)
class LinearUCB(
    LinearAlone,
    id="linear-ucb",
    title="every client alone: linear regression with a fixed confidence width (baseline)",
    paper="Abbasi-Yadkori et al. 2011, Improved Algorithms for Linear Stochastic Bandits",
):
    """Linear UCB with a fixed width."""


@dataclass(frozen=True)
class LinearTS(
    LinearAlone,
    id="linear-ts",
    title="every client alone: Thompson sampling with linear regression (baseline)",
    paper="Agrawal and Goyal 2013, Thompson Sampling for Contextual Bandits with Linear Payoffs",
):
    """Linear Thompson sampling with a fixed spread."""

    exploration: ClassVar[str] = "thompson"
