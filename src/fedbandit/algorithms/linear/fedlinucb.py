"""FedLinUCB: a simple and provably efficient algorithm for asynchronous federated bandits (He, Wang, Min, Gu 2022).

Client i has C_i, c_i (its last download), P_i, p_i (its upload on the way), and dV_i, db_i (what it observed since).
V_i = C_i + P_i + dV_i. It scores by C_i, c_i (algorithm 1, line 4), with `use_own` by V_i, b_i. After its turn it
uploads dV_i, db_i iff no upload of its own is on the way and (line 7)

    det(V_i + ridge I) > upload_threshold * det(V_i - dV_i + ridge I).

The server adds the upload to V_g, b_g and sends both back, to the sender only (lines 10 to 12). It remembers nothing of
any client. With `bound = paper` the width is that of theorem 5.1, for M clients and a = upload_threshold - 1:

    sqrt(ridge) + (sqrt(1 + M a) + M sqrt(2 a)) (noise sqrt(d log((1 + T / (min(a, 1) ridge)) / delta)) + sqrt(ridge)).

`welcome` and `precision` are beyond the paper: see `lean_linucb`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from fedbandit.algorithms.linear.shared.composition import compose
from fedbandit.algorithms.linear.shared.declared import precision_parameter, threshold_parameter, welcome_parameter
from fedbandit.algorithms.linear.shared.family import RestartingAlgorithm
from fedbandit.algorithms.linear.shared.ways import WAYS
from fedbandit.core.algorithm import Setting
from fedbandit.core.changes import Change
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Federation
from fedbandit.core.parameters import parameter


@dataclass(frozen=True)
class FedLinUCB(
    RestartingAlgorithm,
    id="fedlinucb",
    title="who uploads is answered, and nobody else",
    paper="He et al. 2022, A Simple and Provably Efficient Algorithm for Asynchronous Federated Linear Bandits",
):
    """FedLinUCB: a client that has learnt enough uploads, and gets all that there is in return.

    >>> FedLinUCB(bound="paper", upload_threshold=1).build(Setting(clients=2, arms=3, dimension=5, horizon=10))
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: upload_threshold=1 has no width with bound=paper: give a greater threshold
    """

    carries_over: ClassVar[Change] = Change.MIGRATION

    upload_threshold: float | tuple[float, ...] = threshold_parameter(
        2.0, "a client's determinant that makes it upload", "1 + alpha"
    )
    use_own: bool = parameter(False, "scores also use what a client has observed since its last download")
    bound: str = parameter(
        "family",
        "where alpha is not given: the family's width or the paper's",
        choices=("family", "paper"),
        change=Change.AT_ONCE,
    )
    horizon: int | None = parameter(
        None,
        "turns of all clients together, for bound=paper; default: those of the run",
        symbol="T",
        at_least=1,
        change=Change.AT_ONCE,
    )
    welcome: bool = welcome_parameter()
    precision: str = precision_parameter()

    def for_client(self, client: int) -> Self:
        """Return the parameters as one client has them: its threshold first, as the width needs the largest."""
        if isinstance(self.upload_threshold, tuple):
            own, others = self.upload_threshold[client], self.upload_threshold
            return replace(self, upload_threshold=(own, *others[:client], *others[client + 1 :]))
        return self

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        way = replace(
            WAYS["fedlinucb"], uses_own=self.use_own, welcome=self.welcome, precision=self.precision
        )  # fmt: skip
        chosen = self if self.alpha is not None or self.bound == "family" else replace(self, alpha=self._width(setting))
        return compose(chosen, setting, way, self.upload_threshold, downloads=1.0)

    def _width(self, setting: Setting) -> float:
        """Return the width of theorem 5.1."""
        turns = setting.horizon if self.horizon is None else self.horizon
        if turns == 1 and self.horizon is None:
            raise InvalidInput(
                "bound=paper needs the number of turns of all clients: give horizon, as in horizon=30000"
            )
        growth = float(np.max(self.upload_threshold)) - 1.0
        if not 0.0 < growth < math.inf:
            raise InvalidInput(
                f"upload_threshold={growth + 1.0:g} has no width with bound=paper: give a "
                + ("greater threshold" if growth == 0.0 else "finite threshold")
            )
        clients, root = setting.clients, math.sqrt(self.ridge)
        inner = setting.dimension * math.log((1.0 + turns / (min(growth, 1.0) * self.ridge)) / self.delta)
        factor = math.sqrt(1.0 + clients * growth) + clients * math.sqrt(2.0 * growth)
        return root + factor * (self.noise * math.sqrt(inner) + root)
