"""Kernels that answer at once: as plain Python until their machine code is ready.

Loading numba's machinery takes a third of a second in every process, and compiling takes seconds on a machine that has
not run a kernel before. A first decision need not wait for it: the kernel's own source gives the same bits when Python
runs it, in some milliseconds instead of microseconds. A thread makes the machine code ready, a moment later, so that a
process that has one core decides first.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numba
import numpy as np

from fedbandit.kernels.shared.compiled import interpreted

P = ParamSpec("P")
R = TypeVar("R")

MOMENT = 0.05  # seconds in which a first choice and its reward are done
SMALL = 100_000  # elementary steps that Python makes in about as long as loading machine code takes


class AtOnce(Generic[P, R]):
    """A kernel that Python runs while its machine code is made ready, unless that would take longer."""

    def __init__(self, kernel: Callable[P, R], effort: Callable[..., int]) -> None:
        """Take the kernel, and what tells about how many elementary steps a call makes."""
        self._kernel = kernel
        self._effort = effort
        self._is_ready = False
        self._plain: Callable[P, R] | None = None
        self._thread: threading.Thread | None = None
        self._is_awaited = threading.Event()

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Return what the kernel returns."""
        if self._is_ready:
            return self._kernel(*arguments, **named)
        return self._meanwhile(*arguments, **named)

    def _meanwhile(self, *arguments: P.args, **named: P.kwargs) -> R:
        with _BEGINNING:  # or else another thread could wait for one that does not run yet
            if self._thread is None:
                self._thread = threading.Thread(target=self._prepare, args=arguments, name="fedbandit kernels")
                self._thread.start()
                _PREPARING.add(self._thread)
                self._plain = interpreted(self._kernel)
        if self._plain is None or self._effort(*arguments, **named) > SMALL:
            self._is_awaited.set()
            self._thread.join()
            return self._kernel(*arguments, **named)
        with np.errstate(all="ignore"):  # as machine code does
            return self._plain(*arguments, **named)

    def _prepare(self, *arguments: Any) -> None:
        """Compile, or load, for arguments of these types."""
        self._is_awaited.wait(MOMENT)
        with suppress(Exception):  # the next call meets it again, where its caller can see it
            types = [numba.typeof(each) for each in arguments]  # type: ignore[no-untyped-call]
            cast(Any, self._kernel).compile(tuple(types))
        with _BEGINNING:
            self._is_ready = True
            _PREPARING.discard(threading.current_thread())


_BEGINNING = threading.Lock()
_PREPARING: set[threading.Thread] = set()


def _finish() -> None:
    """Wait for all that is being prepared, and let nothing begin until the process has forked."""
    _BEGINNING.acquire()
    while _PREPARING:
        waiting = tuple(_PREPARING)
        _BEGINNING.release()
        for thread in waiting:
            thread.join()
        _BEGINNING.acquire()


if hasattr(os, "register_at_fork"):
    # A process that forks while another thread compiles would hand its child a lock that nobody opens.
    os.register_at_fork(before=_finish, after_in_parent=_BEGINNING.release, after_in_child=_BEGINNING.release)
