"""Literal transcriptions of the linear family (linear.md; async-linucb.txt, algorithms 1, 2 and 4).

V_i, b_i are what client i knows, dV_i, db_i its own part not uploaded yet; V_g, b_g are the server's;
dV_-j, db_-j what the server has not sent to j. Every matrix is inverted and every determinant taken afresh.
"""

import numpy as np

from reference.recorded import Ledger, count_clients, lowest_best


def log_determinant(matrix, ridge):
    """log det(matrix + ridge I): all determinants are of the matrix plus ridge I."""
    return np.linalg.slogdet(matrix + ridge * np.eye(len(matrix)))[1]


def passes(growth, threshold):
    """log ratio > log gamma + 1e-9 where gamma > 1; where gamma = 1, whatever there is is enough."""
    return threshold == 1 or growth > np.log(threshold) + 1e-9


def width(matrix, ridge, noise, delta):
    """Equation (5): noise * sqrt(log det(V + ridge I) - d log ridge + 2 log(1/delta)) + sqrt(ridge)."""
    growth = log_determinant(matrix, ridge) - len(matrix) * np.log(ridge)
    return noise * np.sqrt(growth + 2 * np.log(1 / delta)) + np.sqrt(ridge)


def choose(arms, matrix, vector, *, ridge, noise, delta, alpha, exploration, draw):
    """The arm of one turn by V = matrix, b = vector."""
    inverse = np.linalg.inv(matrix + ridge * np.eye(len(matrix)))
    estimate = inverse @ vector
    if alpha is None:
        alpha = width(matrix, ridge, noise, delta)
    if exploration == "ucb":
        # Equation (5): x.theta_hat + alpha |x| in the norm of (V + ridge I)^-1.
        return lowest_best([x @ estimate + alpha * np.sqrt(x @ inverse @ x) for x in arms])
    if exploration == "thompson":
        # theta ~ N(theta_hat, alpha^2 (V + ridge I)^-1); L L^T = (V + ridge I)^-1, L lower triangular.
        theta = estimate + alpha * np.linalg.cholesky(inverse) @ draw
    elif exploration == "perturbed":
        # theta = (V + ridge I)^-1 (b + alpha V^(1/2) xi), with the symmetric square root.
        values, vectors = np.linalg.eigh(matrix)
        root = vectors @ np.diag(np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        theta = inverse @ (vector + alpha * root @ draw)
    else:
        raise ValueError(f"unknown exploration {exploration!r}")
    return lowest_best([x @ theta for x in arms])


def async_linucb(
    world,
    *,
    ridge=0.1,
    noise=0.1,
    delta=0.1,
    upload_threshold=2.0,
    download_threshold=2.0,
    alpha=None,
    exploration="ucb",
    draws=None,
    smallest_upload=1,
):
    """Algorithms 1 and 2. Thresholds: one number, or one for each client (appendix E)."""
    clients, dimension = count_clients(world), world["arms"].shape[2]
    upload_threshold = np.broadcast_to(np.asarray(upload_threshold, dtype=float), clients)
    download_threshold = np.broadcast_to(np.asarray(download_threshold, dtype=float), clients)
    known_v, known_b = np.zeros((clients, dimension, dimension)), np.zeros((clients, dimension))
    own_v, own_b = np.zeros_like(known_v), np.zeros_like(known_b)
    unsent_v, unsent_b = np.zeros_like(known_v), np.zeros_like(known_b)
    telling = np.zeros(clients, dtype=int)
    server_v, server_b = np.zeros((dimension, dimension)), np.zeros(dimension)
    met = [False] * clients
    ledger, chosen = Ledger(), []
    payload = dimension * dimension + dimension

    for turn, i in enumerate(world["client"]):
        if not met[i]:
            # Algorithm 2, lines 5-7: the client starts empty-handed, its download buffer is all of V_g, b_g.
            met[i] = True
            unsent_v[i], unsent_b[i] = server_v, server_b
        # Line 8.
        arm = choose(
            world["arms"][turn],
            known_v[i],
            known_b[i],
            ridge=ridge,
            noise=noise,
            delta=delta,
            alpha=alpha,
            exploration=exploration,
            draw=None if draws is None else draws[turn],
        )
        chosen.append(arm)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        # Line 9.
        known_v[i] += np.outer(x, x)
        known_b[i] += x * y
        own_v[i] += np.outer(x, x)
        own_b[i] += x * y
        telling[i] += x.any()
        # Algorithm 1, line 2, equation (3): strictly greater, determinants compared by their logarithms.
        growth = log_determinant(known_v[i], ridge) - log_determinant(known_v[i] - own_v[i], ridge)
        # privacy.md, 1: upload iff n_i >= n and the trigger holds.
        if own_v[i].any() and telling[i] >= smallest_upload and passes(growth, upload_threshold[i]):
            # Lines 3-5.
            ledger.up(1, payload)
            server_v += own_v[i]
            server_b += own_b[i]
            for j in range(clients):
                if met[j] and j != i:
                    unsent_v[j] += own_v[i]
                    unsent_b[j] += own_b[i]
            own_v[i], own_b[i], telling[i] = 0.0, 0.0, 0
            # Lines 6-10, equation (4): every client met, the sender included, in client order.
            now = log_determinant(server_v, ridge)
            for j in range(clients):
                # A client whose download buffer is empty never gets a download.
                if not met[j] or not unsent_v[j].any():
                    continue
                if passes(now - log_determinant(server_v - unsent_v[j], ridge), download_threshold[j]):
                    ledger.down(1, payload)
                    known_v[j] += unsent_v[j]
                    known_b[j] += unsent_b[j]
                    unsent_v[j], unsent_b[j] = 0.0, 0.0
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        **ledger.report(),
        "V_g": server_v,
        "b_g": server_b,
        "V": known_v,
        "b": known_b,
        "dV": own_v,
        "db": own_b,
        "unsent_V": unsent_v,
        "unsent_b": unsent_b,
    }


