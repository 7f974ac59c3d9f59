"""The one way in which kernels are compiled: cached between runs, and to the same numbers everywhere.

No `fastmath`: a sum is taken in the order in which it is written, so that the one-turn path, the batched path
and every machine give the same bits. Loops are written so that the inner one is not a reduction; then the
compiler may still use the processor's vector instructions.

Compiling is slow where functions hand large tuples of arrays to each other, where an array is assigned to a slice
(`a[:] = b` brings in the text of an error message) and where `numpy.linalg` is called: half a second each and more,
against a tenth for a plain loop. So kernels that a first decision or a first run needs are plain loops, which borrow
their arrays (`borrowing`) and are parts of the one that calls them where that is one (`inlined_borrowing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, ParamSpec, TypeVar, cast

import numba
from numba.core import event
from numba.core.dispatcher import Dispatcher

from fedbandit.core.version import VERSION
from fedbandit.kernels.shared.compile_time import Compiling, Stopwatch

P = ParamSpec("P")
R = TypeVar("R")

_KERNELS = [each.stat() for each in Path(__file__).parents[1].rglob("*.py")]
_STARTING, _COMPILING = Stopwatch(), Compiling()
# Numba holds this lock while it compiles a kernel, loads one from its cache or saves it there, and at no other call.
event.register("numba:compiler_lock", _STARTING)  # type: ignore[no-untyped-call]
event.register("numba:compile", _COMPILING)  # type: ignore[no-untyped-call]


def seconds_starting() -> float:
    """Return how long this thread has spent so far on what only a first use takes, and which is no work's own time.

    That is to compile kernels or to load them, and to import what not everybody needs.

    >>> seconds_starting() >= 0.0
    True
    """
    return _STARTING.seconds


def add_seconds(starting: float, compiling: float) -> None:
    """Count what another compiler took, in this thread: for all that only a first use takes, and for compiling."""
    _STARTING.add(starting)
    _COMPILING.add(compiling)


@contextmanager
def starting() -> Iterator[None]:
    """Count what is done within as starting: for an import at the place that needs it, which is slow only once."""
    _STARTING.on_start()
    try:
        yield
    finally:
        _STARTING.on_end()


def compiled(
    function: Callable[P, R], inline: Literal["never", "always"] = "never", is_borrowing: bool = False
) -> Callable[P, R]:
    """Compile a kernel at its first call, and keep the machine code for the next run.

    With NUMBA_DISABLE_JIT=1 in the environment it stays the function that it is, for a debugger to step through.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    # A kernel that did not say whether it counts references would do as the first that calls it. Nobody needs the
    # wrapper for C, which takes time to compile.
    unlisted: dict[str, Any] = {"_nrt": not is_borrowing, "no_cfunc_wrapper": True}
    dispatcher: Any = numba.njit(cache=True, nogil=True, error_model="numpy", inline=inline, **unlisted)(function)
    # numba knows a cached kernel as stale by its own file alone. Kernels call kernels of other files, so the newest
    # time and the total size of all of them are a part of the version. Of another version nothing is read: what an
    # earlier fedbandit has left there may name types that are gone.
    files = [*_KERNELS, Path(function.__code__.co_filename).stat()]
    newest, size = max(each.st_mtime for each in files), sum(each.st_size for each in files)
    dispatcher._cache._cache_file._version = f"numba {numba.__version__}, fedbandit {VERSION}, {newest}, {size}"
    return cast(Callable[P, R], dispatcher)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel as a part of those that call it: quicker for one that is handed many arrays at one place."""
    return compiled(function, inline="always")


def borrowing(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel that makes and returns no array, nor calls one that does: there is less to compile.

    It borrows the arrays that it is handed, and counts no references to them and to their parts.
    """
    return compiled(function, is_borrowing=True)


def inlined_borrowing(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel that makes and returns no array as a part of those that call it."""
    return compiled(function, inline="always", is_borrowing=True)


def borrows(kernel: Callable[..., Any]) -> bool:
    """Tell whether a kernel counts no references."""
    return isinstance(kernel, Dispatcher) and not kernel.targetoptions["_nrt"]


def specialised(kernel: Callable[P, R], name: str, **others: Callable[..., Any]) -> Callable[P, R]:
    """Return a kernel with the same source in which some names stand for other kernels: one source, many strategies.

    Each needs a name of its own, under which its machine code is kept. It borrows its arrays if they all do.
    """
    is_borrowing = all(borrows(each) for each in (kernel, *others.values()))
    return compiled(_in_terms_of(kernel, name, others), is_borrowing=is_borrowing)


def interpreted(kernel: Callable[P, R]) -> Callable[P, R]:
    """Return the kernel as plain Python, down to the kernels that it calls: far slower, and the same bits at once."""
    source = _source(kernel)
    called = {name: source.__globals__.get(name) for name in source.__code__.co_names}
    others = {name: interpreted(each) for name, each in called.items() if isinstance(each, Dispatcher)}
    return _in_terms_of(kernel, source.__qualname__, others)


def _source(kernel: Callable[P, R]) -> FunctionType:
    """Return the function that a kernel was compiled from, or is."""
    return kernel if isinstance(kernel, FunctionType) else cast(FunctionType, cast(Any, kernel).py_func)


def _in_terms_of(kernel: Callable[P, R], name: str, others: dict[str, Any]) -> Callable[P, R]:
    source = _source(kernel)
    copy = FunctionType(
        source.__code__, {**source.__globals__, **others}, name, source.__defaults__, source.__closure__
    )
    copy.__qualname__, copy.__module__, copy.__doc__ = name, source.__module__, source.__doc__
    return cast(Callable[P, R], copy)
