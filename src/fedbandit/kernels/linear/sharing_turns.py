"""Turns of Clustered-LinUCB with all that clients and server exchange in between, in one loop: for simulations.

What is computed is what the two sides compute who exchange messages: the same kernels, in the same order. A client's
download waits in the slot that has its number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.kernels.linear.own_rows import BY_OWN_GROWTH
from fedbandit.kernels.linear.peers import Verdicts
from fedbandit.kernels.linear.ridge_rows import RidgeRows
from fedbandit.kernels.linear.sharing import Room, Shared, take_in_upload
from fedbandit.kernels.linear.snapshots import Snapshots
from fedbandit.kernels.linear.telling_apart import Told
from fedbandit.kernels.linear.turns import DONE, FIRST, NEWCOMER, play
from fedbandit.kernels.shared.compiled import borrowing, specialised


class Served(NamedTuple):
    """The server's side: what it remembers, and how it decides."""

    told: Told
    verdicts: Verdicts
    shared: Shared
    numbers: Ints  # (2,) uploads taken in and payloads sent, so far
    ridge: float
    rho: float
    limit: float
    margins: Floats
    room: Room


class Sending(NamedTuple):
    """What clients note of what they send, and what turns have sent."""

    lost: Ints  # by row: how many things were sent since and with the last upload, none of which is kept
    known: Ints  # by row: uploads that are in what a client knows
    greets: Bools  # by client: whether it says hello after its first turn
    hellos: Ints  # what follows has one number a turn
    uploads: Ints
    downloads: Ints


@borrowing
def play_and_share(
    row_of: Ints, slot_of: Ints, rows: RidgeRows, waiting: Snapshots, scored: Any, rule: Any, smallest: int,
    thresholds: Floats, next_ask: Ints, client: Ints, arms: Floats, payoff: Floats, draws: Floats, start: int,
    choices: Ints, scratch: Floats, served: Served, sending: Sending,
) -> int:  # fmt: skip
    """Play turns from `start` on, each with what it exchanges; return the next, whose client has no row yet."""
    turn = start
    while turn < client.size:
        turn, why = play(
            row_of, slot_of, rows, waiting, scored, rule, False, smallest, thresholds, next_ask, client, arms, payoff,
            draws, turn, choices, scratch,
        )  # fmt: skip
        if why == NEWCOMER:
            break
        who = client[turn - 1]
        if why == DONE or (why == FIRST and not sending.greets[who]):
            continue
        row = row_of[who]
        if why == FIRST:
            served.shared.met[who] = True
            sending.hellos[turn - 1] += 1
        else:
            upload(rows, row, who, served, sending, slot_of, waiting, turn - 1)
        sending.lost[row] += 1
    return turn


@borrowing
def upload(
    rows: RidgeRows, row: int, who: int, served: Served, sending: Sending, slot_of: Ints, waiting: Snapshots, turn: int
) -> None:
    """Let a client upload what is new, and all who are owed it get their downloads."""
    new, moment, room = rows.new_gram[row], rows.new_moment[row], served.room
    sending.lost[row] = 0
    sending.known[row] += 1
    served.numbers[0] += 1
    count = take_in_upload(
        served.told, served.verdicts, served.shared, who, new, moment, served.numbers[0], served.ridge, served.rho,
        served.limit, served.margins, room,
    )  # fmt: skip
    for i in range(moment.size):
        moment[i] = 0.0
        for j in range(moment.size):
            new[i, j] = 0.0
    rows.growth[row] = 0.0
    rows.fresh[row] = 0
    rows.telling[row] = 0
    sending.uploads[turn] += 1
    sending.downloads[turn] += count
    for place in range(count):
        client, leader = room.found[place], room.first[place]
        served.numbers[1] += client == leader
        deliver(slot_of, waiting, served.shared, client, room.moments[leader])


@borrowing
def deliver(slot_of: Ints, waiting: Snapshots, shared: Shared, client: int, moment: Floats) -> None:
    """Let a client's download wait in its slot: what the server has noted as shared with it."""
    for i in range(moment.size):
        waiting.moment[client, i] = moment[i]
        for j in range(moment.size):
            waiting.gram[client, i, j] = shared.gram[client, i, j]
            waiting.inverse[client, i, j] = shared.inverse[i, j, client]
    waiting.log_det[client] = shared.log_det[client]
    waiting.ready[client] = True
    waiting.users[client] = 1
    slot_of[client] = client


SHARING = {
    exploration: specialised(play_and_share, f"play_and_share_{exploration}", play=kernels.play)
    for exploration, kernels in BY_OWN_GROWTH.items()
}
