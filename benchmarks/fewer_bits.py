"""`python -m benchmarks.fewer_bits`: what breaks first when sums travel with fewer bits than half precision has.

Factors are rounded to so many significant bits (half precision has 11), with exponents of any size: of uploads, of
downloads, or of both. What rounding leaves of an upload stays in the buffer as ever. No parameter does this: it shows
how far half precision is from the edge.
"""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table

import fedbandit as fb
from fedbandit.algorithms.linear.shared import encoding
from fedbandit.core.arrays import Floats
from fedbandit.simulation.in_process import simulate

BITS = (11, 8, 6, 5, 4, 3)
COARSE = (("uploads", "downloads"), ("uploads",), ("downloads",))  # whose factors have few bits
SEEDS = range(5)
TURNS = 10_000
WORLD = fb.environment("linear", clients=100, arms=10, dimension=10)


def rounded(values: Floats, bits: int) -> Floats:
    """Return values with so many significant bits.

    >>> rounded(np.array([1.0, 1.3, -100.0]), bits=2)
    array([  1. ,   1.5, -96. ])
    """
    share, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(share * 2.0**bits) / 2.0**bits, exponent))


def regret(bits: int, coarse: tuple[str, ...], seed: int) -> float:
    """Return the regret where factors of some messages have so many bits, and all others what they need."""

    def round_some(values: Floats, precision: str, least: float | None = None) -> Floats:  # noqa: ARG001
        kind = "uploads" if least is None else "downloads"  # a download says which of its numbers matter
        return rounded(values, bits) if kind in coarse else values

    left_out = 4 * 2.0**-bits if "uploads" in coarse else encoding._LEFT_OUT["float32"]
    with patch.object(encoding, "_rounded", round_some), patch.dict(encoding._LEFT_OUT, float16=left_out):
        trace, _ = simulate(fb.algorithm("lean-linucb", precision="float16"), WORLD, TURNS, seed)
    return float(trace.regret.sum())


def main() -> None:
    """Print the regret by number of bits, with its standard error."""
    table = Table("bits", *map(" and ".join, COARSE))
    for bits in BITS:
        cells = []
        for coarse in COARSE:
            found = np.array([regret(bits, coarse, seed) for seed in SEEDS])
            cells.append(f"{found.mean():.1f} ± {found.std(ddof=1) / np.sqrt(len(found)):.1f}")
        table.add_row(str(bits), *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
