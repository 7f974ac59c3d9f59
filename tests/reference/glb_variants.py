"""Literal transcriptions of FedGLB-UCB's variants 1 and 3, and of UCB-GLM alone and for all: see `reference.glb`."""

import numpy as np

from reference.glb import telling_of
from reference.glb_steps import (
    Setting,
    accelerated,
    lemma_9,
    loss_gradient,
    maximum_likelihood,
    newton_step,
    online_term,
    optimistic_arm,
    schedule_period,
)
from reference.recorded import Ledger, count_clients, count_rounds


def fedglb_ucb_1(world, *, rounds_of_update, alpha_scale=1.0, smallest_upload=1, **setting):
    """Algorithm 4: centre theta, A and the width of lemma 9, all frozen between updates."""
    count_rounds(world)
    setting = Setting(**setting)
    clients, dimension = count_clients(world), world["arms"].shape[2]
    period = schedule_period(world, rounds_of_update)
    start = setting.ridge / setting.low * np.eye(dimension)
    matrix = start
    theta, n_last, eps_last = np.zeros(dimension), 0, 0.0
    kept, part = [[] for _ in range(clients)], np.zeros(clients, dtype=int)
    ledger, chosen, widths, update_turns, inner_steps, models = Ledger(), [], [], [], [], []

    for turn, i in enumerate(world["client"]):
        wide = setting.alpha
        if wide is None:
            wide = alpha_scale * lemma_9(n_last, eps_last, dimension, setting)
        # Equation (16).
        arm = optimistic_arm(world["arms"][turn], theta, np.linalg.inv(matrix), wide)
        chosen.append(arm)
        widths.append(wide)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        kept[i].append((turn, x, y))
        if (turn + 1) % period == 0 and len(update_turns) < rounds_of_update:
            # Lines 12-16.
            for j in range(clients):
                if smallest_upload == 1 or telling_of(kept[j][part[j] :]) >= smallest_upload:
                    part[j] = len(kept[j])
            told = sorted((each for j in range(clients) for each in kept[j][: part[j]]), key=lambda each: each[0])
            xs, ys = np.array([x for _, x, _ in told]).reshape(-1, dimension), np.array([y for _, _, y in told])
            matrix = start + xs.T @ xs
            theta, evaluations = accelerated(theta, xs, ys, setting)
            n_last, eps_last = len(ys), setting.epsilon(len(ys))
            ledger.down(clients * evaluations, dimension)
            ledger.up(clients * evaluations, dimension)
            ledger.up(clients, dimension**2)
            ledger.down(clients, dimension**2 + dimension)  # variant 1 has no b
            update_turns.append(turn)
            inner_steps.append(evaluations)
            models.append(theta)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "widths": np.array(widths),
        **ledger.report(),
        "rounds": len(update_turns),
        "update_turns": update_turns,
        "inner_steps": inner_steps,
        "models": np.array(models).reshape(-1, dimension),
        "client_models": np.tile(theta, (clients, 1)),
        "A": np.tile(matrix, (clients, 1, 1)),
    }


