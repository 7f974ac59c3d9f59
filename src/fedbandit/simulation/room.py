"""Whether a cohort fits into memory, asked before any of it is taken: a system that runs out of it says nothing.

Both nodes of a few clients are started, and what each client adds to them is multiplied. Some of that every client
takes from the start, some only one that acts: a run of 1,000 turns in a world of 10 million clients is a small one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.files.memory import free_memory
from fedbandit.protocol.ledger import Ledger
from fedbandit.simulation.wire import begin

FEW = 1_000  # clients that are not asked about: they take little, or their algorithm looks itself
STREAM = 1_000  # bytes of the random stream of a client that draws


class Share(NamedTuple):
    """The bytes that a client takes from the start, and those that it takes once it acts."""

    always: int
    acting: int

    def of(self, clients: int, acting: int) -> int:
        """Return what so many clients take, of whom so many act."""
        return clients * self.always + min(clients, acting) * self.acting

    def fitting(self, memory: int, acting: int) -> int:
        """Return how many clients fit.

        >>> Share(always=10, acting=90).fitting(memory=1000, acting=5), Share(10, 90).fitting(1000, 50)
        (55, 10)
        """
        together = max(1, self.always + self.acting)
        most = memory // together
        return most if most <= acting else max(acting, (memory - acting * self.acting) // max(1, self.always))


def require_room(algorithm: Algorithm, environment: Environment, setting: Setting, turns: int) -> None:
    """Refuse more clients than memory has room for."""
    if setting.clients <= FEW:
        return
    try:
        share = _share(algorithm, setting)
    except InvalidInput:  # there are parameters that so few clients cannot have
        return
    acting, memory = environment.acting(turns), free_memory()
    if share.of(setting.clients, acting) > memory:
        most = _roughly(share.fitting(memory, acting))
        raise InvalidInput(f"clients={setting.clients} do not fit into memory: take fewer, about {most:,} fit")


def _share(algorithm: Algorithm, setting: Setting) -> Share:
    """Return what each client adds to both nodes; a cohort has rows for its first 64 clients from the start."""
    one = algorithm.for_client(0)
    small, more, many, most = (_bytes_with(one, replace(setting, clients=each)) for each in (32, 64, 128, 192))
    always = (most - many) // 64
    drawn = STREAM if one.federation(replace(setting, clients=1)).clients.draws else 0
    return Share(always, max(0, (more - small) // 32 - always) + drawn)


def _bytes_with(algorithm: Algorithm, setting: Setting) -> int:
    return sum(_sizes(begin(algorithm.federation(setting), setting.clients, Ledger()), set()))


def _sizes(thing: Any, seen: set[int]) -> Iterable[int]:
    """Yield the bytes of all arrays in a thing, each once."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if hasattr(type(thing), "nbytes"):
        yield thing.nbytes
    elif isinstance(thing, dict):
        for each in thing.values():
            yield from _sizes(each, seen)
    elif isinstance(thing, list | tuple):
        for each in thing:
            yield from _sizes(each, seen)
    elif hasattr(thing, "__dict__") and not callable(thing) and not isinstance(thing, ModuleType):
        yield from _sizes(vars(thing), seen)


def _roughly(count: int) -> int:
    """Return a number with its first two digits.

    >>> _roughly(123_456), _roughly(7)
    (120000, 7)
    """
    size: int = 10 ** max(0, len(str(count)) - 2)
    return count // size * size
