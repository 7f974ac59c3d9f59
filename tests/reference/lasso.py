"""Literal transcriptions of the lasso family (lasso.md; fedego-lasso.txt, algorithms 1-4, definition 1.1).

M is the number of clients; rounds t count from 1. Every fit starts cold and keeps all the data it is made of.
"""

from math import copysign
from operator import mul

import numpy as np

from reference.recorded import Ledger, count_clients, count_rounds, lowest_best


def lasso(x, y, penalty, tolerance):
    """Definition 1.1: argmin |y - x beta|^2 / n + penalty |beta|_1 (no 1/2), by cyclic coordinate descent.

    Cold, in plain floats (faster than arrays at this size); stops when no coordinate of a sweep has moved by
    more than `tolerance`. Where columns are nearly dependent that is still some way from the minimiser, about
    `tolerance` times the sweeps it took: compare estimates loosely, or ask for a smaller tolerance.
    """
    x, y = np.array(x), np.array(y)
    n, dimension = x.shape
    gram, right = (x.T @ x / n).tolist(), (x.T @ y / n).tolist()
    beta = [0.0] * dimension
    for _ in range(1_000_000):
        largest_change = 0.0
        for r in range(dimension):
            if gram[r][r] == 0.0:
                continue
            # The best beta_r with the others fixed: the derivative of the square is 2 (gram beta - right)_r,
            # so the threshold is half the penalty.
            partial = right[r] - sum(map(mul, gram[r], beta)) + gram[r][r] * beta[r]
            value = copysign(max(abs(partial) - penalty / 2, 0.0), partial) / gram[r][r]
            largest_change = max(largest_change, abs(value - beta[r]))
            beta[r] = value
        if largest_change <= tolerance:
            return np.array(beta)
    raise ArithmeticError("coordinate descent does not converge")


def teamwork_stage(t, arms, unit):
    """The n with t in T_n = [(2^n - 1) K q + 1, 2^n K q], n = 0, 1, 2, ...; None in a selfish round."""
    n = 0
    while (2**n - 1) * arms * unit + 1 <= t:
        if t <= 2**n * arms * unit:
            return n
        n += 1
    return None


def ends_stage(t, arms, unit):
    """Whether round t is the last of its teamwork stage."""
    n = teamwork_stage(t, arms, unit)
    return n is not None and t == 2**n * arms * unit


def selfish_arm(context, screening, private, gap):
    """Algorithms 3 and 4."""
    # The screen (within h/2 of the best, inclusive) is exact, without the tie tolerance.
    scores = [context @ beta for beta in screening]
    kept = [k for k, score in enumerate(scores) if score >= max(scores) - gap / 2]
    return kept[lowest_best([context @ private[k] for k in kept])]


def private_level(private_penalty, t, dimension):
    """lambda_2,t = lambda_2,0 sqrt((log t + log d) / t)."""
    return private_penalty * np.sqrt((np.log(t) + np.log(dimension)) / t)


