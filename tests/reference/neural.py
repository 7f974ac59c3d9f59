"""Literal transcriptions of the neural family (neural.md; fn-ucb.txt, algorithms 1 and 2, appendices B, E and F).

Everything is in all p_0 coordinates and in double precision: contexts are doubled as they are written, every matrix is
inverted and every determinant taken afresh, gradients go through the network one context at a time. theta_0 is an
argument: which numbers are drawn is not the paper's business.
"""

import numpy as np

from reference.networks import NETWORKS, norm, rescaled, train
from reference.recorded import Ledger, count_clients, count_rounds, lowest_best


def weight_at(weight, t, alpha):
    if weight == "theory":
        return alpha
    if isinstance(weight, str):
        return min(1.0, t / int(weight.removeprefix("ramp:")))
    return weight


def fn_ucb(
    world,
    theta_0,
    *,
    all_inverses,
    width=20,
    depth=1,
    ridge=0.1,
    nu_pooled=0.1,
    nu_local=0.1,
    sync_threshold=0.0,
    diagonal=False,
    weight="ramp:700",
    aggregate=True,
    train_steps=30,
    train_rate=0.01,
    rate_bound="lengths",
    train_until=2000,
    warm_start=True,
    train_from="own",
    initialisation="symmetric",
    scale_features=True,
    regulariser="anchor",
    smallest_upload=1,
):
    """Algorithms 1 and 2; `all_inverses` false is FN-UCB (Less Comm.), section 3.4."""
    clients, rounds = count_clients(world), count_rounds(world)
    network = NETWORKS[initialisation](world["arms"].shape[2], width, depth)
    p = len(theta_0)
    shape = (p,) if diagonal else (p, p)
    identity = np.ones(p) if diagonal else np.eye(p)

    def feature(x):
        gradient = network.value_and_gradient(x, theta_0)[1]
        return gradient / np.sqrt(width) if scale_features else gradient

    def square(phi):
        return phi**2 if diagonal else np.outer(phi, phi)

    def inverse(matrix):
        return 1 / matrix if diagonal else np.linalg.inv(matrix)

    def times(matrix, vector):
        return matrix * vector if diagonal else matrix @ vector

    def log_determinant(matrix):
        """Appendix E: of the diagonal alone."""
        return np.log(matrix if diagonal else np.diag(matrix)).sum()

    # Line 1.
    w_sync, b_sync = np.zeros(shape), np.zeros(p)
    w_new, b_new = [np.zeros(shape) for _ in range(clients)], [np.zeros(p) for _ in range(clients)]
    v_local = [ridge * identity for _ in range(clients)]
    v_last, t_last, alpha = ridge * identity, 0, 0.0
    sent = [identity / ridge]
    own = [theta_0.copy() for _ in range(clients)]
    theta_sync, communicated = theta_0.copy(), False
    history = [[] for _ in range(clients)]
    telling = np.zeros(clients, dtype=int)
    told = [theta_0.copy() for _ in range(clients)]
    told_inverse, told_ratio = [identity / ridge] * clients, [None] * clients
    ledger, chosen, communications = Ledger(), np.zeros(len(world["client"]), dtype=int), 0
    alphas = []

    for t in range(1, rounds + 1):
        now = range((t - 1) * clients, t * clients)
        offers = {}
        calls = False
        for turn in now:
            i = world["client"][turn]
            phis = [feature(x) for x in world["arms"][turn]]
            offers[i] = phis
            # Lines 4 and 5.
            v_bar = ridge * identity + w_sync + w_new[i]
            v_bar_inverse = inverse(v_bar)
            theta_bar = times(v_bar_inverse, b_sync + b_new[i])
            first = [phi @ theta_bar for phi in phis]
            if diagonal:
                first = rescaled(first)
            ucb_a = [
                mean + nu_pooled * np.sqrt(ridge) * norm(phi, v_bar_inverse)
                for mean, phi in zip(first, phis, strict=True)
            ]
            # Line 6: before the first communication f = 0 and the inverse is I / ridge.
            theta = theta_sync if aggregate else own[i]
            ucb_b = [
                (network.value_and_gradient(x, theta)[0] if communicated else 0.0)
                + nu_local * np.sqrt(ridge) * np.mean([norm(phi, each) for each in sent])
                for x, phi in zip(world["arms"][turn], phis, strict=True)
            ]
            # Line 7.
            a = weight_at(weight, t, alpha)
            arm = lowest_best([(1 - a) * one + a * other for one, other in zip(ucb_a, ucb_b, strict=True)])
            chosen[turn] = arm
            # Lines 8 to 10.
            phi, y = phis[arm], world["reward"][turn, arm]
            history[i].append((world["arms"][turn, arm], y))
            w_new[i] = w_new[i] + square(phi)
            b_new[i] = b_new[i] + y * phi
            v_local[i] = v_local[i] + square(phi)
            # Line 11.
            growth = log_determinant(ridge * identity + w_sync + w_new[i]) - log_determinant(v_last)
            telling[i] += world["arms"][turn, arm].any()
            is_large = smallest_upload == 1 or telling[i] >= smallest_upload
            calls = calls or (is_large and (sync_threshold == 0 or (t - t_last) * growth > sync_threshold))
        if calls:
            communications += 1
            # privacy.md, 1: a called site with n_i < n answers with nothing: of what is no sum, what it told last.
            large = [i for i in range(clients) if smallest_upload == 1 or telling[i] >= smallest_upload]
            begin = own if train_from == "own" else [theta_sync] * clients
            for i in large:
                # Line 14; the networks are trained no more after round train_until.
                if t <= train_until:
                    own[i] = train(
                        network,
                        begin[i] if warm_start else theta_0,
                        theta_0,
                        history[i],
                        ridge=ridge,
                        train_steps=train_steps,
                        train_rate=train_rate,
                        regulariser=regulariser,
                        rate_bound=rate_bound,
                    )
                # Line 15: over that round's arms (appendix F).
                told[i], told_inverse[i] = own[i], inverse(v_local[i])
                sigma = [np.sqrt(ridge) * norm(phi, told_inverse[i]) for phi in offers[i]]
                told_ratio[i] = min(sigma) / max(sigma) if max(sigma) > 0 else 0.0  # no unit is active
                w_sync, b_sync = w_sync + w_new[i], b_sync + b_new[i]
                w_new[i], b_new[i], telling[i] = np.zeros(shape), np.zeros(p), 0
            # Algorithm 2, lines 4 to 6.
            theta_sync = np.mean(told, axis=0)
            alpha = min(alpha if each is None else each for each in told_ratio)
            alphas.append(alpha)
            sent = list(told_inverse) if all_inverses else [np.mean(told_inverse, axis=0)]
            # Lines 16 and 17, counted as in section 3.4.
            matrix = w_sync.size
            ledger.up(clients, matrix + p + p + 1 + matrix)
            ledger.down(clients, matrix + p + p + 1 + len(sent) * matrix)
            # Line 18.
            v_last, t_last = w_sync + ridge * identity, t
            communicated = True
        for _ in now[:-1]:
            ledger.messages_by_turn.append(ledger.messages_by_turn[-1] if ledger.messages_by_turn else 0)
            ledger.scalars_by_turn.append(ledger.scalars_by_turn[-1] if ledger.scalars_by_turn else 0)
        ledger.end_turn()

    return {
        "arm": chosen,
        **ledger.report(),
        "rounds": communications,
        "W_sync": w_sync,
        "B_sync": b_sync,
        "theta_sync": theta_sync,
        "theta": np.array(own),
        "V_local": np.array(v_local),
        "sent": np.array(sent),
        "alpha": np.array(alphas),
    }


