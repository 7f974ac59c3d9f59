"""Many runs at once: on the cores of one machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from fedbandit.results.clusters import Cluster

T = TypeVar("T")


def sweep(
    task: Callable[..., T], arguments: Iterable[tuple[Any, ...]], jobs: int, on: Cluster | None = None
) -> Iterator[T]:
    """Call a task with each tuple of arguments, `jobs` at a time or on a cluster; yield what comes back as it comes.

    A task must not depend on the order in which tasks run: then the numbers are the same for every `jobs`.

    >>> sorted(sweep(pow, [(2, 3), (3, 2)], jobs=1))
    [8, 9]
    """
    if on is not None:
        yield from on.each(task, arguments)
        return
    if jobs == 1:
        yield from (task(*each) for each in arguments)
        return
    from joblib import Parallel, delayed, parallel  # only a sweep over several processes pays for the import

    backend, _ = parallel.get_active_backend()
    as_they_come = "generator_unordered" if backend.supports_return_generator else "list"  # Ray's does not
    yield from Parallel(n_jobs=jobs, return_as=as_they_come)(delayed(task)(*each) for each in arguments)
