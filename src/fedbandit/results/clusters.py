"""Runs on a cluster: of Dask, by its scheduler's address, or of Ray.

Workers need fedbandit and no folder in common: what a run found comes back over the network and is kept here. A run
whose worker dies is given to another one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from fedbandit.core.errors import InvalidInput

T = TypeVar("T")

DASK, RAY = "dask://", "ray"
RETRIES = 5  # workers that may die under one run
SECONDS = 10  # until a scheduler has to answer


class Cluster(ABC):
    """Workers on other machines."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Return how many runs there can be at once."""

    @abstractmethod
    def each(self, task: Callable[..., T], arguments: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Call a task with each tuple of arguments; yield what comes back as it comes."""


class DaskCluster(Cluster):
    """Workers of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        """Connect to `dask://HOST:PORT`."""
        distributed = _imported("distributed", address, "dask")
        try:
            self._client = distributed.Client(address.replace(DASK, "tcp://"), timeout=SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"--on {address}: no scheduler of Dask answers there ({type(error).__name__}): start one with `dask "
                "scheduler`, or correct the address"
            ) from None
        self._as_completed = distributed.as_completed

    @property
    def workers(self) -> int:
        """Return how many threads its workers have."""
        return max(1, int(sum(self._client.nthreads().values())))

    def each(self, task: Callable[..., T], arguments: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Hand all to the scheduler, which gives what a dead worker had to another."""
        runs = [self._client.submit(task, *each, pure=False, retries=RETRIES) for each in arguments]
        for run in self._as_completed(runs, loop=self._client.loop):
            yield run.result()


class RayCluster(Cluster):
    """Workers of Ray."""

    def __init__(self, address: str) -> None:
        """Connect to `ray://HOST:PORT`; `ray` is the cluster of this machine, which is begun if there is none."""
        self._ray = _imported("ray", address, "ray")
        try:
            where = None if address == RAY else address
            self._ray.init(where, ignore_reinit_error=True, log_to_driver=False, configure_logging=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise InvalidInput(
                f"--on {address}: no head of Ray answers there ({type(error).__name__}): start one with `ray start "
                "--head`, or correct the address"
            ) from None

    @property
    def workers(self) -> int:
        """Return how many processors it has."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def each(self, task: Callable[..., T], arguments: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Hand all to Ray, which gives what a dead worker had to another."""
        remote = self._ray.remote(max_retries=RETRIES)(task)
        runs = [remote.remote(*each) for each in arguments]
        while runs:
            done, runs = self._ray.wait(runs)
            yield from self._ray.get(done)


def cluster_at(address: str) -> Cluster:
    """Return the workers at an address: `dask://HOST:PORT`, `ray`, or `ray://HOST:PORT`.

    >>> cluster_at("slurm")
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: --on slurm is no cluster: give dask://HOST:PORT, ray, or ray://HOST:PORT
    """
    if address.startswith(DASK) and len(address) > len(DASK):
        return DaskCluster(address)
    if address == RAY or (address.startswith(f"{RAY}://") and len(address) > len(f"{RAY}://")):
        return RayCluster(address)
    raise InvalidInput(f"--on {address} is no cluster: give dask://HOST:PORT, ray, or ray://HOST:PORT")


def _imported(package: str, address: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError:
        raise InvalidInput(f"--on {address} needs {package}: install fedbandit with its extra {extra}") from None
