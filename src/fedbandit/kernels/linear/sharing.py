"""The server's side of Clustered-LinUCB: an upload is taken in, and those who are owed it get what their peers told.

What an upload of i changes concerns i and those alike with i before or after it, so that it costs one test for each
other client, and sums over peers for the few that may be owed a download.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.kernels.linear.peers import Bits, Verdicts, add_up_peers, first_with_same_peers, has, judge, put
from fedbandit.kernels.linear.ridge import copy_matrix, factorise, invert_factor
from fedbandit.kernels.linear.telling_apart import Told, hear
from fedbandit.kernels.shared.compiled import borrowing, compiled


class Shared(NamedTuple):
    """What was last shared with each client; the first axis is the client."""

    met: Bools
    gram: Floats  # C_j
    inverse: Floats  # (d, d, clients) (C_j + ridge I)^-1, of which the last axis is the client
    log_det: Floats  # log det(C_j + ridge I)
    held: Bits  # H_j: those whose uploads are in C_j
    last_download: Ints  # the number of the upload that it followed


def nothing_shared(clients: int, dimension: int, ridge: float) -> Shared:
    """Return the memory of a server that has met nobody."""
    return Shared(
        met=np.zeros(clients, dtype=np.bool_),
        gram=np.zeros((clients, dimension, dimension)),
        inverse=np.repeat(np.eye(dimension)[:, :, np.newaxis] / ridge, clients, axis=2),
        log_det=np.full(clients, dimension * math.log(ridge)),
        held=np.zeros((clients, -(-clients // 8)), dtype=np.uint8),
        last_download=np.zeros(clients, dtype=np.int64),
    )


@borrowing
def has_news(told: Told, verdicts: Verdicts, shared: Shared, client: int, sender: int) -> bool:
    """Tell whether some other peer has uploaded what the copy last shared with a client lacks.

    Whoever has just uploaded is looked at first, which mostly spares a look at the others.
    """
    if client != sender and not has(verdicts.apart[client], sender):
        return True
    for other in range(told.uploads.size):
        is_new = not has(shared.held[client], other) or told.last_upload[other] > shared.last_download[client]
        if is_new and other != client and has(verdicts.heard, other) and not has(verdicts.apart[client], other):
            return True
    return False


@borrowing
def holds_a_stranger(verdicts: Verdicts, shared: Shared, client: int) -> bool:
    """Tell whether the copy last shared with a client has uploads of one who is not its peer."""
    for place in range(verdicts.heard.size):
        if shared.held[client, place] & ~(verdicts.heard[place] & ~verdicts.apart[client, place]):
            return True
    return False


@compiled
def find_owed(
    told: Told, verdicts: Verdicts, shared: Shared, sender: int, now_apart: Bools, concerned: Bools, margins: Floats,
    ridge: float, scratch: Floats, found: Ints,
) -> int:  # fmt: skip
    """Find, in order, those of the concerned who are owed a download after an upload; return how many.

    No copy held uploads of a stranger before, and the upload has changed verdicts on the sender alone. `margins` say by
    how much log det(G_j + ridge I) must be above that of the copy last shared; if minus infinity, any news will do. A
    determinant is computed only where it may be enough, and once for all who have the same peers.
    """
    size = told.moment.shape[1]
    count, times, measured = 0, 0, np.empty(found.size, dtype=np.int64)
    gram, moment = np.empty((size, size)), np.empty(size)
    for client in range(concerned.size):
        if not (concerned[client] and shared.met[client]):
            continue
        if client == sender:
            must_leave = holds_a_stranger(verdicts, shared, client)
        else:
            must_leave = now_apart[client] and has(shared.held[client], sender)
        if not must_leave:
            level = shared.log_det[client] + margins[client]
            if verdicts.most[client] < level or not has_news(told, verdicts, shared, client, sender):
                continue
            if margins[client] > -math.inf:
                same = first_with_same_peers(verdicts, client, measured, times)
                if same >= 0:
                    verdicts.most[client] = verdicts.most[measured[same]]
                else:
                    add_up_peers(told, verdicts, client, gram, moment)
                    verdicts.most[client] = factorise(gram, ridge, scratch[0])
                    measured[times] = client
                    times += 1
                if verdicts.most[client] <= level:
                    continue
        found[count] = client
        count += 1
    return count


@compiled
def share(
    told: Told, verdicts: Verdicts, shared: Shared, number: int, ridge: float, scratch: Floats, found: Ints, count: int,
    first: Ints, moments: Floats,
) -> None:  # fmt: skip
    """Note that so many clients are sent what their peers have told, added up in client order.

    Clients with the same peers get the same: first[k] is the first client that gets what found[k] gets. Its copy is
    the sum of x x^T that they are sent, and its row of `moments` that of x y.
    """
    leaders, leading = np.empty(count, dtype=np.int64), 0
    for place in range(count):
        same = first_with_same_peers(verdicts, found[place], leaders, leading)
        if same < 0:
            leaders[leading], same = found[place], leading
            leading += 1
        client, leader = found[place], leaders[same]
        first[place] = leader
        if client == leader:
            add_up_peers(told, verdicts, client, shared.gram[client], moments[client])
            note_copy(shared, client, ridge, scratch)
        else:
            copy_matrix(shared.gram[leader], shared.gram[client])
            for i in range(moments.shape[1]):
                for j in range(moments.shape[1]):
                    shared.inverse[i, j, client] = shared.inverse[i, j, leader]
            shared.log_det[client] = shared.log_det[leader]
        verdicts.most[client] = shared.log_det[client]
        for byte in range(verdicts.heard.size):
            shared.held[client, byte] = verdicts.heard[byte] & ~verdicts.apart[client, byte]
        shared.last_download[client] = number


@compiled
def note_copy(shared: Shared, client: int, ridge: float, scratch: Floats) -> None:
    """Note what follows from the copy last shared with a client; log det is not a number if there is no inverse."""
    size = shared.gram.shape[1]
    inverse = np.empty((size, size))
    shared.log_det[client] = factorise(shared.gram[client], ridge, scratch[0])
    invert_factor(scratch[0], inverse, scratch[1])
    for i in range(size):
        for j in range(size):
            shared.inverse[i, j, client] = inverse[i, j]


@compiled
def take_in_upload(
    told: Told, verdicts: Verdicts, shared: Shared, sender: int, new: Floats, moment: Floats, number: int, ridge: float,
    rho: float, limit: float, margins: Floats, scratch: Floats, found: Ints, first: Ints, moments: Floats,
) -> int:  # fmt: skip
    """Take in the upload with this number; find, in order, who is sent what, and return how many they are.

    `found`, `first` and `moments` have room for all clients: see `share`.
    """
    before, now_apart = told.log_det[sender], np.empty(margins.size, dtype=np.bool_)
    concerned = np.empty(margins.size, dtype=np.bool_)
    hear(told, sender, new, moment, number, ridge, rho, scratch)
    put(verdicts.heard, sender)
    growth = told.log_det[sender] - before
    judge(told, verdicts, sender, new, growth, shared.inverse, ridge, rho, limit, now_apart, concerned)
    shared.met[sender] = True
    put(shared.held[sender], sender)
    for i in range(moment.size):
        for j in range(moment.size):
            shared.gram[sender, i, j] += new[i, j]
    note_copy(shared, sender, ridge, scratch)
    count = find_owed(told, verdicts, shared, sender, now_apart, concerned, margins, ridge, scratch, found)
    share(told, verdicts, shared, number, ridge, scratch, found, count, first, moments)
    return count
