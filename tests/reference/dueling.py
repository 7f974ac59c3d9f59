"""Literal transcriptions of the dueling family (dueling.md; fldb.txt, algorithms 1-4, section 3.2).

`messages` and `scalars` leave out the inner gradient exchanges, whose number depends on the solver. A caller
that knows the number of inner steps J of each turn in `exchange_turns` adds 2 N J messages and 2 N J d
scalars from that turn on.
"""

import numpy as np
from scipy.optimize import minimize, root
from scipy.special import expit

from reference.recorded import Ledger, count_clients, count_rounds, lowest_best


def theory_beta(t, clients, dimension, curvature, ridge, delta):
    """beta_t = sqrt(2 log(1/delta) + d log(1 + t N curvature / (d ridge)))."""
    inside = 1 + t * clients * curvature / (dimension * ridge)
    return np.sqrt(2 * np.log(1 / delta) + dimension * np.log(inside))


def choose_pair(arms, theta, matrix, optimism):
    """Lines 4 and 5: greedy on theta_sync; then optimistic on the difference (optimism = beta/curvature)."""
    first = lowest_best([x @ theta for x in arms])
    inverse = np.linalg.inv(matrix)
    differences = [x - arms[first] for x in arms]
    return first, lowest_best([v @ theta + optimism * np.sqrt(v @ inverse @ v) for v in differences])


def first_wins(world, turn, first, second):
    """Line 6 with the file's coin: 1 iff coin < sigmoid(f1 - f2)."""
    utility = world["utility"][turn]
    return float(world["coin"][turn] < expit(utility[first] - utility[second]))


def loss_gradient(theta, differences, wins):
    """Gradient of the sum of equation (5): sum of (sigmoid(theta.v) - y) v, with v = x1 - x2."""
    return differences.T @ (expit(differences @ theta) - wins)


def minimise_loss(differences, wins, ridge):
    """argmin of equation (1): the sum of the losses plus ridge/2 |theta|^2, from zero, to about 1e-12."""
    differences, wins = np.array(differences), np.array(wins)
    identity = np.eye(differences.shape[1])

    def objective(theta):
        z = differences @ theta
        return (np.logaddexp(0.0, z) - wins * z).sum() + ridge / 2 * theta @ theta

    def gradient(theta):
        return loss_gradient(theta, differences, wins) + ridge * theta

    def hessian(theta):
        slope = expit(differences @ theta) * expit(-(differences @ theta))
        return differences.T @ (slope[:, None] * differences) + ridge * identity

    near = minimize(objective, np.zeros(len(identity)), jac=gradient, hess=hessian, method="trust-exact", tol=1e-8)
    exact = root(gradient, near.x, jac=hessian, tol=1e-15).x
    # The objective is ridge-strongly convex: |theta - minimiser| <= |gradient| / ridge.
    assert np.linalg.norm(gradient(exact)) <= 1e-10, "the minimiser was not found"
    return exact


def shorten(step, length):
    """Projection on the ball of radius `length` around the old place: a longer step is cut to that length."""
    norm = np.linalg.norm(step)
    return step if norm <= length else step * (length / norm)


def fldb_ogd(
    world,
    *,
    ridge=None,
    curvature=0.25,
    delta=0.01,
    step_scale=1000.0,
    period=1,
    beta=None,
    average_gradient=False,
    smallest_upload=1,
):
    """Algorithms 1 and 2."""
    clients, rounds, dimension = count_clients(world), count_rounds(world), world["arms"].shape[2]
    ridge = 1 / rounds if ridge is None else ridge
    theta_sync, theta_hat = np.zeros(dimension), np.zeros(dimension)
    matrix = ridge / curvature * np.eye(dimension)
    # Section 3.2: r, with T = rounds of the run; the projection ball has radius 2 r.
    # Reading: a fixed `beta` replaces beta_t in the arm rule only, r keeps its own formula.
    inside = theory_beta(rounds, clients, dimension, curvature, ridge, delta) ** 2
    radius = np.sqrt(inside / (ridge * curvature))
    estimates = []
    new_matrix, new_gradient, window = np.zeros((clients, dimension, dimension)), np.zeros((clients, dimension)), 0
    telling = np.zeros(clients, dtype=int)
    ledger, chosen, rivals, communication_rounds = Ledger(), [], [], []
    duels, wins = [], []

    for turn, i in enumerate(world["client"]):
        t = turn // clients + 1
        beta_t = theory_beta(t, clients, dimension, curvature, ridge, delta) if beta is None else beta
        arms = world["arms"][turn]
        first, second = choose_pair(arms, theta_sync, matrix, beta_t / curvature)
        chosen.append(first)
        rivals.append(second)
        y, v = first_wins(world, turn, first, second), arms[first] - arms[second]
        new_matrix[i] += np.outer(v, v)
        telling[i] += v.any()
        if t == 1 and smallest_upload == 1:
            duels.append(v)
            wins.append(y)
        else:
            # Lines 7 and 8: the gradient at the broadcast theta_hat.
            new_gradient[i] += loss_gradient(theta_hat, v[None, :], np.array([y]))
        if turn % clients == clients - 1:
            window += t > 1
            communicate = t == 1 or t % period == 0
            # privacy.md, 1: who has too few sends zeros, and keeps them.
            large = [j for j in range(clients) if smallest_upload == 1 or telling[j] >= smallest_upload]
            if t == 1 and smallest_upload > 1:
                theta_hat = np.zeros(dimension)
            elif t == 1:
                # Round 1 ends with a communication whatever the period is; its gradients are not used again.
                theta_hat = minimise_loss(duels, wins, ridge)
            elif communicate:
                # Algorithm 2, lines 1-4, with t_c = t / period.
                if average_gradient:
                    # Reading: the window's rounds are those accumulated since the last communication
                    # (period - 1 in the first window when period > 1, because round 1 is not among them).
                    step = new_gradient[large].sum(axis=0) / window / (step_scale * t)
                else:
                    step = new_gradient[large].sum(axis=0) / (step_scale * (t / period))
                theta_hat = theta_hat - shorten(step, 2 * radius)
            if communicate:
                # Lines 5-7: the mean of all estimates so far, round 1's and one for each step.
                estimates.append(theta_hat)
                theta_sync = np.mean(estimates, axis=0)
                matrix = matrix + new_matrix[large].sum(axis=0)
                new_matrix[large], new_gradient[large], telling[large], window = 0.0, 0.0, 0, 0
                # Reading: round 1 is a communication round like the others (N up of d + d*d, N down of
                # 2 d + d*d), and its inner gradient exchanges come on top.
                ledger.up(clients, dimension + dimension**2)
                ledger.down(clients, 2 * dimension + dimension**2)
                communication_rounds.append(t)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "rival": np.array(rivals),
        **ledger.report(),
        "rounds": len(communication_rounds),
        "communication_rounds": communication_rounds,
        "exchange_turns": [clients - 1],
        "estimates": np.array(estimates),
        "theta_sync": theta_sync,
        "W_sync": matrix,
    }


