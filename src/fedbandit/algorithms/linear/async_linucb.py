"""Async-LinUCB: Li and Wang, "Asynchronous Upper Confidence Bound Algorithms for Federated Linear Bandits", 2022.

Algorithms 1 and 2. After its turn client i uploads dV_i, db_i iff (equation 3)

    det(V_i + ridge I) > upload_threshold * det(V_i - dV_i + ridge I).

After an upload the server adds it to V_g, b_g and sends them to every client j it has met for which (equation 4)

    det(V_g + ridge I) > download_threshold * det(V_g - dV_-j + ridge I),

where dV_-j is what others uploaded since j's last download; an empty dV_-j never causes one. Both tests are strict. A
client is met at its first turn, of which it tells the server by a signal unless it uploads then anyway.

`welcome` and `precision` are beyond the paper: see `lean_linucb`. `local-linucb` is the same with infinite thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fedbandit.algorithms.linear.shared.composition import compose
from fedbandit.algorithms.linear.shared.declared import precision_parameter, threshold_parameter, welcome_parameter
from fedbandit.algorithms.linear.shared.family import LinearAlgorithm, RestartingAlgorithm
from fedbandit.algorithms.linear.shared.ways import WAYS, Way
from fedbandit.core.algorithm import Setting
from fedbandit.core.changes import Change
from fedbandit.core.interfaces import Federation

PAPER = "Li and Wang 2022, Asynchronous UCB Algorithms for Federated Linear Bandits"


@dataclass(frozen=True)
class AsyncLinUCB(
    RestartingAlgorithm,
    id="async-linucb",
    title="each client uploads and downloads on its own events",
    paper=PAPER,
):
    """Async-LinUCB (algorithms 1 and 2): events decide per client when to upload and when to download.

    >>> AsyncLinUCB(upload_threshold=0.5)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: upload_threshold must be at least 1, not 0.5: give a number in that range
    """

    carries_over: ClassVar[Change] = Change.MIGRATION

    upload_threshold: float | tuple[float, ...] = threshold_parameter(
        2.0, "a client's determinant that makes it upload", "gamma_U"
    )
    download_threshold: float | tuple[float, ...] = threshold_parameter(
        2.0, "the server's determinant that sends a client a download", "gamma_D"
    )

    welcome: bool = welcome_parameter()
    precision: str = precision_parameter()

    @property
    def way(self) -> Way:
        """Return the row of the family's table with this algorithm's parameters."""
        if not self.welcome and np.isinf(self.upload_threshold).all() and np.isinf(self.download_threshold).all():
            return WAYS["local-linucb"]  # nobody has anything to say
        return replace(WAYS["async-linucb"], welcome=self.welcome, precision=self.precision)

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        return compose(self, setting, self.way, self.upload_threshold, self.download_threshold)


@dataclass(frozen=True)
class LocalLinUCB(
    LinearAlgorithm, id="local-linucb", title="every client alone: no communication (baseline)", paper=PAPER
):
    """Every client runs LinUCB on its own data: Async-LinUCB with infinite thresholds."""

    carries_over: ClassVar[Change] = Change.MIGRATION

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server never hears anything."""
        return compose(self, setting, WAYS["local-linucb"], uploads=np.inf, downloads=np.inf)
