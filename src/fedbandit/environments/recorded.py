"""The recorded world: a file of turns that fixes everything random, so that runs are reproducible to the arm.

One `.npz` without pickles: `client` (T,); `arms` (T, K, d), or `context` (T, d) where the arms share one; `reward`
(T, K) and perhaps `mean` (T, K); for duels `utility` (T, K) and `coin` (T,) in their place. With `draws` (T, m), the
standard normals of each turn in the order in which its choice uses them, a run draws none of its own. `epoch` (T,), not
decreasing, says when algorithms with a discount forget. `noise_draws` (N, releases, d (d + 1) / 2 + d) are the standard
normals that hide each release of each client of a private algorithm.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.turns import Duels, Outcomes, Rewards, Turns
from fedbandit.files.checked_arrays import array_of, numbers_of, refuse_where
from fedbandit.files.npz import read_npz


@dataclass(frozen=True)
class Recorded(Environment, id="recorded", title="a file of turns (.npz): your own data, or an exact test case"):
    """The turns of a file, in its order; the seed changes nothing about the world, nor with `draws` about the run.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> name = folder.name + "/turns.npz"
    >>> np.savez(name, client=np.array([0, 1]), arms=np.ones((2, 3, 4)), reward=np.zeros((2, 3)))
    >>> Recorded(path=name).setting()
    Setting(clients=2, arms=3, dimension=4, horizon=2)
    >>> folder.cleanup()
    """

    path: str = parameter("", "the file of turns (.npz)")
    _turns: Turns = field(init=False, repr=False, compare=False)
    _arms: int = field(init=False, repr=False, compare=False)
    _noise: Floats | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read the file and check every array."""
        super().__post_init__()
        arrays = _load(self.path)
        block = read_turns(arrays, self.path)
        if self.epoch_length and block.epoch is not None:
            raise InvalidInput(
                f"epoch_length={self.epoch_length}, but {self.path} has the epoch of each turn: leave one of them out"
            )
        object.__setattr__(self, "_turns", block)
        object.__setattr__(self, "_noise", _noise(arrays, int(block.client.max()) + 1, self.path))
        outcomes: Any = block.outcomes
        table = outcomes.utility if isinstance(outcomes, Duels) else outcomes.payoff
        object.__setattr__(self, "_arms", table.shape[1])

    def setting(self) -> Setting:
        """Return the sizes of the file."""
        block = self._turns
        return Setting(int(block.client.max()) + 1, self._arms, block.features.shape[-1], horizon=len(block))

    def fingerprint(self) -> str:
        """Return a digest of the file: another file of the same name is another world."""
        with Path(self.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def release_noise(self) -> Floats | None:
        """Return what hides releases, if the file says it."""
        return self._noise

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:  # noqa: ARG002
        """Yield the file's first `count` turns."""
        if count > len(self._turns):
            raise InvalidInput(f"turns={count}, but {self.path} has {len(self._turns)}: ask for no more than that")
        for first in range(0, count, block):
            yield self._turns.take(slice(first, min(first + block, count)))


def _load(path: str) -> dict[str, np.ndarray[Any, Any]]:
    if Path(path).is_dir() and path:
        raise InvalidInput(f"{path!r} is a folder: give the path of an .npz file of turns")
    if not Path(path).is_file():
        raise InvalidInput(f"no recorded file at {path!r}: give the path of an .npz file of turns")
    return read_npz(path)


def read_turns(arrays: Mapping[str, np.ndarray[Any, Any]], source: str = "the file") -> Turns:
    """Check the arrays of a recorded file and return them as one block of turns."""
    client = _clients(arrays, source)
    turns = len(client)
    duels = "utility" in arrays
    table = numbers_of(arrays, "utility" if duels else "reward", (turns, None), source)
    arms = table.shape[1]
    if "context" in arrays:
        features = numbers_of(arrays, "context", (turns, None), source)
    else:
        features = numbers_of(arrays, "arms", (turns, arms, None), source)
    outcomes: Outcomes
    if duels:
        coin = numbers_of(arrays, "coin", (turns,), source)
        refuse_where((coin < 0) | (coin >= 1), coin, "coin", "coins lie in [0, 1)")
        outcomes = Duels(table, coin)
    else:
        mean = numbers_of(arrays, "mean", (turns, arms), source) if "mean" in arrays else None
        outcomes = Rewards(table, mean)
    draws = numbers_of(arrays, "draws", (turns, None), source) if "draws" in arrays else None
    return Turns(client, features, outcomes, draws, _epochs(arrays, turns, source))


def _noise(arrays: Mapping[str, np.ndarray[Any, Any]], clients: int, source: str) -> Floats | None:
    return numbers_of(arrays, "noise_draws", (clients, None, None), source) if "noise_draws" in arrays else None


def _epochs(arrays: Mapping[str, np.ndarray[Any, Any]], turns: int, source: str) -> Ints | None:
    if "epoch" not in arrays:
        return None
    epoch = array_of(arrays, "epoch", (turns,), source)
    if epoch.dtype.kind not in "iu":
        raise InvalidInput(f"epoch must hold whole numbers, not {epoch.dtype}: store it as integers")
    epoch = epoch.astype(np.int64)
    refuse_where(np.diff(epoch, prepend=epoch[0]) < 0, epoch, "epoch", "epochs do not decrease from turn to turn")
    return epoch


def _clients(arrays: Mapping[str, np.ndarray[Any, Any]], source: str) -> Ints:
    client = array_of(arrays, "client", (None,), source)
    if not len(client):
        raise InvalidInput(f"client in {source} is empty: a recorded file needs at least one turn")
    if client.dtype.kind not in "iu":
        raise InvalidInput(f"client must hold whole numbers, not {client.dtype}: store it as integers")
    client = client.astype(np.int64)
    refuse_where(client < 0, client, "client", "clients are numbered from 0")
    if int(client.max()) >= len(client):
        place = int(client.argmax())
        raise InvalidInput(
            f"client[{place}] is {client[place]}, but with {len(client)} turns not every client below it can "
            "appear: number the clients 0 to N-1"
        )
    present = np.bincount(client) > 0
    if not present.all():
        absent = int(np.argmin(present))
        raise InvalidInput(f"client never names {absent} although it names {client.max()}: number clients 0 to N-1")
    return client
