"""Python runs a small kernel until all its calls together are worth machine code."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.kernels.shared.compiled import borrowing
from fedbandit.kernels.shared.worthwhile import WORTH, Worthwhile


def _total(numbers: Ints) -> int:
    total = 0
    for each in range(numbers.size):
        total += numbers[each]
    return total


def test_python_runs_it_until_the_steps_of_all_calls_are_worth_compiling() -> None:
    kernel = borrowing(_total)
    total = Worthwhile(kernel, lambda numbers: numbers.size)
    half = np.arange(WORTH // 2)
    assert total(half) == total(half) == half.sum()
    assert not kernel.signatures  # type: ignore[attr-defined]
    assert total(half) == half.sum()
    assert len(kernel.signatures) == 1  # type: ignore[attr-defined]


def test_numbers_that_overflow_do_so_without_a_warning_as_in_machine_code() -> None:
    total = Worthwhile(borrowing(_total), lambda numbers: numbers.size)
    assert total(np.array([np.iinfo(np.int64).max, 1])) == np.iinfo(np.int64).min
