"""What JAX compiles is kept between processes, in the user's cache folder: a second start compiles nothing.

JAX finds a program by all that it depends on, itself and the device included, so nothing that is kept grows stale. JAX
has one such setting for a whole process: where the user has made it, by JAX_COMPILATION_CACHE_DIR or
JAX_ENABLE_COMPILATION_CACHE or in a program of theirs, it stays.
"""

from __future__ import annotations

import os
import warnings
from functools import lru_cache
from pathlib import Path

import jax

from fedbandit.files.cache_folder import cache_folder
from fedbandit.kernels.shared.compiled import add_seconds

LEAST_SECONDS = "jax_persistent_cache_min_compile_time_secs"  # JAX keeps by default what took a second or more
BACKEND = "/jax/core/compile/backend_compile_duration"  # to compile a program, or to load a kept one
LOADING = "/jax/compilation_cache/cache_retrieval_time_sec"  # the part of it that is no compiling
EVERY_TIME = ("/jax/core/compile/jaxpr_trace_duration", "/jax/core/compile/jaxpr_to_mlir_module_duration")


@lru_cache(maxsize=1)
def keep_programs() -> None:
    """Begin to keep what is compiled from now on, and to count how long making programs takes."""
    jax.monitoring.register_event_duration_secs_listener(_count)
    if jax.config.jax_compilation_cache_dir is not None or not jax.config.jax_enable_compilation_cache:
        return
    folder = cache_folder() / "jax"
    if not _can_be_written(folder):
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    if LEAST_SECONDS.upper() not in os.environ:
        jax.config.update(LEAST_SECONDS, 0.0)  # a first run compiles dozens of small programs
    # A program that another process is just writing, or that a full disk cut short, is compiled again.
    warnings.filterwarnings("ignore", message=r"Error (reading|writing) persistent compilation cache entry")


def _can_be_written(folder: Path) -> bool:
    """Make the folder, for this user alone: whoever can write programs there can have them run."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _count(event: str, seconds: float, **_: str | int) -> None:
    if event == BACKEND:
        add_seconds(starting=seconds, compiling=seconds)
    elif event == LOADING:
        add_seconds(starting=0.0, compiling=-seconds)
    elif event in EVERY_TIME:
        add_seconds(starting=seconds, compiling=0.0)
