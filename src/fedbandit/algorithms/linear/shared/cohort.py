"""What a cohort of linear clients knows."""

from __future__ import annotations

from dataclasses import dataclass, field

from fedbandit.algorithms.linear.shared.exchange import Exchange, no_exchange
from fedbandit.core.arrays import Ints
from fedbandit.core.former_names import formerly
from fedbandit.kernels.linear.gap_weighting import Errors
from fedbandit.kernels.linear.ridge_rows import Model, RidgeRows
from fedbandit.kernels.linear.snapshots import Snapshots

NOBODY = no_exchange(0, 0, 0)


@formerly("CohortState")
@dataclass
class LinearCohortState:
    """What the clients know. A client has a row once it has acted; a download waits as a slot."""

    row_of: Ints  # (clients,) its row, or -1
    used: Ints  # (1,) rows in use
    slot_of: Ints  # (clients,) the snapshot that it has yet to take in, or -1
    rows: RidgeRows
    shared: Snapshots
    errors: Errors | None = field(default=None, kw_only=True)  # of predictions, by row, where chances depend on them
    exchange: Exchange = field(default=NOBODY, kw_only=True)
    downloaded: Model | None = field(default=None, kw_only=True)  # C_i, c_i, where scores use these alone

    def __post_init__(self) -> None:
        """Fill in what a state of 0.1.0 does not have."""
        capacity, size = self.rows.moment.shape
        if len(self.exchange.known) != capacity:
            self.exchange = no_exchange(capacity, size, len(self.row_of))
