"""The one way in which kernels are compiled: cached between runs, and to the same numbers everywhere.

No `fastmath`: a sum is taken in the order in which it is written, so that the one-turn path, the batched path
and every machine give the same bits. Loops are written so that the inner one is not a reduction; then the
compiler may still use the processor's vector instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


_CACHES: set[str] = set()
_KERNELS = [each.stat() for each in Path(__file__).parents[1].rglob("*.py")]


def is_cold() -> bool:
    """Tell whether no kernel has been compiled and kept yet: then the first run has all of them to compile."""
    return not any(index for folder in _CACHES for index in Path(folder).glob("*.nbi"))


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel at its first call, and keep the machine code for the next run."""
    dispatcher: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    # numba knows a cached kernel as stale by its own file alone. Kernels call kernels of other files, so the
    # stamp here is the newest time and the total size of all of them.
    files = [*_KERNELS, Path(function.__code__.co_filename).stat()]
    stamp = max(each.st_mtime for each in files), sum(each.st_size for each in files)
    dispatcher._cache._cache_file._source_stamp = stamp
    _CACHES.add(dispatcher._cache.cache_path)
    return cast(Callable[P, R], dispatcher)
