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
from fedbandit.kernels.linear.ridge import factorise
from fedbandit.kernels.linear.snapshots import free_slot, point
from fedbandit.kernels.shared.compiled import compiled

BLOCK = 1024


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


@compiled
def set_level(contacts: Contacts, client: int, level: float) -> None:
    """Note a client's level, and the lowest of its block."""
    contacts.level[client] = level
    block = client // BLOCK
    contacts.lowest[block] = contacts.level[block * BLOCK : (block + 1) * BLOCK].min()


@compiled
def meet(contacts: Contacts, client: int, ridge: float, dimension: int, log_gamma: float) -> None:
    """Note a client's first turn: it has nothing yet, so all of V_g is owed to it."""
    set_level(contacts, client, log_gamma + dimension * math.log(ridge))


@compiled
def note_upload(
    contacts: Contacts, copies: Copies, client: int, row: int, gram: Floats, ridge: float, log_gamma: float,
    scratch: Floats,
) -> None:  # fmt: skip
    """Add a client's own upload to the copy shared with it, which from now on stands in `row`."""
    own = copies.own[row]
    slot = contacts.slot_of[client]
    if slot >= 0:
        own[:] = copies.common[slot]
        copies.users[slot] -= 1
        contacts.slot_of[client] = -1
    contacts.row_of[client] = row
    own += gram
    contacts.uploads_since[client] += 1
    set_level(contacts, client, log_gamma + factorise(own, ridge, scratch))


@compiled
def owed(contacts: Contacts, log_det: float, uploads: int) -> Ints:
    """Return, in order, the clients whose level is passed and whose download buffer is not empty."""
    found = np.empty(0, dtype=np.int64)
    for fill in range(2):  # count, then fill
        count = 0
        for block in range(contacts.lowest.size):
            if contacts.lowest[block] < log_det:
                for client in range(block * BLOCK, min((block + 1) * BLOCK, contacts.level.size)):
                    news = uploads - contacts.uploads_before[client] > contacts.uploads_since[client]
                    if contacts.level[client] < log_det and news:
                        if fill:
                            found[count] = client
                        count += 1
        if fill == 0:
            found = np.empty(count, dtype=np.int64)
    return found


@compiled
def note_download(
    contacts: Contacts, copies: Copies, clients: Ints, gram: Floats, log_det: float, uploads: int,
    log_gammas: Floats,
) -> None:  # fmt: skip
    """Note that clients were sent the server's statistics. A slot must be free."""
    slot = free_slot(copies.users)
    copies.common[slot] = gram
    point(contacts.slot_of, copies.users, clients, slot)
    for each in range(clients.size):
        client = clients[each]
        contacts.level[client] = log_gammas[client] + log_det
        contacts.uploads_before[client] = uploads
        contacts.uploads_since[client] = 0
    for each in range(clients.size):  # clients are in order: each block is renewed once
        block = clients[each] // BLOCK
        if each == 0 or clients[each - 1] // BLOCK != block:
            contacts.lowest[block] = contacts.level[block * BLOCK : (block + 1) * BLOCK].min()


@compiled
def merge(gram: Floats, moment: Floats, new_gram: Floats, new_moment: Floats, observations: Ints) -> int:
    """Add uploads to the server's statistics, one after the other; return how many had any content."""
    count = 0
    for each in range(observations.size):
        if observations[each]:
            gram += new_gram[each]
            moment += new_moment[each]
            count += 1
    return count


@compiled
def merge_and_check(
    gram: Floats, moment: Floats, contacts: Contacts, copies: Copies, sender: int, row: int, new_gram: Floats,
    new_moment: Floats, uploads: int, ridge: float, log_gammas: Floats, scratch: Floats,
) -> Ints:  # fmt: skip
    """Take in the `uploads`-th upload of all, and return who is now sent a download."""
    gram += new_gram
    moment += new_moment
    note_upload(contacts, copies, sender, row, new_gram, ridge, log_gammas[sender], scratch)
    log_det = factorise(gram, ridge, scratch)
    clients = owed(contacts, log_det, uploads)
    if clients.size:
        note_download(contacts, copies, clients, gram, log_det, uploads, log_gammas)
    return clients