def egocentric(world, federate, *, unit, gap, forced_penalty, private_penalty, tolerance):
    """Algorithm 1; with `federate` the screening estimates are averaged, else each client has its own."""
    count_rounds(world)
    clients, dimension, arms = count_clients(world), world["context"].shape[1], world["reward"].shape[1]
    teamwork = [[([], []) for _ in range(arms)] for _ in range(clients)]  # T^(m)_k: contexts, rewards
    everything = [[([], []) for _ in range(arms)] for _ in range(clients)]  # T^(m)_k and S^(m)_k
    screening = np.zeros((clients, arms, dimension))  # an arm never played has the zero estimate
    private = np.zeros((clients, arms, dimension))
    ledger, chosen, stage_ends = Ledger(), [], []

    for turn, m in enumerate(world["client"]):
        t = turn // clients + 1
        context = world["context"][turn]
        in_teamwork = teamwork_stage(t, arms, unit) is not None
        # Algorithm 2: t mod K, whatever the context.
        arm = t % arms if in_teamwork else selfish_arm(context, screening[m], private[m], gap)
        chosen.append(arm)
        for contexts, rewards in [everything[m][arm]] + [teamwork[m][arm]] * in_teamwork:
            contexts.append(context)
            rewards.append(world["reward"][turn, arm])
        # Equation (6), after every turn, for the arm that was played only, with lambda_2,t of that turn.
        level = private_level(private_penalty, t, dimension)
        private[m, arm] = lasso(*everything[m][arm], level, tolerance)
        if turn % clients == clients - 1 and ends_stage(t, arms, unit):
            stage_ends.append(turn)
            # Equation (4), on all teamwork data so far.
            for j in range(clients):
                for k in range(arms):
                    if teamwork[j][k][1]:
                        screening[j, k] = lasso(*teamwork[j][k], forced_penalty, tolerance)
            if federate:
                # Equation (5): the server averages over clients and broadcasts.
                screening[:] = screening.mean(axis=0)
                ledger.up(clients, arms * dimension)
                ledger.down(clients, arms * dimension)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        **ledger.report(),
        "rounds": len(stage_ends) if federate else 0,
        "stage_ends": stage_ends,
        "screening": screening,
        "private": private,
    }


def fedego_lasso(world, *, unit=1, gap=5.0, forced_penalty=0.05, private_penalty=0.05, tolerance=1e-10):
    """Algorithms 1-4."""
    return egocentric(
        world,
        True,
        unit=unit,
        gap=gap,
        forced_penalty=forced_penalty,
        private_penalty=private_penalty,
        tolerance=tolerance,
    )


def lasso_bandit(world, *, unit=1, gap=5.0, forced_penalty=0.05, private_penalty=0.05, tolerance=1e-10):
    """Every client alone: the same schedule, screening by the client's own teamwork estimate."""
    return egocentric(
        world,
        False,
        unit=unit,
        gap=gap,
        forced_penalty=forced_penalty,
        private_penalty=private_penalty,
        tolerance=tolerance,
    )


def teamwork_lasso(world, *, unit=1, gap=5.0, forced_penalty=0.05, private_penalty=0.05, tolerance=1e-10):
    """Both estimates on pooled data, all arms refitted at the end of each round with that round's t."""
    count_rounds(world)
    clients, dimension, arms = count_clients(world), world["context"].shape[1], world["reward"].shape[1]
    teamwork, everything = [([], []) for _ in range(arms)], [([], []) for _ in range(arms)]
    screening, private = np.zeros((arms, dimension)), np.zeros((arms, dimension))
    ledger, chosen, stage_ends = Ledger(), [], []

    for turn in range(len(world["client"])):
        t = turn // clients + 1
        context = world["context"][turn]
        in_teamwork = teamwork_stage(t, arms, unit) is not None
        arm = t % arms if in_teamwork else selfish_arm(context, screening, private, gap)
        chosen.append(arm)
        for contexts, rewards in [everything[arm]] + [teamwork[arm]] * in_teamwork:
            contexts.append(context)
            rewards.append(world["reward"][turn, arm])
        # Reading: the raw observation is sent, and booked, on its own turn; the estimates that come back are
        # not counted ("one message of d + 1 scalars per client and turn").
        ledger.up(1, dimension + 1)
        if turn % clients == clients - 1:
            level = private_level(private_penalty, t, dimension)
            for k in range(arms):
                if everything[k][1]:
                    private[k] = lasso(*everything[k], level, tolerance)
                # Reading: the screening estimate, too, is refitted "at the end of each round"; its data
                # change in teamwork rounds only and nobody reads it before the stage's end.
                if teamwork[k][1] and in_teamwork:
                    screening[k] = lasso(*teamwork[k], forced_penalty, tolerance)
            stage_ends += [turn] * ends_stage(t, arms, unit)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        **ledger.report(),
        "rounds": 0,
        "stage_ends": stage_ends,
        "screening": screening,
        "private": private,
    }
