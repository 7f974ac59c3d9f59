"""The parameters that the neural family shares.

The computations need JAX, the extra `neural`; this file does not, so that the algorithms can be listed and
described without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.changes import Change
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter

if TYPE_CHECKING:
    from fedbandit.algorithms.neural.shared.learner import Learner

PAPER = "Dai et al. 2023, Federated Neural Bandits"


@dataclass(frozen=True)
class NeuralAlgorithm(Algorithm):
    """The parameters that every network of the family has."""

    acts_in_rounds: ClassVar[bool] = True
    lighter: ClassVar[str] = "set diagonal=true or lower the width"

    width: int = parameter(20, "units of each hidden layer", symbol="m", at_least=1)
    depth: int = parameter(1, "number of hidden layers", symbol="L - 1", at_least=1)
    ridge: float = parameter(0.1, "regularisation", symbol="lambda", above=0)
    nu_local: float = parameter(
        0.1, "width of the network's confidence bound", symbol="nu_TK", at_least=0, change=Change.AT_ONCE
    )
    diagonal: bool = parameter(False, "keep only the diagonals of the matrices (section 3.4)")
    train_steps: int = parameter(30, "steps of gradient descent at each training", symbol="J", at_least=0)
    train_rate: float = parameter(0.01, "largest step of gradient descent", symbol="eta", above=0)
    rate_bound: str = parameter(
        "lengths",
        "what limits the step to 1 / (m (ridge + n)): n counts squared lengths of contexts, or observations",
        choices=("lengths", "count"),
    )
    train_until: int = parameter(2000, "last round after which networks are trained", at_least=0)
    warm_start: bool = parameter(True, "train on from the client's own last weights, not from the initial ones")
    initialisation: str = parameter(
        "symmetric", "initial weights: appendix B's, or N(0, 1) with biases", choices=("symmetric", "normal")
    )
    scale_features: bool = parameter(True, "divide gradients by the square root of the width")
    regulariser: str = parameter(
        "anchor", "train towards the initial weights (equation 1), or with weight decay", choices=("anchor", "decay")
    )
    network_seed: int = parameter(
        0, "seed of the initial weights, which all clients share", symbol="theta_0", at_least=0
    )
    precision: str = parameter("float32", "precision of all computations", choices=("float32", "float64"))
    device: str = parameter(
        "auto", "where to compute: auto takes a GPU where JAX finds one", choices=("auto", "cpu", "cuda")
    )

    def learner(self, inputs: int, nu_pooled: float = 0.0) -> Learner:
        """Return what a client does with contexts of `inputs` numbers; equal parameters share what is compiled."""
        if find_spec("jax") is None:
            raise InvalidInput(
                f"{self.id} needs JAX, which is not installed: pip install jax, or install fedbandit with its extra "
                "neural"
            )
        from fedbandit.algorithms.neural.shared.learner import (
            Learner,  # JAX is imported only by those who compute with it
        )
        from fedbandit.kernels.neural.rounds import rounds_of
        from fedbandit.kernels.neural.steps import Plan

        plan = Plan(
            inputs=inputs, width=self.width, depth=self.depth, initialisation=self.initialisation,
            network_seed=self.network_seed, scale_features=self.scale_features, ridge=self.ridge,
            nu_pooled=nu_pooled, nu_local=self.nu_local, diagonal=self.diagonal, train_steps=self.train_steps,
            train_rate=self.train_rate, regulariser=self.regulariser, precision=self.precision, device=self.device,
        )  # fmt: skip
        return Learner(rounds_of(plan), self.train_until, self.warm_start, self.rate_bound)
