"""NeuralUCB and NeuralTS, every client alone: Zhou, Li and Gu 2020; Zhang, Zhou, Li and Gu 2021.

With gradients at theta_0, as FN-UCB takes them, and V the client's own matrix:

    neural-ucb  argmax f(x; theta) + nu_local sqrt(ridge) |phi(x)| in the norm of V^-1
    neural-ts   argmax of samples from N(f(x; theta), nu_local^2 ridge phi^T V^-1 phi), one for each arm

The network is trained after every round; before the first training f = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedbandit.algorithms.neural.shared.parameters import NeuralAlgorithm
from fedbandit.algorithms.random_choice import SilentServer
from fedbandit.core.algorithm import Setting
from fedbandit.core.interfaces import Federation


@dataclass(frozen=True)
class AloneAlgorithm(NeuralAlgorithm):
    """What both have; they differ in whether arms are scored by a bound or by a sample."""

    samples: ClassVar[bool] = False

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server never hears anything."""
        learner = self.learner(setting.dimension)
        from fedbandit.algorithms.neural.shared.alone import AloneClients  # needs JAX; `learner` has checked for it
        from fedbandit.algorithms.neural.shared.shortcut import LoneShortcut

        clients = AloneClients(learner, setting.arms if self.samples else 0)
        return Federation(clients, SilentServer(), LoneShortcut(learner, learner.habits()))


@dataclass(frozen=True)
class NeuralUCB(
    AloneAlgorithm,
    id="neural-ucb",
    title="every client alone: a network's upper confidence bound (baseline)",
    paper="Zhou et al. 2020, Neural Contextual Bandits with UCB-based Exploration",
):
    """NeuralUCB: optimism by the tangent features of the client's own network."""


@dataclass(frozen=True)
class NeuralTS(
    AloneAlgorithm,
    id="neural-ts",
    title="every client alone: Thompson sampling with a network (baseline)",
    paper="Zhang et al. 2021, Neural Thompson Sampling",
):
    """NeuralTS: samples with the spread of the tangent features of the client's own network."""

    samples: ClassVar[bool] = True