def neural(
    world,
    theta_0,
    *,
    draws=None,
    width=20,
    depth=1,
    ridge=0.1,
    nu_local=0.1,
    diagonal=False,
    train_steps=30,
    train_rate=0.01,
    rate_bound="lengths",
    train_until=2000,
    warm_start=True,
    initialisation="symmetric",
    scale_features=True,
    regulariser="anchor",
):
    """NeuralUCB, or with `draws` (one normal for each turn and arm) NeuralTS; every client alone."""
    clients = count_clients(world)
    network = NETWORKS[initialisation](world["arms"].shape[2], width, depth)
    p = len(theta_0)
    matrix = [ridge * np.eye(p) for _ in range(clients)]
    own, history = [theta_0.copy() for _ in range(clients)], [[] for _ in range(clients)]
    chosen = []
    for turn, i in enumerate(world["client"]):
        scale = np.sqrt(width) if scale_features else 1.0
        phis = [network.value_and_gradient(x, theta_0)[1] / scale for x in world["arms"][turn]]
        inverse = np.diag(1 / np.diag(matrix[i])) if diagonal else np.linalg.inv(matrix[i])
        scores = []
        for arm, (x, phi) in enumerate(zip(world["arms"][turn], phis, strict=True)):
            mean = network.value_and_gradient(x, own[i])[0] if history[i] else 0.0
            spread = nu_local * np.sqrt(ridge) * norm(phi, inverse)
            scores.append(mean + spread * (1.0 if draws is None else draws[turn, arm]))
        arm = lowest_best(scores)
        chosen.append(arm)
        matrix[i] = matrix[i] + np.outer(phis[arm], phis[arm])
        history[i].append((world["arms"][turn, arm], world["reward"][turn, arm]))
        if len(history[i]) <= train_until:
            own[i] = train(
                network,
                own[i] if warm_start else theta_0,
                theta_0,
                history[i],
                ridge=ridge,
                train_steps=train_steps,
                train_rate=train_rate,
                regulariser=regulariser,
                rate_bound=rate_bound,
            )
    return {"arm": np.array(chosen), "theta": np.array(own), "V_local": np.array(matrix)}
