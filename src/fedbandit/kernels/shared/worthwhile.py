"""A small kernel that Python runs until there has been so much work for it that compiling pays.

To compile the smallest kernel takes as long as Python takes for a hundred thousand elementary steps. Many a run, and
most sites, never have as many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

import numpy as np

from fedbandit.kernels.shared.compiled import interpreted

P = ParamSpec("P")
R = TypeVar("R")

WORTH = 20_000  # steps in Python after which compiling is taken to pay: a fifth of what it costs


class Worthwhile(Generic[P, R]):
    """A kernel that Python runs until all its calls together have made so many steps."""

    def __init__(self, kernel: Callable[P, R], effort: Callable[..., int]) -> None:
        """Take the kernel, and what tells about how many elementary steps a call makes."""
        self._kernel = kernel
        self._effort = effort
        self._plain = interpreted(kernel)
        self._left = WORTH

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Return what the kernel returns."""
        if self._left <= 0:
            return self._kernel(*arguments, **named)
        self._left -= self._effort(*arguments, **named)
        with np.errstate(all="ignore"):  # as machine code does
            return self._plain(*arguments, **named)


def once_worthwhile(effort: Callable[..., int]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let Python run a kernel until the efforts of its calls have added up."""
    return lambda kernel: Worthwhile(kernel, effort)
