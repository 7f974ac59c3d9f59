"""The one loop in which the linear family plays turns, and the kernels of one turn that it is made of.

The loop has three slots: how a client takes in a download, how it chooses, and how it observes. What scores use is
handed through to all of them. It may be all that the client knows (Async-LinUCB), what it last downloaded, or two parts
side by side (Async-LinUCB-AM). `turn_kernels` compiles the loop for one set of ways.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.gap_weighting import choose_by_gap, observe_error
from fedbandit.kernels.linear.ridge_rows import ADD_SCORES, RidgeRows, choose, observe, take_in, take_in_apart
from fedbandit.kernels.linear.rules import IGW, PERTURBED, THOMPSON, UCB
from fedbandit.kernels.linear.snapshots import Snapshots
from fedbandit.kernels.shared.at_once import AtOnce
from fedbandit.kernels.shared.compiled import borrowing, inlined_borrowing, interpreted, specialised

DONE, NEWCOMER, FIRST, UPLOAD, ASK = 0, 1, 2, 3, 4  # why `play` came back


@inlined_borrowing
def reason(growth: float, fresh: int, telling: int, turns: int, is_timed: bool, smallest: int, threshold: float) -> int:
    """Return UPLOAD if a client's own news are worth one, FIRST if it had its first turn, else DONE.

    News of fewer observations than the smallest upload are worth none, however much they say. What is not uploaded now
    is owed nobody: the next turn is judged by what is known then.
    """
    weight = float(fresh) if is_timed else 1.0
    if telling >= smallest and weight * growth > threshold:
        return UPLOAD
    return FIRST if turns == 1 else DONE


reason_of_one = interpreted(reason)  # three comparisons: a call of machine code would take longer


@borrowing
def play(
    row_of: Ints, slot_of: Ints, rows: RidgeRows, shared: Snapshots, scored: Any, rule: Any, is_timed: bool,
    smallest: int, thresholds: Floats, next_ask: Ints, client: Ints, arms: Floats, payoff: Floats, draws: Floats,
    start: int, choices: Ints, scratch: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Play turns from `start` on until one needs attention; return the next turn and the reason.

    NEWCOMER: the client of the next turn has no row yet. ASK: it has made so many turns that it asks before the next
    (`next_ask`, by row). FIRST: a client had its first turn and uploads nothing.
    UPLOAD: the client of the last turn is due to upload. DONE: the block has ended.
    """
    for turn in range(start, client.size):
        who = client[turn]
        row = row_of[who]
        if row < 0:
            return turn, NEWCOMER
        if rows.turns[row] >= next_ask[row]:
            return turn, ASK
        slot = slot_of[who]
        if slot >= 0:
            take_in(rows, scored, row, shared, slot, rule, scratch)
            slot_of[who] = -1
            shared.users[slot] -= 1
        arm = choose(scored, row, arms[turn], draws[turn], rule, scratch)
        choices[turn] = arm
        observe(rows, scored, row, arms[turn, arm], payoff[turn, arm], rule, scratch)
        news = rows.growth[row], rows.fresh[row], rows.telling[row], rows.turns[row]
        why = reason(news[0], news[1], news[2], news[3], is_timed, smallest, thresholds[who])
        if why != DONE:
            return turn + 1, why
    return client.size, DONE


class TurnKernels(NamedTuple):
    """How a client takes in a download, chooses and observes, and how whole blocks of turns are played."""

    take_in: Callable[..., None]
    choose: Callable[..., int]
    observe: Callable[..., None]
    play: Callable[..., tuple[int, int]]


def turn_kernels(
    name: str, take_in: Callable[..., None], choose: Callable[..., int], observe: Callable[..., None]
) -> TurnKernels:
    """Return the kernels of one set of ways; the name is that of the compiled loop."""
    loop = specialised(play, f"play_{name}", take_in=take_in, choose=choose, observe=observe)
    return TurnKernels(take_in, choose, observe, loop)


def by_exploration(
    family: str, take_in: Callable[..., None], choose: Callable[..., int], observe: Callable[..., None]
) -> dict[int, TurnKernels]:
    """Return the kernels for each exploration, so that nobody compiles those of another."""
    found = {UCB: turn_kernels(f"{family}_ucb", take_in, choose, observe)}
    for exploration, name in ((THOMPSON, "thompson"), (PERTURBED, "perturbed")):
        way = specialised(choose, f"choose_{name}", add_scores=ADD_SCORES[exploration])
        found[exploration] = turn_kernels(f"{family}_{name}", take_in, way, observe)
    return found


def for_ridge(
    family: str, take_in: Callable[..., None], observe: Callable[..., None] = observe
) -> dict[int, TurnKernels]:
    """Return the kernels of plain regressions for each exploration; lots note errors when they observe."""
    ways = by_exploration(family, take_in, choose, observe)
    noting = specialised(observe_error, f"observe_error_{family}", observe=observe)
    by_lot = turn_kernels(f"{family}_igw", take_in, choose_by_gap, noting)
    by_lot = by_lot._replace(observe=observe)  # of a reward that comes later, `learn` knows what was expected
    return {**ways, UCB: _at_once(ways[UCB]), IGW: _at_once(by_lot)}


def _at_once(plain: TurnKernels) -> TurnKernels:
    """Let Python decide until machine code is ready, where it gives the same bits: without linear algebra of NumPy."""
    return TurnKernels(
        take_in=AtOnce(plain.take_in, lambda *call: 4 * call[0].moment.shape[1] ** 3),
        choose=AtOnce(plain.choose, lambda *call: call[2].size * call[2].shape[1]),
        observe=AtOnce(plain.observe, lambda *call: 5 * call[3].size ** 2),
        play=plain.play,
    )


RIDGE = for_ridge("ridge", take_in)
BY_DOWNLOAD = for_ridge("by_download", take_in_apart)
