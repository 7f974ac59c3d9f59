"""Who shares with whom in Clustered-LinUCB, and what the peers of each client have told together.

Sets of clients are rows of bits. Client k is a peer of j if it has uploaded and the two are not told apart; j itself is
one once it has uploaded. An upload of i changes the verdicts on i and on nobody else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.telling_apart import Told, are_apart
from fedbandit.kernels.shared.compiled import compiled

Bits = npt.NDArray[np.uint8]


class Verdicts(NamedTuple):
    """Who is told apart from whom, and what the peers of each client have told together."""

    apart: Bits  # (clients, bytes) bit k of row j: the two are apart
    heard: Bits  # (bytes,) bit k: client k has uploaded
    gram: Floats  # G_j: the sum of S_k over the peers of j
    most: Floats  # log det(G_j + ridge I) is at most this


def no_verdicts(clients: int, dimension: int, ridge: float) -> Verdicts:
    """Return the verdicts of a server that has heard nothing: all are alike.

    >>> no_verdicts(clients=9, dimension=2, ridge=1.0).apart.shape
    (9, 2)
    """
    size = -(-clients // 8)
    return Verdicts(
        apart=np.zeros((clients, size), dtype=np.uint8),
        heard=np.zeros(size, dtype=np.uint8),
        gram=np.zeros((clients, dimension, dimension)),
        most=np.full(clients, dimension * math.log(ridge)),
    )


def peers_of(verdicts: Verdicts, clients: Ints) -> Bits:
    """Return the peers of each of some clients as a row of bits."""
    return np.asarray(~verdicts.apart[clients] & verdicts.heard)


@compiled
def has(bits: Bits, client: int) -> bool:
    """Tell whether a client is in a set."""
    return bool((bits[client >> 3] >> (client & 7)) & 1)


@compiled
def put(bits: Bits, client: int) -> None:
    """Add a client to a set."""
    bits[client >> 3] |= 1 << (client & 7)


@compiled
def take_out(bits: Bits, client: int) -> None:
    """Take a client out of a set."""
    bits[client >> 3] &= 255 ^ (1 << (client & 7))


@compiled
def add_matrix(gram: Floats, weight: float, into: Floats) -> None:
    """Add a square matrix, times a weight, to another."""
    for i in range(gram.shape[0]):
        for j in range(gram.shape[0]):
            into[i, j] += weight * gram[i, j]


@compiled
def judge(
    told: Told, verdicts: Verdicts, sender: int, new: Floats, growth: float, ridge: float, rho: float, limit: float,
    scratch: Floats,
) -> None:  # fmt: skip
    """Tell who uploaded `new` apart from, or take it for alike with, each other client; what peers have told follows.

    The upload raised log det(S_i + ridge I) by `growth`, and so log det(G_j + ridge I) by no more, for each j of whom i
    was a peer; a client that becomes a peer raises it by no more than from nothing.
    """
    nothing = new.shape[0] * math.log(ridge)
    total, is_first = told.gram[sender], told.uploads[sender] == 1
    add_matrix(new, 1.0, verdicts.gram[sender])
    verdicts.most[sender] += growth
    for other in range(told.uploads.size):
        if other == sender:
            continue
        was_apart = has(verdicts.apart[sender], other)
        is_tested = limit < math.inf and told.uploads[other] > 0
        now_apart = is_tested and are_apart(told, sender, other, rho, limit, scratch)
        if now_apart and not was_apart:
            put(verdicts.apart[sender], other)
            put(verdicts.apart[other], sender)
            add_matrix(told.gram[other], -1.0, verdicts.gram[sender])
            if not is_first:
                add_matrix(total, -1.0, verdicts.gram[other])
                add_matrix(new, 1.0, verdicts.gram[other])
        elif was_apart and not now_apart:
            take_out(verdicts.apart[sender], other)
            take_out(verdicts.apart[other], sender)
            add_matrix(told.gram[other], 1.0, verdicts.gram[sender])
            add_matrix(total, 1.0, verdicts.gram[other])
            verdicts.most[other] += told.log_det[sender] - nothing
            verdicts.most[sender] += told.log_det[other] - nothing
        elif not now_apart:
            add_matrix(new, 1.0, verdicts.gram[other])
            verdicts.most[other] += growth


@compiled
def first_with_same_peers(verdicts: Verdicts, client: int, some: Ints, count: int) -> int:
    """Return the place among the first so many clients of `some` of one with the same peers, or -1."""
    for each in range(count):
        place = 0
        while place < verdicts.heard.size:
            differ = verdicts.apart[client, place] ^ verdicts.apart[some[each], place]
            if differ & verdicts.heard[place]:
                break
            place += 1
        if place == verdicts.heard.size:
            return each
    return -1
