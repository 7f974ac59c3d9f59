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
from fedbandit.kernels.linear.ridge_rows import scratch_for
from fedbandit.kernels.linear.telling_apart import Comparing, Told, hear, room_to_compare
from fedbandit.kernels.shared.compiled import borrowing


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


class Room(NamedTuple):
    """Working space for an upload, with views of what clients have told; and what comes of it."""

    grams: Floats  # S_k as a row
    copies: Floats  # C_j as a row
    comparing: Comparing
    now_apart: Bools  # from the sender
    concerned: Bools  # the sender, and all that are alike with it, or were before
    traces: Floats
    peers: Ints
    measured: Ints
    leaders: Ints
    gram: Floats
    as_row: Floats  # the same
    moment: Floats
    scratch: Floats
    found: Ints  # who is sent something, in order
    first: Ints  # the first of those who are sent the same
    moments: Floats  # what these are sent: their sums of x y, by client


def room_for(told: Told, shared: Shared) -> Room:
    """Return the working space for what clients have told and were told.

    >>> from fedbandit.kernels.linear.telling_apart import nothing_told
    >>> room_for(nothing_told(2, 3, 1.0), nothing_shared(2, 3, 1.0)).moments.shape
    (2, 3)
    """
    clients, dimension = told.moment.shape
    who, gram = np.empty((5, clients), dtype=np.int64), np.empty((dimension, dimension))
    return Room(
        grams=told.gram.reshape(clients, -1),
        copies=shared.gram.reshape(clients, -1),
        comparing=room_to_compare(clients, dimension),
        now_apart=np.empty(clients, dtype=np.bool_),
        concerned=np.empty(clients, dtype=np.bool_),
        traces=np.empty(clients),
        peers=who[0],
        measured=who[1],
        leaders=who[2],
        gram=gram,
        as_row=gram.reshape(-1),
        moment=np.empty(dimension),
        scratch=scratch_for(0, dimension),
        found=who[3],
        first=who[4],
        moments=np.empty((clients, dimension)),
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


@borrowing
def find_owed(
    told: Told, verdicts: Verdicts, shared: Shared, sender: int, margins: Floats, ridge: float, room: Room
) -> int:
    """Find, in order, those of the concerned who are owed a download after an upload; return how many.

    No copy held uploads of a stranger before, and the upload has changed verdicts on the sender alone. `margins` say by
    how much log det(G_j + ridge I) must be above that of the copy last shared; if minus infinity, any news will do. A
    determinant is computed only where it may be enough, and once for all who have the same peers.
    """
    count, times = 0, 0
    for client in range(margins.size):
        if not (room.concerned[client] and shared.met[client]):
            continue
        if client == sender:
            must_leave = holds_a_stranger(verdicts, shared, client)
        else:
            must_leave = room.now_apart[client] and has(shared.held[client], sender)
        if not must_leave:
            level = shared.log_det[client] + margins[client]
            if verdicts.most[client] < level or not has_news(told, verdicts, shared, client, sender):
                continue
            if margins[client] > -math.inf:
                same = first_with_same_peers(verdicts, client, room.measured, times)
                if same >= 0:
                    verdicts.most[client] = verdicts.most[room.measured[same]]
                else:
                    add_up_peers(room.grams, told.moment, verdicts, client, room.peers, room.as_row, room.moment)
                    verdicts.most[client] = factorise(room.gram, ridge, room.scratch[0])
                    room.measured[times] = client
                    times += 1
                if verdicts.most[client] <= level:
                    continue
        room.found[count] = client
        count += 1
    return count


@borrowing
def share(told: Told, verdicts: Verdicts, shared: Shared, number: int, ridge: float, room: Room, count: int) -> None:
    """Note that so many clients are sent what their peers have told, added up in client order.

    Clients with the same peers get the same: room.first[k] is the first client that gets what room.found[k] gets. Its
    copy is the sum of x x^T that they are sent, and its row of `room.moments` that of x y.
    """
    leaders, leading = room.leaders, 0
    for place in range(count):
        client = room.found[place]
        same = first_with_same_peers(verdicts, client, leaders, leading)
        if same < 0:
            leaders[leading], same = client, leading
            leading += 1
        leader = leaders[same]
        room.first[place] = leader
        if client == leader:
            copy, moment = room.copies[client], room.moments[client]
            add_up_peers(room.grams, told.moment, verdicts, client, room.peers, copy, moment)
            note_copy(shared, client, ridge, room.gram, room.scratch)
        else:
            copy_matrix(shared.gram[leader], shared.gram[client])
            for i in range(shared.gram.shape[1]):
                for j in range(shared.gram.shape[1]):
                    shared.inverse[i, j, client] = shared.inverse[i, j, leader]
            shared.log_det[client] = shared.log_det[leader]
        verdicts.most[client] = shared.log_det[client]
        for byte in range(verdicts.heard.size):
            shared.held[client, byte] = verdicts.heard[byte] & ~verdicts.apart[client, byte]
        shared.last_download[client] = number


@borrowing
def note_copy(shared: Shared, client: int, ridge: float, inverse: Floats, scratch: Floats) -> None:
    """Note what follows from the copy last shared with a client; log det is not a number if there is no inverse."""
    shared.log_det[client] = factorise(shared.gram[client], ridge, scratch[0])
    invert_factor(scratch[0], inverse, scratch[1])
    for i in range(inverse.shape[0]):
        for j in range(inverse.shape[0]):
            shared.inverse[i, j, client] = inverse[i, j]


@borrowing
def take_in_upload(
    told: Told, verdicts: Verdicts, shared: Shared, sender: int, new: Floats, moment: Floats, number: int, ridge: float,
    rho: float, limit: float, margins: Floats, room: Room,
) -> int:  # fmt: skip
    """Take in the upload with this number; find who is sent what, and return how many they are: see `share`."""
    before = told.log_det[sender]
    hear(told, sender, new, moment, number, ridge, rho, room.scratch)
    put(verdicts.heard, sender)
    growth = told.log_det[sender] - before
    judge(
        told, verdicts, sender, new, growth, shared.inverse, ridge, rho, limit, room.now_apart, room.concerned,
        room.traces, room.comparing,
    )  # fmt: skip
    shared.met[sender] = True
    put(shared.held[sender], sender)
    for i in range(moment.size):
        for j in range(moment.size):
            shared.gram[sender, i, j] += new[i, j]
    note_copy(shared, sender, ridge, room.gram, room.scratch)
    count = find_owed(told, verdicts, shared, sender, margins, ridge, room)
    share(told, verdicts, shared, number, ridge, room, count)
    return count
