"""A literal transcription of lean-linucb with float64 (lean.md, "Exact semantics"), turn by turn.

Every matrix is inverted and every determinant taken afresh. Push is in `push`, with what the server keeps of clients.
"""

import math

import numpy as np

from reference import linear
from reference.linear import log_determinant, passes
from reference.recorded import Ledger, count_clients


def next_question(asked_after, ask_growth):
    """next_i := max(n + 1, ceil(ask_growth n - 1e-9))."""
    return max(asked_after + 1, math.ceil(ask_growth * asked_after - 1e-9))


def lean_linucb(
    world,
    *,
    ridge=0.1,
    noise=0.1,
    delta=0.1,
    upload_threshold=1.03,
    download_threshold=1000.0,
    delivery="turn",
    ask_growth=1.3,
    welcome=True,
    alpha=None,
    exploration="ucb",
    draws=None,
    smallest_upload=1,
):
    clients, dimension = count_clients(world), world["arms"].shape[2]
    known_v, known_b = np.zeros((clients, dimension, dimension)), np.zeros((clients, dimension))
    own_v, own_b = np.zeros_like(known_v), np.zeros_like(known_b)
    server_v, server_b, version = np.zeros((dimension, dimension)), np.zeros(dimension), 0
    seen, since, telling = (np.zeros(clients, dtype=int) for _ in range(3))
    level = np.full(clients, dimension * math.log(ridge))
    turns, next_i = np.zeros(clients, dtype=int), np.ones(clients, dtype=int)
    met = [False] * clients  # push only
    ledger, chosen, questions = Ledger(), [], 0
    payload = dimension * dimension + dimension

    def download(j):
        ledger.down(1, payload)
        known_v[j], known_b[j] = server_v + own_v[j], server_b + own_b[j]
        seen[j], since[j], level[j] = version, 0, log_determinant(server_v, ridge)

    def is_answered(j, first=False):
        if version - seen[j] - since[j] <= 0:
            return False
        return first or passes(log_determinant(server_v, ridge) - level[j], download_threshold)

    for turn, i in enumerate(world["client"]):
        # 1. Ask.
        if turns[i] == 0:
            if welcome:
                questions += 1
                if is_answered(i, first=True):
                    download(i)
        elif delivery == "turn" and turns[i] >= next_i[i]:
            questions += 1
            next_i[i] = next_question(turns[i], ask_growth)
            if is_answered(i):
                download(i)
        # 2. Choose, observe.
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
        met[i] = True
        turns[i] += 1
        telling[i] += world["arms"][turn, arm].any()
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        for gram, moment in ((known_v, known_b), (own_v, own_b)):
            gram[i] += np.outer(x, x)
            moment[i] += x * y
        # 3. Upload.
        growth = log_determinant(known_v[i], ridge) - log_determinant(known_v[i] - own_v[i], ridge)
        if own_v[i].any() and telling[i] >= smallest_upload and passes(growth, upload_threshold):
            ledger.up(1, payload)
            server_v += own_v[i]
            server_b += own_b[i]
            version += 1
            own_v[i], own_b[i], telling[i] = 0.0, 0.0, 0
            since[i] += 1
            level[i] = log_determinant(known_v[i], ridge)
            # 4. Answers and pushes.
            if delivery == "upload" and is_answered(i):
                download(i)
            if delivery == "push":
                for j in range(clients):
                    if met[j] and is_answered(j):
                        download(j)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        **ledger.report(),
        "questions": questions,
        "V_g": server_v,
        "b_g": server_b,
        "dV": own_v,
        "db": own_b,
    }
