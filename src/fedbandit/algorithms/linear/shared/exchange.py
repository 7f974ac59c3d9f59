"""What a client remembers of its exchange with the server, beside what it knows: one row a client.

A download may cross an upload of the same client: it was made before the upload had arrived, so it does not hold it.
The client's node tells which of the last things that the client sent a download lacks (`held_uploads`). So a client
keeps its last uploads, with the number of things sent since and with them (their age), and adds what a download lacks:

    V_i := V_g + (own uploads that V_g lacks) + dV_i.

One download that lacks more uploads than are kept is of no use any more, and is dropped; the next one holds them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Bools, Floats, Ints

NEVER = 1 << 60
KEPT = 8  # uploads of a site; a cohort of many is simulated, where nothing crosses: none


class Exchange(NamedTuple):
    """The first axis is the row."""

    sent_gram: Floats  # (rows, kept, d, d) the last uploads, the newest first
    sent_moment: Floats  # (rows, kept, d)
    age: Ints  # (rows, kept) how many things were sent since and with it; NEVER or more where there is none
    lost: Ints  # the age of the newest upload that is no longer kept
    known: Ints  # uploads of all clients that are in what it knows, its own included
    next_ask: Ints  # how many turns it makes before it asks; 0: before its first
    waits: Bools  # whether something is on the way, before whose arrival it sends nothing else


def no_exchange(capacity: int, dimension: int, clients: int) -> Exchange:
    """Return rows of clients that have sent nothing and never ask.

    >>> no_exchange(capacity=1, dimension=2, clients=1).sent_gram.shape
    (1, 8, 2, 2)
    """
    kept = KEPT if clients == 1 else 0
    return Exchange(
        np.zeros((capacity, kept, dimension, dimension)),
        np.zeros((capacity, kept, dimension)),
        np.full((capacity, kept), NEVER),
        np.full(capacity, NEVER),
        np.zeros(capacity, dtype=np.int64),
        np.full(capacity, NEVER),
        np.zeros(capacity, dtype=np.bool_),
    )


def begin_exchange(exchange: Exchange, row: int, first_ask: int) -> None:
    """Prepare the row of a client that has sent nothing, and asks first when it has made so many turns."""
    exchange.age[row] = exchange.lost[row] = NEVER
    exchange.next_ask[row] = first_ask


def note_signal(exchange: Exchange, row: int) -> None:
    """Note that a client sends something that holds no sums."""
    if exchange.age.shape[1]:
        exchange.age[row] += 1
    exchange.lost[row] += 1


def note_upload(exchange: Exchange, row: int, gram: Floats, moment: Floats) -> None:
    """Keep the sums that a client uploads, where any are kept."""
    if exchange.age.shape[1]:
        _keep(exchange, row, gram, moment)
    else:
        exchange.lost[row] = 0
    note_signal(exchange, row)
    exchange.known[row] += 1


def _keep(exchange: Exchange, row: int, gram: Floats, moment: Floats) -> None:
    """Put an upload before those that are kept, of which the oldest may be lost."""
    if exchange.age[row, -1] < NEVER:
        exchange.lost[row] = exchange.age[row, -1]
    for each, newest in ((exchange.sent_gram, gram), (exchange.sent_moment, moment), (exchange.age, 0)):
        each[row, 1:] = each[row, :-1].copy()
        each[row, 0] = newest


def uploads_lacking(exchange: Exchange, row: int, lacks: int) -> list[int] | None:
    """Return the places of the kept uploads that a download lacks, where bit k of `lacks` stands for the age k + 1.

    None: it may lack others too, which are no longer kept, or it is not clear what it lacks.
    """
    lost = int(exchange.lost[row])
    if lacks < 0 or (lost < NEVER and lacks >> (lost - 1)):
        return None
    ages = enumerate(exchange.age[row].tolist())
    return [place for place, age in ages if age < NEVER and lacks >> (age - 1) & 1]
