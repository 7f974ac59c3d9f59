"""A literal transcription of FedLinUCB: see `reference.linear`."""

import numpy as np

from reference import linear
from reference.linear import log_determinant, passes
from reference.recorded import Ledger, count_clients


def paper_width(clients, dimension, turns, *, ridge, noise, delta, upload_threshold):
    """Theorem 5.1 of He et al. with R = noise, S = L = 1, M = clients; of thresholds per client the largest counts."""
    a = np.max(upload_threshold) - 1
    inner = np.sqrt(dimension * np.log((1 + turns / (min(a, 1) * ridge)) / delta))
    return np.sqrt(ridge) + (np.sqrt(1 + clients * a) + clients * np.sqrt(2 * a)) * (noise * inner + np.sqrt(ridge))


def fedlinucb(
    world,
    *,
    ridge=0.1,
    noise=0.1,
    delta=0.1,
    upload_threshold=2.0,
    use_own=False,
    bound="family",
    horizon=None,
    alpha=None,
    exploration="ucb",
    draws=None,
    in_a_ring=False,
    smallest_upload=1,
):
    """FedLinUCB of linear-more.md (He et al. 2022): C_i is the last download, and an upload is answered at once.

    In a ring the next client gets what the sender gets.
    """
    clients, dimension = count_clients(world), world["arms"].shape[2]
    upload_threshold = np.broadcast_to(np.asarray(upload_threshold, dtype=float), clients)
    copy_v, copy_b = np.zeros((clients, dimension, dimension)), np.zeros((clients, dimension))
    own_v, own_b, telling = np.zeros_like(copy_v), np.zeros_like(copy_b), np.zeros(clients, dtype=int)
    server_v, server_b = np.zeros((dimension, dimension)), np.zeros(dimension)
    ledger, chosen = Ledger(), []
    payload = dimension * dimension + dimension
    if bound == "paper" and alpha is None:
        turns = len(world["client"]) if horizon is None else horizon
        sizes = {"ridge": ridge, "noise": noise, "delta": delta, "upload_threshold": upload_threshold}
        alpha = paper_width(clients, dimension, turns, **sizes)
    way = {"ridge": ridge, "noise": noise, "delta": delta, "alpha": alpha, "exploration": exploration}

    for turn, i in enumerate(world["client"]):
        # Scores: A from C_i, c_i; with use_own from V_i, b_i.
        scored_v = copy_v[i] + own_v[i] if use_own else copy_v[i]
        scored_b = copy_b[i] + own_b[i] if use_own else copy_b[i]
        arm = linear.choose(world["arms"][turn], scored_v, scored_b, **way, draw=None if draws is None else draws[turn])
        chosen.append(arm)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        own_v[i] += np.outer(x, x)
        own_b[i] += x * y
        telling[i] += x.any()
        # log det(V_i + ridge I) - log det(V_i - dV_i + ridge I) > log(upload_threshold), with V_i = C_i + dV_i.
        growth = log_determinant(copy_v[i] + own_v[i], ridge) - log_determinant(copy_v[i], ridge)
        if own_v[i].any() and telling[i] >= smallest_upload and passes(growth, upload_threshold[i]):
            ledger.up(1, payload)
            server_v += own_v[i]
            server_b += own_b[i]
            own_v[i], own_b[i], telling[i] = 0.0, 0.0, 0
            for j in {i, (i + 1) % clients} if in_a_ring else {i}:
                ledger.down(1, payload)
                copy_v[j], copy_b[j] = server_v, server_b
        ledger.end_turn()

    return {"arm": np.array(chosen), **ledger.report(), "V_g": server_v, "b_g": server_b, "dV": own_v, "db": own_b}