def fldb_gd(world, *, ridge=None, curvature=0.25, delta=0.01, beta=None, smallest_upload=1):
    """Algorithms 3 and 4, with the minimiser of equation (1) found exactly (assumption 4.1)."""
    clients, rounds, dimension = count_clients(world), count_rounds(world), world["arms"].shape[2]
    ridge = 1 / rounds if ridge is None else ridge
    theta_sync, matrix = np.zeros(dimension), ridge / curvature * np.eye(dimension)
    kept, part = [[] for _ in range(clients)], np.zeros(clients, dtype=int)
    ledger, chosen, rivals, estimates = Ledger(), [], [], []

    for turn, i in enumerate(world["client"]):
        t = turn // clients + 1
        beta_t = theory_beta(t, clients, dimension, curvature, ridge, delta) if beta is None else beta
        arms = world["arms"][turn]
        first, second = choose_pair(arms, theta_sync, matrix, beta_t / curvature)
        chosen.append(first)
        rivals.append(second)
        v = arms[first] - arms[second]
        kept[i].append((v, first_wins(world, turn, first, second)))
        if turn % clients == clients - 1:
            # Equation (1) over all data up to this round, for the choices of the next.
            # privacy.md, 1: of each client its first m_i; all of them if at least n have come since the last part.
            for j in range(clients):
                new = kept[j][part[j] :]
                if smallest_upload == 1 or sum(v.any() for v, _ in new) >= smallest_upload:
                    part[j] = len(kept[j])
                    # Algorithm 4, lines 5-7.
                    matrix = matrix + sum(np.outer(v, v) for v, _ in new)
            told = [duel for j in range(clients) for duel in kept[j][: part[j]]]
            if told:
                theta_sync = minimise_loss(*zip(*told, strict=True), ridge)
            estimates.append(theta_sync)
            ledger.up(clients, dimension**2)
            ledger.down(clients, dimension**2)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "rival": np.array(rivals),
        **ledger.report(),
        "rounds": rounds,
        "exchange_turns": list(range(clients - 1, len(chosen), clients)),
        "estimates": np.array(estimates),
        "theta_sync": theta_sync,
        "W_sync": matrix,
    }


def ldb(world, *, ridge=None, curvature=0.25, delta=0.01, beta=None):
    """Every client alone: its own minimiser and matrix, the same arm rule, N = 1 in beta_t (lemma C.1)."""
    clients, rounds, dimension = count_clients(world), count_rounds(world), world["arms"].shape[2]
    ridge = 1 / rounds if ridge is None else ridge
    theta = np.zeros((clients, dimension))
    matrix = np.tile(ridge / curvature * np.eye(dimension), (clients, 1, 1))
    duels, wins = [[] for _ in range(clients)], [[] for _ in range(clients)]
    ledger, chosen, rivals = Ledger(), [], []

    for turn, i in enumerate(world["client"]):
        t = turn // clients + 1
        beta_t = theory_beta(t, 1, dimension, curvature, ridge, delta) if beta is None else beta
        arms = world["arms"][turn]
        first, second = choose_pair(arms, theta[i], matrix[i], beta_t / curvature)
        chosen.append(first)
        rivals.append(second)
        v = arms[first] - arms[second]
        duels[i].append(v)
        wins[i].append(first_wins(world, turn, first, second))
        matrix[i] += np.outer(v, v)
        theta[i] = minimise_loss(duels[i], wins[i], ridge)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "rival": np.array(rivals),
        **ledger.report(),
        "rounds": 0,
        "exchange_turns": [],
        "theta": theta,
        "W": matrix,
    }