def sync_linucb(
    world,
    *,
    ridge=0.1,
    noise=0.1,
    delta=0.1,
    sync_threshold=1.0,
    alpha=None,
    exploration="ucb",
    draws=None,
    smallest_upload=1,
    roster="all",
):
    """Algorithm 4 (DisLinUCB); the roster is all N clients of the file, or those that have had a turn."""
    clients, dimension = count_clients(world), world["arms"].shape[2]
    known_v, known_b = np.zeros((clients, dimension, dimension)), np.zeros((clients, dimension))
    own_v, own_b = np.zeros_like(known_v), np.zeros_like(known_b)
    server_v, server_b = np.zeros((dimension, dimension)), np.zeros(dimension)
    since, telling = np.zeros(clients, dtype=int), np.zeros(clients, dtype=int)
    ledger, chosen, sync_turns, merged = Ledger(), [], [], []
    payload = dimension * dimension + dimension

    met = np.full(clients, roster == "all")
    for turn, i in enumerate(world["client"]):
        met[i] = True
        arm = choose(
            world["arms"][turn],
            known_v[i],
            known_b[i],
            ridge=ridge,
            noise=noise,
            delta=delta,
            alpha=alpha,
            exploration=exploration,
            draw=None if draws is None else draws[turn],
        )
        chosen.append(arm)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        # Line 8.
        known_v[i] += np.outer(x, x)
        known_b[i] += x * y
        own_v[i] += np.outer(x, x)
        own_b[i] += x * y
        since[i] += 1
        telling[i] += x.any()
        # dt_i log(det(V_i + ridge I) / det(V_i - dV_i + ridge I)) > D.
        growth = log_determinant(known_v[i], ridge) - log_determinant(known_v[i] - own_v[i], ridge)
        is_large = smallest_upload == 1 or telling[i] >= smallest_upload
        if is_large and since[i] * growth > sync_threshold + (1e-9 if sync_threshold > 0 else 0.0):
            sync_turns.append(turn)
            for j in np.flatnonzero(met):
                # privacy.md, 1: a called site with n_i < n answers at once with nothing, and keeps dV_i, db_i.
                ledger.up(1, payload)
                if smallest_upload == 1 or telling[j] >= smallest_upload:
                    merged.append(telling[j])
                    server_v += own_v[j]
                    server_b += own_b[j]
                    own_v[j], own_b[j], since[j], telling[j] = 0.0, 0.0, 0, 0
            for j in np.flatnonzero(met):
                ledger.down(1, payload)
                known_v[j], known_b[j] = server_v + own_v[j], server_b + own_b[j]
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        **ledger.report(),
        "rounds": len(sync_turns),
        "sync_turns": sync_turns,
        "merged": merged,
        "V_g": server_v,
        "b_g": server_b,
        "V": known_v,
        "b": known_b,
        "dV": own_v,
        "db": own_b,
    }
