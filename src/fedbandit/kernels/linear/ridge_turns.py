"""Whole blocks of turns of clients that keep ridge regressions: choose, observe, and play until something is due."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.ridge_rows import DONE, FULL, RidgeRows, Rule, choose, scratch_for, settle, take_turn
from fedbandit.kernels.linear.snapshots import Snapshots
from fedbandit.kernels.shared.compiled import compiled


@compiled
def choose_each(
    row_of: Ints, used: Ints, slot_of: Ints, rows: RidgeRows, shared: Snapshots, rule: Rule, who: Ints,
    arms: Floats, draws: Floats,
) -> Ints:  # fmt: skip
    """Return the choice of each client of `who`; there must be a free row for each newcomer."""
    choices = np.empty(who.size, dtype=np.int64)
    scratch = scratch_for(arms.shape[1], arms.shape[2])
    for each in range(who.size):
        row = settle(who[each], row_of, used, slot_of, rows, shared, rule, scratch)
        choices[each] = choose(rows, row, arms[each], draws[each], rule, scratch)
    return choices


@compiled
def observe_each(
    row_of: Ints, used: Ints, slot_of: Ints, rows: RidgeRows, shared: Snapshots, rule: Rule, thresholds: Floats,
    who: Ints, arms: Floats, choice: Ints, reward: Floats,
) -> Ints:  # fmt: skip
    """Add each client's observation; return why each has something to send (UPLOAD, FIRST), or DONE."""
    why = np.empty(who.size, dtype=np.int64)
    scratch = scratch_for(arms.shape[1], arms.shape[2])
    for each in range(who.size):
        row = settle(who[each], row_of, used, slot_of, rows, shared, rule, scratch)
        why[each] = take_turn(rows, row, arms[each, choice[each]], reward[each], rule, thresholds[who[each]], scratch)
    return why


@compiled
def play(
    row_of: Ints, used: Ints, slot_of: Ints, rows: RidgeRows, shared: Snapshots, rule: Rule, thresholds: Floats,
    client: Ints, arms: Floats, payoff: Floats, draws: Floats, start: int, choices: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Play turns from `start` on until one has something to send; return the next turn and the reason.

    FULL: a new client needs a row and there is none (its turn is not played). FIRST: a client had its first turn
    and uploads nothing. UPLOAD: the client of the last turn is due to upload. DONE: the block has ended.
    """
    scratch = scratch_for(arms.shape[1], arms.shape[2])
    for turn in range(start, client.size):
        who = client[turn]
        if row_of[who] < 0 and used[0] == rows.fresh.size:
            return turn, FULL
        row = settle(who, row_of, used, slot_of, rows, shared, rule, scratch)
        arm = choose(rows, row, arms[turn], draws[turn], rule, scratch)
        choices[turn] = arm
        why = take_turn(rows, row, arms[turn, arm], payoff[turn, arm], rule, thresholds[who], scratch)
        if why != DONE:
            return turn + 1, why
    return client.size, DONE
