"""What tests compile is compiled once: kernels by one worker for all, and JAX's programs for the next run as well."""

from __future__ import annotations

import os
import zlib

import pytest
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from fedbandit.files.cache_folder import cache_folder

try:
    import fcntl
except ImportError:  # elsewhere than on Unix every worker compiles for itself
    fcntl = None


def keep_programs_of_jax() -> None:
    """Keep them where a run of the user keeps them, also while tests have caches of their own."""
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache_folder() / "jax"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


@pytest.fixture(scope="session", autouse=True)
def one_worker_compiles(tmp_path_factory):
    """Let one worker compile a kernel and the others wait for its machine code: they begin with the same kernels.

    Every kernel has a byte of one file, which is locked meanwhile. No two wait for each other: a kernel is locked after
    those that call it, and no kernel calls one of those.
    """
    if fcntl is None or "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    compile_now = Dispatcher.compile
    with (tmp_path_factory.getbasetemp().parent / "compiling").open("w") as file, pytest.MonkeyPatch.context() as patch:

        def compile_in_turn(kernel, signature):
            place = zlib.crc32(f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}".encode())
            with global_compiler_lock:
                fcntl.lockf(file, fcntl.LOCK_EX, 1, place)
                try:
                    return compile_now(kernel, signature)
                finally:
                    fcntl.lockf(file, fcntl.LOCK_UN, 1, place)

        patch.setattr(Dispatcher, "compile", compile_in_turn)
        yield
