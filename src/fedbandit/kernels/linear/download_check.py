"""The server's side of Async-LinUCB: merge an upload, then find who is owed a download.

What the server compares with is constant between two contacts with a client (V_g - dV_-j is the copy last shared
with j), so one check costs one factorisation and one comparison a client. Clients are looked at in blocks whose
lowest level is kept, so that a check of a million clients looks at a thousand numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.ridge import copy_matrix, factorise
from fedbandit.kernels.linear.snapshots import free_slot, point
from fedbandit.kernels.shared.compiled import borrowing, inlined_borrowing

BLOCK = 1024
ROUNDING = 1e-6  # far more than that of a log-determinant


class Contacts(NamedTuple):
    """What the server remembers of each client; the first axis is the client."""

    level: Floats  # log(gamma_D det(copy last shared + ridge I)); infinite until the client is met
    lowest: Floats  # the least level in each block of clients
    uploads_before: Ints  # uploads by anybody, at the last download to the client
    uploads_since: Ints  # uploads by the client itself, since then
    slot_of: Ints  # the shared copy last downloaded, if nothing was uploaded on top of it
    row_of: Ints  # else the row of a copy of its own


class Copies(NamedTuple):
    """The copies last shared with clients: common ones by slot, a client's own by row."""

    common: Floats
    users: Ints
    own: Floats


def no_contacts(clients: int) -> Contacts:
    """Return the memory of a server that has met nobody.

    >>> no_contacts(3).level
    array([inf, inf, inf])
    """
    return Contacts(
        np.full(clients, np.inf),
        np.full(-(-clients // BLOCK), np.inf),
        np.zeros(clients, dtype=np.int64),
        np.zeros(clients, dtype=np.int64),
        np.full(clients, -1, dtype=np.int64),
        np.full(clients, -1, dtype=np.int64),
    )


def set_level(contacts: Contacts, client: int, level: float) -> None:
    """Note a client's level, and the lowest of its block."""
    contacts.level[client] = level
    contacts.lowest[client // BLOCK] = lowest_of(contacts.level, client // BLOCK)


@inlined_borrowing
def end_of(block: int, clients: int) -> int:
    """Return the first client after a block."""
    return (block + 1) * BLOCK if (block + 1) * BLOCK < clients else clients


@borrowing
def lowest_of(level: Floats, block: int) -> float:
    """Return the least level in a block of clients."""
    least = math.inf
    for client in range(block * BLOCK, end_of(block, level.size)):
        if level[client] < least:
            least = level[client]
    return least


def meet(contacts: Contacts, client: int, ridge: float, dimension: int, log_gamma: float) -> None:
    """Note a client's first turn: it has nothing yet, so all of V_g is owed to it."""
    set_level(contacts, client, log_gamma + dimension * math.log(ridge))


@inlined_borrowing
def take_owed(
    level: Floats, lowest: Floats, uploads_before: Ints, uploads_since: Ints, log_gammas: Floats, log_det: float,
    uploads: int, found: Ints,
) -> int:  # fmt: skip
    """Find, in order, the clients whose level is passed and whose download buffer is not empty; return how many.

    Where the logarithm of a client's threshold is 0, any content of its buffer is enough. Their numbers are written to
    `found`, which has room for all clients. They are noted as having been sent the
    server's statistics.
    """
    count = 0
    for block in range(lowest.size):
        if lowest[block] < log_det + ROUNDING:
            before = count
            for client in range(block * BLOCK, end_of(block, level.size)):
                has_news = uploads - uploads_before[client] > uploads_since[client]
                is_met = level[client] < math.inf
                is_enough = level[client] < log_det or (is_met and log_gammas[client] == 0.0)  # whatever rounding says
                if is_enough and has_news:
                    found[count] = client
                    count += 1
                    level[client] = log_gammas[client] + log_det
                    uploads_before[client] = uploads
                    uploads_since[client] = 0
            if count > before:
                lowest[block] = lowest_of(level, block)
    return count


def merge(gram: Floats, moment: Floats, new_gram: Floats, new_moment: Floats, observations: Ints) -> None:
    """Add uploads that have any content to the server's statistics, one after the other."""
    for each in np.flatnonzero(observations):
        gram += new_gram[each]
        moment += new_moment[each]


@borrowing
def merge_and_check_arrays(
    gram: Floats, moment: Floats, level: Floats, lowest: Floats, uploads_before: Ints, uploads_since: Ints,
    slot_of: Ints, row_of: Ints, common: Floats, users: Ints, own: Floats, sender: int, row: int, new_gram: Floats,
    new_moment: Floats, uploads: int, ridge: float, log_gammas: Floats, scratch: Floats, found: Ints,
) -> int:  # fmt: skip
    """Do what `merge_and_check` says, with the arrays of contacts and copies; write to `found` and return how many."""
    shared = own[row]  # the sender's own upload is added to the copy shared with it, which from now on stands here
    if slot_of[sender] >= 0:
        copy_matrix(common[slot_of[sender]], shared)
        users[slot_of[sender]] -= 1
        slot_of[sender] = -1
    row_of[sender] = row
    uploads_since[sender] += 1
    for i in range(moment.size):
        moment[i] += new_moment[i]
        for j in range(moment.size):
            gram[i, j] += new_gram[i, j]
            shared[i, j] += new_gram[i, j]
    level[sender] = log_gammas[sender] + factorise(shared, ridge, scratch, -math.inf)
    lowest[sender // BLOCK] = lowest_of(level, sender // BLOCK)
    log_det = factorise(gram, ridge, scratch, -math.inf)
    count = take_owed(level, lowest, uploads_before, uploads_since, log_gammas, log_det, uploads, found)
    if count > 0:
        slot = 0
        while users[slot] > 0:
            slot += 1
        copy_matrix(gram, common[slot])
        point(slot_of, users, found[:count], slot)
    return count


def merge_and_check(
    gram: Floats, moment: Floats, contacts: Contacts, copies: Copies, sender: int, row: int, new_gram: Floats,
    new_moment: Floats, uploads: int, ridge: float, log_gammas: Floats,
) -> Ints:  # fmt: skip
    """Take in the `uploads`-th upload of all, and return who is now sent a download; there is a free slot for it."""
    found = np.empty(len(contacts.level), dtype=np.int64)
    count = merge_and_check_arrays(  # arrays are handed over quicker one by one than in tuples
        gram, moment, *contacts, *copies, sender, row, new_gram, new_moment, uploads, ridge, log_gammas,
        np.empty_like(gram), found,
    )  # fmt: skip
    return found[:count].copy()


def note_download(
    contacts: Contacts, copies: Copies, clients: Ints, gram: Floats, uploads: int, log_gammas: Floats, log_det: float
) -> None:
    """Note that clients are sent the server's statistics, whatever they lacked."""
    contacts.uploads_before[clients] = uploads
    contacts.uploads_since[clients] = 0
    for client in clients.tolist():
        set_level(contacts, client, log_gammas[client] + log_det)
    slot = free_slot(copies.users)
    copies.common[slot] = gram
    point(contacts.slot_of, copies.users, clients, slot)
