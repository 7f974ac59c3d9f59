"""Literal transcriptions of the generalised linear family (glb.md; fedglb-ucb.txt, algorithms 1-6).

Clients act in rounds; t counts rounds, n counts observations of all clients. Every matrix is inverted and
every determinant taken afresh; all observations are kept and the global objective is summed over all of them.

Every algorithm takes the fields of `Setting` by name, beside its own arguments. It returns `arm`, `widths`
(the alpha of each turn, scaled), `messages` and `scalars` (cumulative by turn), `uploads` and `downloads`
(messages up and down in all), `rounds` (global updates), `update_turns` (turns, from 0, on which they
happened), `inner_steps` (gradient evaluations of each), `models` (the global model after each),
`client_models` (theta_i at the end) and the statistics at the end.
"""

import numpy as np

from reference.glb_steps import (
    Setting,
    accelerated,
    lemma_2,
    loss_gradient,
    newton_step,
    optimistic_arm,
    schedule_period,
)
from reference.recorded import Ledger, count_clients, count_rounds


def offline_and_online(world, due, alpha_scale, setting, smallest_upload=1):
    """Algorithms 1 and 5, which differ only in when an update is `due`."""
    count_rounds(world)
    clients, dimension, ridge, low = count_clients(world), world["arms"].shape[2], setting.ridge, setting.low
    start = ridge / low * np.eye(dimension)
    matrix, new = np.tile(start, (clients, 1, 1)), np.zeros((clients, dimension, dimension))  # A_i, dA_i
    b, theta = np.zeros((clients, dimension)), np.zeros((clients, dimension))
    z2, newton = np.zeros(clients), np.zeros(clients)
    server_matrix, server_b, server_theta, server_z2 = start, np.zeros(dimension), np.zeros(dimension), 0.0
    t_last, n_last, eps_last = 0, 0, 0.0
    kept, part = [[] for _ in range(clients)], np.zeros(clients, dtype=int)  # m_i: observations in the last update
    ledger, chosen, widths, update_turns, inner_steps, models = Ledger(), [], [], [], [], []

    def step(i, x, y):
        """Line 9: b takes the prediction of the model before its step."""
        gradient = loss_gradient(theta[i], x[None, :], np.array([y]), setting.link)
        newton[i] += gradient @ np.linalg.inv(matrix[i]) @ gradient
        z = x @ theta[i]
        b[i] += x * z
        z2[i] += z**2
        theta[i] = newton_step(theta[i], matrix[i], gradient, low, setting.radius)

    for turn, i in enumerate(world["client"]):
        t = turn // clients + 1
        # Line 6, equation (5), around the ridge centre A^-1 b of the predictions.
        inverse = np.linalg.inv(matrix[i])
        estimate = inverse @ b[i]
        wide = setting.alpha
        if wide is None:
            gram = server_matrix - start
            last = (n_last, eps_last, server_theta, gram)
            wide = alpha_scale * lemma_2(*last, newton[i], z2[i], estimate, b[i], clients, setting)
        arm = optimistic_arm(world["arms"][turn], estimate, inverse, wide)
        chosen.append(arm)
        widths.append(wide)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        kept[i].append((turn, x, y))
        # Line 7.
        matrix[i] += np.outer(x, x)
        new[i] += np.outer(x, x)
        growth = np.linalg.slogdet(matrix[i])[1] - np.linalg.slogdet(matrix[i] - new[i])[1]
        is_large = smallest_upload == 1 or telling_of(kept[i][part[i] :]) >= smallest_upload
        if not due(turn, (t - t_last) * growth, len(update_turns), is_large):
            step(i, x, y)
        else:
            # Lines 11-14: the turn that triggers does no Newton step.
            # privacy.md, 1: m_i is the number of the last part or, if at least n have come since, all.
            first = part.copy()
            for j in range(clients):
                if smallest_upload == 1 or telling_of(kept[j][part[j] :]) >= smallest_upload:
                    part[j] = len(kept[j])
            fresh = sum((np.outer(x, x) for j in range(clients) for _, x, _ in kept[j][first[j] : part[j]]), 0 * start)
            server_matrix = server_matrix + fresh
            told = sorted((each for j in range(clients) for each in kept[j][: part[j]]), key=lambda each: each[0])
            xs, ys = np.array([x for _, x, _ in told]).reshape(-1, dimension), np.array([y for _, _, y in told])
            server_theta, evaluations = accelerated(server_theta, xs, ys, setting)
            server_b = server_b + fresh @ server_theta
            server_z2 = server_z2 + server_theta @ fresh @ server_theta
            t_last, n_last, eps_last = t, len(ys), setting.epsilon(len(ys))
            for j in range(clients):
                matrix[j], b[j], theta[j], z2[j] = server_matrix, server_b, server_theta, server_z2
                new[j], newton[j] = 0.0, 0.0
                # What the update does not speak of is stepped through anew.
                for _, x, y in kept[j][part[j] :]:
                    matrix[j] += np.outer(x, x)
                    new[j] += np.outer(x, x)
                    step(j, x, y)
            # Each inner iteration: theta down, gradient up; then dA up, and A, b, theta down.
            ledger.down(clients * evaluations, dimension)
            ledger.up(clients * evaluations, dimension)
            ledger.up(clients, dimension**2)
            ledger.down(clients, dimension**2 + 2 * dimension)
            update_turns.append(turn)
            inner_steps.append(evaluations)
            models.append(server_theta)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "widths": np.array(widths),
        **ledger.report(),
        "rounds": len(update_turns),
        "update_turns": update_turns,
        "inner_steps": inner_steps,
        "models": np.array(models).reshape(-1, dimension),
        "client_models": theta,
        "A": matrix,
        "b": b,
        "z2": z2,
    }


def telling_of(observations):
    """How many of some observations are of an arm that is not zero."""
    return sum(x.any() for _, x, _ in observations)


def fedglb_ucb(world, *, sync_threshold, alpha_scale=0.1, smallest_upload=1, **setting):
    """Algorithm 1: an update when (t - t_last) log(det A_i / det(A_i - dA_i)) > D, strictly."""

    def due(turn, event, updates, is_large):
        return is_large and event > sync_threshold

    return offline_and_online(world, due, alpha_scale, Setting(**setting), smallest_upload)


def n_ons_glm(world, *, alpha_scale=0.1, **setting):
    """FedGLB-UCB with D infinite."""
    # Reading: "is fedglb-ucb with D infinite" keeps N, the clients of the file, in the width's log(N/delta).
    return fedglb_ucb(world, sync_threshold=np.inf, alpha_scale=alpha_scale, **setting)


def fedglb_ucb_2(world, *, rounds_of_update, alpha_scale=0.1, smallest_upload=1, **setting):
    """Algorithm 5: Algorithm 1 on a schedule, in mid-round where it falls so."""
    period = schedule_period(world, rounds_of_update)

    def due(turn, event, updates, is_large):
        return (turn + 1) % period == 0 and updates < rounds_of_update

    return offline_and_online(world, due, alpha_scale, Setting(**setting), smallest_upload)
