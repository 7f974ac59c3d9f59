"""What a cohort of linear clients knows."""

from __future__ import annotations

from dataclasses import dataclass, field

from fedbandit.core.arrays import Ints
from fedbandit.core.former_names import formerly
from fedbandit.kernels.linear.gap_weighting import Errors
from fedbandit.kernels.linear.ridge_rows import RidgeRows
from fedbandit.kernels.linear.snapshots import Snapshots


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
