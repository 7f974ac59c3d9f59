"""What must be given to algorithms that cannot run without, and what makes them talk in small worlds."""

from __future__ import annotations

import fedbandit as fb

NEEDED = {"private-linucb": {"epsilon": 20.0, "batch": 2, "context_bound": 2.0, "reward_bound": 3.0}}


def needed(name):
    """The parameters that an algorithm of this name is to be given."""
    return dict(NEEDED.get(name, {}))


class Ready:
    """An algorithm's class that has, when it is called, what it needs."""

    def __init__(self, kind):
        self._kind = kind

    def __call__(self, **more):
        return self._kind(**{**needed(self._kind.id), **more})

    def __getattr__(self, name):
        return getattr(self._kind, name)


def ready(kind):
    """The class, or one that knows what it needs."""
    return Ready(kind) if needed(kind.id) else kind


def algorithm(name):
    """An algorithm by its name, with what it needs."""
    return fb.algorithm(name, **needed(name))
