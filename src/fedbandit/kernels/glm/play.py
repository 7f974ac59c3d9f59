"""Turns of many generalised linear bandits: some at once, or whole blocks of turns in one loop."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.kernels.glm.kept_data import Kept, is_full, recall
from fedbandit.kernels.glm.links import mean
from fedbandit.kernels.glm.rows import FROZEN, GlmRows, Rule, choose, learn, newton_step, scratch_for, see
from fedbandit.kernels.linear.ridge import dot
from fedbandit.kernels.shared.compiled import compiled

DONE, FULL, DUE = 0, 1, 2  # why `play` came back


@compiled
def choose_each(rows: GlmRows, who: Ints, arms: Floats, rule: Rule) -> Ints:
    """Return the choice of each client of `who`."""
    choices = np.empty(who.size, dtype=np.int64)
    scratch = scratch_for(arms.shape[1], arms.shape[2])
    for each in range(who.size):
        choices[each] = choose(rows, who[each], arms[each], rule, scratch)
    return choices


@compiled
def learn_each(
    rows: GlmRows, kept: Kept, turns: Ints, rule: Rule, who: Ints, arms: Floats, choice: Ints, reward: Floats
) -> Bools:
    """Take in each client's observation; return which of them call for an update."""
    due = np.empty(who.size, dtype=np.bool_)
    scratch = scratch_for(arms.shape[1], arms.shape[2])
    for each in range(who.size):
        arm = arms[each, choice[each]]
        due[each] = learn(rows, kept, turns, who[each], arm, reward[each], rule, scratch)
    return due


@compiled
def catch_up(rows: GlmRows, kept: Kept, who: Ints, start: Ints, rule: Rule) -> None:
    """Let clients step anew through the observations from `start` on that a global update did not speak of."""
    if rule.local == FROZEN:
        return
    arm = np.empty(rows.model.shape[1])
    scratch = scratch_for(1, arm.size)
    for each in range(who.size):
        client = who[each]
        for place in range(start[client], kept.length[client]):
            reward = recall(kept, client, place, arm)
            margin = dot(arm, rows.model[client])
            residual = mean(rule.link, margin) - reward
            see(rows, client, arm, residual, rule, scratch)
            newton_step(rows, client, arm, margin, residual, rule, scratch)


@compiled
def play(
    rows: GlmRows, kept: Kept, turns: Ints, rule: Rule, client: Ints, arms: Floats, payoff: Floats, start: int,
    choices: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Play turns from `start` on until one calls for an update; return the next turn and the reason.

    FULL: there is no room for the observation of the next turn (it is not played). DUE: the client of the last turn
    calls for a global update. DONE: the block has ended.
    """
    scratch = scratch_for(arms.shape[1], arms.shape[2])
    for turn in range(start, client.size):
        who = client[turn]
        if is_full(kept, who):
            return turn, FULL
        arm = choose(rows, who, arms[turn], rule, scratch)
        choices[turn] = arm
        if learn(rows, kept, turns, who, arms[turn, arm], payoff[turn, arm], rule, scratch):
            return turn + 1, DUE
    return client.size, DONE
