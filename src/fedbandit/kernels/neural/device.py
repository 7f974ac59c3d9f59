"""Where and how exactly the neural family computes: a processor or a GPU, in single or double precision."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.files.memory import free_memory
from fedbandit.kernels.neural.arrays import Array, Numbers, Precision
from fedbandit.kernels.neural.kept_programs import keep_programs

CHUNKS = {"cpu": 256, "cuda": 2048}  # observations that a step of the training takes in at once
# A GPU's compiler would try every product in many ways before the first round, to choose among kernels this small.
OPTIONS: dict[str, dict[str, int]] = {"cpu": {}, "cuda": {"xla_gpu_autotune_level": 0}}

P = ParamSpec("P")
R = TypeVar("R")


class Device:
    """One device and one precision; arrays are made, and kernels run, while it is `active`."""

    def __init__(self, name: str, precision: str) -> None:
        """Find the device."""
        keep_programs()
        try:
            with _one_thread():
                self._device = jax.devices(None if name == "auto" else name)[0]
        except RuntimeError:
            raise InvalidInput(
                f"device={name}, but JAX finds no such device here: install 'jax[cuda13]' on a machine with an NVIDIA "
                "GPU, or set device=cpu"
            ) from None
        self.name = "cpu" if self._device.platform == "cpu" else "cuda"
        self.dtype: Precision = np.dtype(precision)
        self.chunk = CHUNKS[self.name]
        # One client after the other keeps a processor's caches warm; a GPU wants all of them at once.
        self.over_clients: Callable[[Callable[..., Array]], Callable[..., Array]]
        self.over_clients = _one_by_one if self.name == "cpu" else jax.vmap

    def compiled(
        self, function: Callable[P, R], *, static: tuple[str, ...] = (), consumed: tuple[int, ...] = ()
    ) -> Callable[P, R]:
        """Return a function compiled for this device, at its first call.

        It is compiled for each value of the arguments that are `static`. Those at the places `consumed` are not there
        any more afterwards: what is returned may lie in their memory.
        """
        program = jax.jit(
            function, compiler_options=OPTIONS[self.name], static_argnames=static, donate_argnums=consumed
        )
        return cast(Callable[P, R], program)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make this device and precision the ones in which JAX works."""
        with (
            jax.default_device(self._device),
            jax.enable_x64(self.dtype == np.float64),
            jax.default_matmul_precision("highest"),  # a GPU would otherwise round factors to ten bits
        ):
            yield

    def put(self, values: npt.ArrayLike) -> Array:
        """Return an array on the device, in its precision."""
        return jnp.asarray(np.asarray(values), self.dtype)

    def cast(self, values: npt.ArrayLike) -> Floats:
        """Return an array in the device's precision; a compiled function puts it where it is needed."""
        return np.asarray(values, dtype=self.dtype)

    def free_bytes(self) -> int:
        """Return the memory that is there to be used."""
        if self.name == "cpu":
            return free_memory()
        stats = self._device.memory_stats() or {}
        return int(stats.get("bytes_limit", 1 << 62)) - int(stats.get("bytes_in_use", 0))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let JAX begin with one thread, unless NPROC says otherwise.

    The arrays of a round are too small to be shared out between cores, and threads that wait for one another cost
    more than they bring: a sweep over seeds uses the cores better. JAX reads NPROC once, when it first needs a device.
    """
    before = os.environ.get("NPROC")
    os.environ["NPROC"] = before or "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["NPROC"]


def _one_by_one(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda *arrays: jax.lax.map(lambda each: function(*each), arrays)


def plain(values: Numbers) -> Floats:
    """Return a device's array as a NumPy array."""
    return np.asarray(values)
