"""Who shares with whom in Clustered-LinUCB, and how much the peers of each client may have told together.

Sets of clients are rows of bits. Client k is a peer of j if it has uploaded and the two are not told apart; j itself is
one once it has uploaded. An upload of i changes the verdicts on i and on nobody else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.kernels.linear.telling_apart import Comparing, Told, tell_apart
from fedbandit.kernels.shared.compiled import borrowing

Bits = npt.NDArray[np.uint8]


class Verdicts(NamedTuple):
    """Who is told apart from whom, and how much the peers of each client may have told together."""

    apart: Bits  # (clients, bytes) bit k of row j: the two are apart
    heard: Bits  # (bytes,) bit k: client k has uploaded
    most: Floats  # log det(G_j + ridge I), with G_j the sum of S_k over the peers of j, is at most this


def no_verdicts(clients: int, dimension: int, ridge: float) -> Verdicts:
    """Return the verdicts of a server that has heard nothing: all are alike.

    >>> no_verdicts(clients=9, dimension=2, ridge=1.0).apart.shape
    (9, 2)
    """
    size = -(-clients // 8)
    return Verdicts(
        apart=np.zeros((clients, size), dtype=np.uint8),
        heard=np.zeros(size, dtype=np.uint8),
        most=np.full(clients, dimension * math.log(ridge)),
    )


def peers_of(verdicts: Verdicts, clients: Ints) -> Bits:
    """Return the peers of each of some clients as a row of bits."""
    return np.asarray(~verdicts.apart[clients] & verdicts.heard)


@borrowing
def has(bits: Bits, client: int) -> bool:
    """Tell whether a client is in a set."""
    return bool((bits[client >> 3] >> (client & 7)) & 1)


@borrowing
def put(bits: Bits, client: int) -> None:
    """Add a client to a set."""
    bits[client >> 3] |= 1 << (client & 7)


@borrowing
def take_out(bits: Bits, client: int) -> None:
    """Take a client out of a set."""
    bits[client >> 3] &= 255 ^ (1 << (client & 7))


@borrowing
def judge(
    told: Told, verdicts: Verdicts, sender: int, new: Floats, growth: float, copies: Floats, ridge: float, rho: float,
    limit: float, now_apart: Bools, concerned: Bools, traces: Floats, comparing: Comparing,
) -> None:  # fmt: skip
    """Tell who uploaded `new` apart from, or take it for alike with, each other client; bounds of determinants follow.

    `concerned` are the sender and all that are alike with it, or were before. `traces` is scratch.
    The upload raised log det(S_i + ridge I) by `growth`, and so log det(G_j + ridge I) by no more, for each j of whom i
    was a peer; a client that becomes a peer raises it by no more than from nothing. And if X is added to M, log det M
    grows by log det(I + M^-1 X), which is no more than the trace of M^-1 X: what was last shared with j is a part of
    G_j, so its inverse (`copies`, with the client as the last axis) gives another bound, far lower once much is shared.
    """
    nothing = new.shape[0] * math.log(ridge)
    for other in range(now_apart.size):
        now_apart[other] = limit < math.inf and has(verdicts.apart[sender], other)
        traces[other] = 0.0
    if limit < math.inf:
        tell_apart(told, sender, rho, limit, now_apart, comparing)
    add_traces(new, copies, traces)
    verdicts.most[sender] += min(growth, traces[sender])
    for other in range(traces.size):
        was_apart = has(verdicts.apart[sender], other)
        concerned[other] = not (was_apart and now_apart[other])
        if now_apart[other]:
            if not was_apart:
                put(verdicts.apart[sender], other)
                put(verdicts.apart[other], sender)
        elif was_apart:
            take_out(verdicts.apart[sender], other)
            take_out(verdicts.apart[other], sender)
            verdicts.most[other] += told.log_det[sender] - nothing
            verdicts.most[sender] += told.log_det[other] - nothing
        elif other != sender:
            verdicts.most[other] += min(growth, traces[other])


@borrowing
def add_traces(new: Floats, copies: Floats, traces: Floats) -> None:
    """Add the trace of a symmetric matrix times that of each client in `copies`, whose last axis is the client.

    >>> import numpy as np
    >>> traces = np.zeros(2)
    >>> add_traces(np.eye(2), np.array([[[1.0, 2.0], [0.0, 9.0]], [[0.0, 9.0], [3.0, 4.0]]]), traces)
    >>> traces
    array([4., 6.])
    """
    for i in range(new.shape[0]):
        for j in range(i + 1):
            weight, row = new[i, j] if i == j else 2.0 * new[i, j], copies[i, j]
            for other in range(traces.size):
                traces[other] += weight * row[other]


@borrowing
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


@borrowing
def add_up_peers(
    grams: Floats, moments: Floats, verdicts: Verdicts, client: int, peers: Ints, gram: Floats, moment: Floats
) -> None:
    """Write G_j and g_j, the sums over the peers of a client, in client order, to `gram` and `moment`.

    A gram matrix is a row here. `peers` is scratch.
    """
    count = 0
    for byte in range(verdicts.heard.size):
        some = verdicts.heard[byte] & ~verdicts.apart[client, byte]
        if some:
            for other in range(8 * byte, min(8 * byte + 8, peers.size)):
                if (some >> (other & 7)) & 1:
                    peers[count] = other
                    count += 1
    add_up_rows(grams, peers, count, gram)
    add_up_rows(moments, peers, count, moment)


@borrowing
def add_up_rows(rows: Floats, which: Ints, count: int, total: Floats) -> None:
    """Write the sum of the first so many rows of `which`, one after the other, to `total`; four are read at a time."""
    for i in range(total.size):
        total[i] = 0.0
    done = 0
    while done + 4 <= count:
        first, second = rows[which[done]], rows[which[done + 1]]
        third, fourth = rows[which[done + 2]], rows[which[done + 3]]
        for i in range(total.size):
            total[i] = (((total[i] + first[i]) + second[i]) + third[i]) + fourth[i]
        done += 4
    for each in range(done, count):
        row = rows[which[each]]
        for i in range(total.size):
            total[i] += row[i]
