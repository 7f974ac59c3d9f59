"""One named random stream per seed and purpose.

Two purposes never share numbers, so a change in how one part of a run draws leaves every other part as it
was, and the world is the same for every algorithm that is run on it.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from fedbandit.core.arrays import Floats, Ints


def stream(seed: int, purpose: str, *key: int) -> np.random.Generator:
    """Return the generator for one purpose of one seed (and one client, where a key is given).

    A purpose has keys always, and as many, or never: numpy seeds alike by [1, 2] and by [1, 2, 0].

    >>> float(stream(0, "noise").random()) == float(stream(0, "noise").random())
    True
    >>> float(stream(0, "noise").random()) == float(stream(0, "arms").random())
    False
    """
    return np.random.default_rng([seed, crc32(purpose.encode()), *key])


class ClientStreams:
    """The exploration streams of many clients: each client has one of its own, made when it first draws.

    >>> streams = ClientStreams(seed=0)
    >>> both = streams.normals(np.array([3, 5]), 2)
    >>> again = ClientStreams(seed=0).normals(np.array([5]), 2)
    >>> bool((both[1] == again[0]).all())
    True
    """

    def __init__(self, seed: int) -> None:
        """Prepare the streams of one seed; nothing is drawn yet."""
        self._seed = seed
        self._streams: dict[int, np.random.Generator] = {}

    def normals(self, who: Ints, size: int) -> Floats:
        """Draw `size` standard normals for each client of `who`, in order; a client may appear repeatedly."""
        drawn = np.empty((len(who), size))
        if size:
            for row, client in enumerate(who.tolist()):
                drawn[row] = self._of(client).standard_normal(size)
        return drawn

    def place_of(self, client: int) -> dict[str, Any] | None:
        """Return where a client's stream is, to go on from there in another process; None: nothing was drawn.

        >>> streams, others = ClientStreams(seed=0), ClientStreams(seed=0)
        >>> first = streams.normals(np.array([3]), 2)
        >>> others.go_on(3, streams.place_of(3))
        >>> bool((streams.normals(np.array([3]), 2) == others.normals(np.array([3]), 2)).all())
        True
        """
        generator = self._streams.get(client)
        return None if generator is None else dict(generator.bit_generator.state)

    def go_on(self, client: int, place: dict[str, Any]) -> None:
        """Let a client's stream go on from where one of the same seed was."""
        self._of(client).bit_generator.state = place

    def _of(self, client: int) -> np.random.Generator:
        generator = self._streams.get(client)
        if generator is None:
            generator = self._streams[client] = stream(self._seed, "exploration", client)
        return generator