def fedglb_ucb_3(world, *, rounds_of_update, alpha_scale=0.1, smallest_upload=1, **setting):
    """Algorithm 6: online Newton steps, one for all clients' batch globally; scores with V."""
    count_rounds(world)
    setting = Setting(**setting)
    clients, dimension = count_clients(world), world["arms"].shape[2]
    ridge, radius = setting.ridge, setting.radius
    period = schedule_period(world, rounds_of_update)
    # Lemma 12, with max(n_p - n_(p-1)) = floor(N T / B) throughout.
    slack = setting.high**2 * radius**2 + setting.noise_bound**2
    gamma = 0.5 * min(1 / (4 * radius * np.sqrt(slack)), setting.low / (slack * period))
    start = ridge * np.eye(dimension)
    matrix, known = np.tile(start, (clients, 1, 1)), np.tile(start, (clients, 1, 1))  # A_i, V_i
    b, theta = np.zeros((clients, dimension)), np.zeros((clients, dimension))
    z2, newton = np.zeros(clients), np.zeros(clients)
    server_matrix, server_known, server_b, server_theta = (
        start,
        start,
        np.zeros(dimension),
        np.zeros(dimension),
    )
    server_z2, server_newton = 0.0, 0.0
    kept, part = [[] for _ in range(clients)], np.zeros(clients, dtype=int)
    ledger, chosen, widths, update_turns, models = Ledger(), [], [], [], []

    for turn, i in enumerate(world["client"]):
        # Line 6.
        inverse = np.linalg.inv(known[i])
        estimate = inverse @ b[i]
        wide = setting.alpha
        if wide is None:
            # Lemma 14 with B_P of lemma 12, R^4 under the root, and + theta^T b.
            bound = newton[i] / (2 * gamma) + 2 * gamma * ridge * radius**2
            square = ridge * radius**2 + online_term(bound, clients, setting) + estimate @ b[i] - z2[i]
            wide = alpha_scale * np.sqrt(max(square, 0.0))
        arm = optimistic_arm(world["arms"][turn], estimate, inverse, wide)
        chosen.append(arm)
        widths.append(wide)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        kept[i].append((turn, x, y))
        # Lines 7 and 8.
        z = x @ theta[i]
        gradient = loss_gradient(theta[i], x[None, :], np.array([y]), setting.link)
        matrix[i] += np.outer(gradient, gradient)
        known[i] += np.outer(x, x)
        if (turn + 1) % period != 0 or len(update_turns) >= rounds_of_update:
            # Line 11.
            newton[i] += gradient @ np.linalg.inv(matrix[i]) @ gradient
            theta[i] = newton_step(theta[i], matrix[i], gradient, gamma, radius)
            b[i] += x * z
            z2[i] += z**2
        else:
            # Lines 13 and 14: everything at theta_last.
            new = []
            for j in range(clients):
                if smallest_upload == 1 or telling_of(kept[j][part[j] :]) >= smallest_upload:
                    new += kept[j][part[j] :]
                    part[j] = len(kept[j])
            xs, ys = np.array([x for _, x, _ in new]).reshape(-1, dimension), np.array([y for _, _, y in new])
            fresh = xs.T @ xs
            total = loss_gradient(server_theta, xs, ys, setting.link)
            server_matrix = server_matrix + np.outer(total, total)
            server_known = server_known + fresh
            server_b = server_b + fresh @ server_theta
            server_z2 = server_z2 + server_theta @ fresh @ server_theta
            server_newton = server_newton + total @ np.linalg.inv(server_matrix) @ total
            server_theta = newton_step(server_theta, server_matrix, total, gamma, radius)
            # Line 15.
            # Reading: the sum in B_P runs over the global updates, then over the client's own steps
            # since the last of them (its older local steps drop out, as in the paper's F_1 ... F_P).
            for j in range(clients):
                matrix[j], known[j], b[j], theta[j] = server_matrix, server_known, server_b, server_theta
                z2[j], newton[j] = server_z2, server_newton
                for _, x, y in kept[j][part[j] :]:
                    z, gradient = x @ theta[j], loss_gradient(theta[j], x[None, :], np.array([y]), setting.link)
                    matrix[j] += np.outer(gradient, gradient)
                    known[j] += np.outer(x, x)
                    newton[j] += gradient @ np.linalg.inv(matrix[j]) @ gradient
                    theta[j] = newton_step(theta[j], matrix[j], gradient, gamma, radius)
                    b[j] += x * z
                    z2[j] += z**2
            # One gradient and dV up; A, V, b, theta down.
            ledger.up(clients, dimension + dimension**2)
            ledger.down(clients, 2 * dimension**2 + 2 * dimension)
            update_turns.append(turn)
            models.append(server_theta)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "widths": np.array(widths),
        **ledger.report(),
        "rounds": len(update_turns),
        "update_turns": update_turns,
        "inner_steps": [1] * len(update_turns),
        "models": np.array(models).reshape(-1, dimension),
        "client_models": theta,
        "A": matrix,
        "V": known,
        "b": b,
        "z2": z2,
    }


def ucb_glm(world, group_of, raw_messages, alpha_scale, setting):
    """UCB-GLM in each group of clients: ridge maximum likelihood after every turn, lemma 9 with eps = 0."""
    count_rounds(world)
    clients, dimension, groups = count_clients(world), world["arms"].shape[2], max(group_of) + 1
    matrix = np.tile(setting.ridge / setting.low * np.eye(dimension), (groups, 1, 1))
    theta = np.zeros((groups, dimension))
    seen_x, seen_y = [[] for _ in range(groups)], [[] for _ in range(groups)]
    ledger, chosen, widths = Ledger(), [], []

    for turn, i in enumerate(world["client"]):
        group = group_of[i]
        wide = setting.alpha
        if wide is None:
            wide = alpha_scale * lemma_9(len(seen_y[group]), 0.0, dimension, setting)
        arm = optimistic_arm(world["arms"][turn], theta[group], np.linalg.inv(matrix[group]), wide)
        chosen.append(arm)
        widths.append(wide)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        seen_x[group].append(x)
        seen_y[group].append(y)
        matrix[group] += np.outer(x, x)
        theta[group] = maximum_likelihood(np.array(seen_x[group]), np.array(seen_y[group]), setting)
        if raw_messages:
            ledger.up(1, dimension + 1)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "widths": np.array(widths),
        **ledger.report(),
        "rounds": 0,
        "update_turns": [],
        "inner_steps": [],
        "models": np.zeros((0, dimension)),
        "client_models": np.array([theta[group_of[i]] for i in range(clients)]),
        "A": np.array([matrix[group_of[i]] for i in range(clients)]),
    }


def one_ucb_glm(world, *, alpha_scale=1.0, **setting):
    """One UCB-GLM over everyone's data; raw data travel."""
    # Reading: its communication is not specified. Booked like pooled-linucb: one message up of d + 1 scalars
    # a turn. "The client's own count of observations" is everyone's count here.
    return ucb_glm(world, [0] * count_clients(world), True, alpha_scale, Setting(**setting))


def n_ucb_glm(world, *, alpha_scale=1.0, **setting):
    """UCB-GLM alone at each client."""
    return ucb_glm(world, list(range(count_clients(world))), False, alpha_scale, Setting(**setting))
