"""Many runs at once: on the cores of one machine, or on a cluster through joblib's Dask and Ray back ends.

with joblib.parallel_config(backend="dask"):
    fb.reproduce("async-linucb/homogeneous-uniform", jobs=100)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def sweep(task: Callable[..., T], arguments: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[T]:
    """Call a task with each tuple of arguments, `jobs` at a time; yield what comes back as it comes.

    A task must not depend on the order in which tasks run: then the numbers are the same for every `jobs`.

    >>> sorted(sweep(pow, [(2, 3), (3, 2)], jobs=1))
    [8, 9]
    """
    if jobs == 1:
        yield from (task(*each) for each in arguments)
        return
    from joblib import Parallel, delayed, parallel  # only a sweep over several processes pays for the import

    backend, _ = parallel.get_active_backend()
    as_they_come = "generator_unordered" if backend.supports_return_generator else "list"  # Ray's does not
    yield from Parallel(n_jobs=jobs, return_as=as_they_come)(delayed(task)(*each) for each in arguments)
