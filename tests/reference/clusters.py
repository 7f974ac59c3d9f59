"""A literal transcription of Clustered-LinUCB (clusters.md).

V_i, b_i, dV_i, db_i are as in `reference.linear`; O_i is the sum over i's own observations. The server has S_k, s_k and
u_k of each client, a verdict for each pair, and of each client it has met C_j and H_j. Every sum over peers is taken
afresh, every pair is tested in full, every matrix is inverted and every determinant taken.
"""

import numpy as np
from scipy.stats import chi2

from reference import linear
from reference.linear import log_determinant
from reference.recorded import Ledger, count_clients


def grouped_turns(seed, turns, clients, arms, dimension, groups, skew=0.0, noise=0.1, liars=0):
    """Clients in groups, each with a theta of its own; unit arms; the first `liars` clients report -10 sign(y)."""
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal((groups, dimension))
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    weights = 1.0 / (1.0 + np.arange(clients)) ** skew
    others = rng.choice(clients, size=turns - clients, p=weights / weights.sum())
    client = rng.permutation(np.concatenate([np.arange(clients), others]))
    features = rng.standard_normal((turns, arms, dimension))
    features /= np.linalg.norm(features, axis=-1, keepdims=True)
    group = rng.permutation(clients) % groups
    mean = np.einsum("tkd,td->tk", features, theta[group[client]])
    reward = mean + noise * rng.standard_normal(mean.shape)
    reward[client < liars] = -10 * np.sign(reward[client < liars])
    return {"client": client, "arms": features, "reward": reward, "mean": mean}


def limit_of(test_level, clients, dimension, ridge, noise):
    """(noise sqrt(q) + sqrt(rho))^2, q the upper epsilon / (N - 1) quantile of chi-square with d degrees of freedom."""
    if test_level == 0 or clients == 1:
        return np.inf
    quantile = chi2.isf(test_level / (clients - 1), dimension)
    return (noise * np.sqrt(quantile) + np.sqrt(ridge / 1000)) ** 2


def statistic(one, other, ridge):
    """z^T (F_i + F_j)^-1 z of two clients with sums (S, s)."""
    inverse, estimate = [], []
    for total_v, total_b in (one, other):
        inverse.append(np.linalg.inv(total_v + ridge / 1000 * np.eye(len(total_b))))
        estimate.append(inverse[-1] @ total_b)
    z = estimate[0] - estimate[1]
    return z @ np.linalg.solve(inverse[0] + inverse[1], z)


def passes(now, before, threshold, has_news):
    """A determinant test by logarithms: above log gamma + 1e-9, where gamma = 1: iff there is news."""
    return has_news if threshold == 1 else now > before + np.log(threshold) + 1e-9


def clustered_linucb(
    world,
    *,
    ridge=0.1,
    noise=0.1,
    delta=0.1,
    upload_threshold=5.0,
    download_threshold=10.0,
    test_level=0.1,
    alpha=None,
    exploration="ucb",
    draws=None,
    look=None,
    smallest_upload=1,
):
    """Play a recorded world; `look`, if given, is called with everything that there is after each upload."""
    clients, dimension = count_clients(world), world["arms"].shape[2]
    upload_threshold = np.broadcast_to(np.asarray(upload_threshold, dtype=float), clients)
    download_threshold = np.broadcast_to(np.asarray(download_threshold, dtype=float), clients)
    limit = limit_of(test_level, clients, dimension, ridge, noise)
    known_v, known_b = np.zeros((clients, dimension, dimension)), np.zeros((clients, dimension))
    new_v, new_b = np.zeros_like(known_v), np.zeros_like(known_b)
    own_v, own_b = np.zeros_like(known_v), np.zeros_like(known_b)
    told_v, told_b, uploads = np.zeros_like(known_v), np.zeros_like(known_b), np.zeros(clients, dtype=int)
    apart = np.zeros((clients, clients), dtype=bool)
    copy_v, holds = np.zeros_like(known_v), [set() for _ in range(clients)]
    last_upload, last_download, telling = (np.zeros(clients, dtype=int) for _ in range(3))
    met = [False] * clients
    ledger, chosen, number = Ledger(), [], 0
    payload = dimension * dimension + dimension

    for turn, i in enumerate(world["client"]):
        met[i] = True
        arm = linear.choose(
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
        for total_v, total_b in ((known_v, known_b), (new_v, new_b), (own_v, own_b)):
            total_v[i] += np.outer(x, x)
            total_b[i] += x * y
        now, before = log_determinant(own_v[i], ridge), log_determinant(own_v[i] - new_v[i], ridge)
        telling[i] += x.any()
        if telling[i] >= smallest_upload and passes(now, before, upload_threshold[i], new_v[i].any()):
            ledger.up(1, payload)
            number += 1
            # 1.
            told_v[i] += new_v[i]
            told_b[i] += new_b[i]
            uploads[i] += 1
            last_upload[i] = number
            copy_v[i] += new_v[i]
            holds[i].add(i)
            new_v[i], new_b[i], telling[i] = 0.0, 0.0, 0
            # 2.
            for j in range(clients):
                if j != i and uploads[j]:
                    both = (told_v[i], told_b[i]), (told_v[j], told_b[j])
                    apart[i, j] = apart[j, i] = limit < np.inf and statistic(*both, ridge) > limit
            # 3.
            for j in range(clients):
                if not met[j]:
                    continue
                peers = [k for k in range(clients) if uploads[k] and not apart[j, k]]
                peers_v, peers_b = np.zeros((dimension, dimension)), np.zeros(dimension)
                for k in peers:
                    peers_v, peers_b = peers_v + told_v[k], peers_b + told_b[k]
                has_news = any(k != j and (k not in holds[j] or last_upload[k] > last_download[j]) for k in peers)
                now, before = log_determinant(peers_v, ridge), log_determinant(copy_v[j], ridge)
                has_strangers = not holds[j] <= set(peers)
                if has_strangers or (has_news and passes(now, before, download_threshold[j], has_news)):
                    ledger.down(1, payload)
                    known_v[j], known_b[j] = peers_v + new_v[j], peers_b + new_b[j]
                    copy_v[j], holds[j], last_download[j] = peers_v, set(peers), number
            if look is not None:
                look({"told_v": told_v, "uploads": uploads, "apart": apart, "copy_v": copy_v, "holds": holds})
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        **ledger.report(),
        "V": known_v,
        "b": known_b,
        "dV": new_v,
        "db": new_b,
        "O": own_v,
        "o": own_b,
        "V_g": told_v.sum(axis=0),
        "S": told_v,
        "s": told_b,
        "u": uploads,
        "apart": apart,
        "C": copy_v,
        "H": holds,
        "limit": limit,
    }
