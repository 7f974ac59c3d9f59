"""Whole blocks of turns of clients that alternate: choose, observe, and play until something is due."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.alternation_rows import AlternatingRule, Beside, choose, settle, take_turn
from fedbandit.kernels.linear.ridge_rows import DONE, FULL, RidgeRows, scratch_for
from fedbandit.kernels.linear.snapshots import Snapshots
from fedbandit.kernels.shared.compiled import compiled


@compiled
def choose_each(
    row_of: Ints, used: Ints, slot_of: Ints, rows: RidgeRows, shared: Snapshots, beside: Beside, rule: AlternatingRule,
    who: Ints, arms: Floats, draws: Floats,
) -> Ints:  # fmt: skip
    """Return the choice of each client of `who`; there must be a free row for each newcomer."""
    choices = np.empty(who.size, dtype=np.int64)
    scratch = scratch_for(arms.shape[1], arms.shape[2])
    for each in range(who.size):
        row = settle(who[each], row_of, used, slot_of, rows, shared, beside, rule, scratch)
        choices[each] = choose(rows, beside, row, arms[each], draws[each], rule, scratch)
    return choices


@compiled
def observe_each(
    row_of: Ints, used: Ints, slot_of: Ints, rows: RidgeRows, shared: Snapshots, beside: Beside, rule: AlternatingRule,
    thresholds: Floats, who: Ints, arms: Floats, choice: Ints, reward: Floats,
) -> Ints:  # fmt: skip
    """Add each client's observation; return why each has something to send (UPLOAD, FIRST), or DONE."""
    why = np.empty(who.size, dtype=np.int64)
    scratch = scratch_for(arms.shape[1], arms.shape[2])
    for each in range(who.size):
        row = settle(who[each], row_of, used, slot_of, rows, shared, beside, rule, scratch)
        arm = arms[each, choice[each]]
        why[each] = take_turn(rows, beside, row, arm, reward[each], rule, thresholds[who[each]], scratch)
    return why


@compiled
def play(
    row_of: Ints, used: Ints, slot_of: Ints, rows: RidgeRows, shared: Snapshots, beside: Beside, rule: AlternatingRule,
    thresholds: Floats, client: Ints, arms: Floats, payoff: Floats, draws: Floats, start: int, choices: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Play turns from `start` on until one has something to send; return the next turn and the reason.

    The reasons are those of `fedbandit.kernels.linear.ridge_turns.play`.
    """
    scratch = scratch_for(arms.shape[1], arms.shape[2])
    for turn in range(start, client.size):
        who = client[turn]
        if row_of[who] < 0 and used[0] == rows.fresh.size:
            return turn, FULL
        row = settle(who, row_of, used, slot_of, rows, shared, beside, rule, scratch)
        arm = choose(rows, beside, row, arms[turn], draws[turn], rule, scratch)
        choices[turn] = arm
        why = take_turn(rows, beside, row, arms[turn, arm], payoff[turn, arm], rule, thresholds[who], scratch)
        if why != DONE:
            return turn + 1, why
    return client.size, DONE
