"""The lot of a turn, compiled: see `core.lots`."""

from __future__ import annotations

from fedbandit.core import lots
from fedbandit.kernels.shared.compiled import compiled

lot_of = compiled(lots.lot_of)
arm_by_lot = compiled(lots.arm_by_lot)
