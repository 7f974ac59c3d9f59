"""Literal transcription of `private-linucb` (privacy.md, section 2): whole matrices, one turn at a time."""

import math

import numpy as np
from scipy.optimize import bisect
from scipy.stats import norm

from reference.randomised import by_lot
from reference.recorded import Ledger, count_clients, lowest_best

GRAIN = 2.0**-20


def sigma(epsilon, delta):
    """Phi(1/(2s) - eps s) - e^eps Phi(-1/(2s) - eps s) = delta."""

    def excess(s):
        return norm.cdf(1 / (2 * s) - epsilon * s) - math.exp(epsilon) * norm.cdf(-1 / (2 * s) - epsilon * s) - delta

    return bisect(excess, 1e-3, 1e5, xtol=1e-13)


def factors(mechanism, n):
    """left and right, n x n, with left right = the lower triangle of ones."""
    if mechanism == "toeplitz":
        c = [1.0]
        for k in range(1, n):
            c.append(c[-1] * (2 * k - 1) / (2 * k))
        both = np.array([[c[i - j] if i >= j else 0.0 for j in range(n)] for i in range(n)])
        return both, both
    left, right = np.zeros((n, n)), np.zeros((n, n))
    for k in range(1, n + 1):
        for batch in range(k - (k & -k) + 1, k + 1):
            right[k - 1, batch - 1] = 1.0
        node = k
        while node > 0:
            left[k - 1, node - 1] = 1.0
            node -= node & -node
    return left, right


def sensitivity(d, length, reward):
    """Delta."""
    c = length / reward
    return math.sqrt(2) * (length**2 + c**2 * reward**2 / 2) + GRAIN * math.sqrt(d**2 + c**2 * d)


def phi(x, y, *, length=1.0, reward=1.0):
    """The coordinates of an observation, rounded before they are scaled."""
    c, d = length / reward, len(x)
    xx, xy = np.rint(np.outer(x, x) / GRAIN) * GRAIN, np.rint(x * np.clip(y, -reward, reward) / GRAIN) * GRAIN
    pairs = [xx[i, j] if i == j else math.sqrt(2) * xx[i, j] for i in range(d) for j in range(i, d)]
    return np.array([*pairs, *(c * xy)])


def private_linucb(
    world, *, epsilon, privacy_delta=1e-6, releases=64, batch=50, growth=1.0, schedule="rounds", mechanism="toeplitz",
    context_bound=1.0, reward_bound=1.0, ridge=1.0, noise=0.1, delta=0.1, alpha=None, exploration="ucb", greed=None,
):  # fmt: skip
    """All of it; noise from the world's `noise_draws`, samples and lots from its `draws`."""
    clients, d = count_clients(world), world["arms"].shape[2]
    left, right = factors(mechanism, releases)
    c = context_bound / reward_bound
    nu = sigma(epsilon, privacy_delta) * sensitivity(d, context_bound, reward_bound)
    nu *= max(math.sqrt(sum(right[:, j] ** 2)) for j in range(releases))
    sums_v, sums_b = np.zeros((clients, d, d)), np.zeros((clients, d))
    prefix_v, prefix_b = np.zeros((clients, d, d)), np.zeros((clients, d))
    turns, fresh, made, asked = ([0] * clients for _ in range(4))
    model = [None] * clients
    ledger, chosen, released = Ledger(), [], []

    def release(i, turn):
        k = made[i] = made[i] + 1
        total = np.zeros(d * (d + 1) // 2 + d)
        for j in range(k):
            total += left[k - 1, j] * nu * world["noise_draws"][i, j]
        place = 0
        for a in range(d):
            for b in range(a, d):
                each = total[place] if a == b else total[place] / math.sqrt(2)
                each = np.rint(each / GRAIN) * GRAIN
                prefix_v[i, a, b] = sums_v[i, a, b] + each
                prefix_v[i, b, a] = sums_v[i, b, a] + each
                place += 1
        prefix_b[i] = sums_b[i] + np.rint(total[place:] / c / GRAIN) * GRAIN
        released.append((turn, i, k, prefix_v[i].copy(), prefix_b[i].copy()))

    def download():
        tau = math.sqrt(sum(nu**2 * sum(left[made[i] - 1] ** 2) for i in range(clients) if made[i]))
        s = math.sqrt(2 * math.log(2 / (delta / (3 * clients * releases))))
        upsilon, gamma = tau * (math.sqrt(2 * d) + s), tau / c * (math.sqrt(d) + s)
        a = sum(prefix_v) + (ridge + 2 * upsilon) * np.eye(d)
        a = a + max(0.0, ridge + upsilon - np.linalg.eigvalsh(a)[0]) * np.eye(d)
        width = alpha
        if alpha is None:
            log_det = np.linalg.slogdet(a)[1]
            width = noise * math.sqrt(log_det - d * math.log(ridge + upsilon) + 2 * math.log(2 / delta))
            width += math.sqrt(ridge + 3 * upsilon) + gamma / math.sqrt(ridge + upsilon)
        return np.linalg.inv(a), np.linalg.inv(a) @ sum(prefix_b), width

    up, down = d * d + d, d * d + d + 1
    for turn, i in enumerate(world["client"]):
        arms = world["arms"][turn]
        arm = choose(arms, model[i], turns[i], exploration, greed, world["draws"][turn] if "draws" in world else None)
        chosen.append(arm)
        x, y = arms[arm], min(max(world["reward"][turn, arm], -reward_bound), reward_bound)
        sums_v[i] += np.rint(np.outer(x, x) / GRAIN) * GRAIN
        sums_b[i] += np.rint(x * y / GRAIN) * GRAIN
        turns[i] += 1
        fresh[i] += 1
        if schedule == "own-count":
            if fresh[i] >= max(batch, math.ceil(batch * growth ** (made[i] + asked[i]) - 1e-9)):
                fresh[i] = 0
                if made[i] < releases:
                    release(i, turn)
                    ledger.up(1, up)
                else:
                    asked[i] += 1
                model[i] = download()
                ledger.down(1, down)
        elif fresh[i] >= batch and made[i] < releases:
            for j in [i, *(j for j in range(clients) if j != i)]:
                if fresh[j] > 0 and made[j] < releases:
                    release(j, turn)
                fresh[j] = 0
            ledger.up(clients, up)
            ledger.down(clients, down)
            model = [download()] * clients
        ledger.end_turn()
    return {"arm": np.array(chosen), "released": released, **ledger.report()}


def choose(arms, model, turns, exploration, greed, draw):
    """Before the first download arm (turns) mod K; then by the download alone."""
    if model is None:
        return turns % len(arms)
    inverse, theta, width = model
    if exploration == "ucb":
        return lowest_best([x @ theta + width * math.sqrt(x @ inverse @ x) for x in arms])
    if exploration == "thompson":
        sample = theta + width * np.linalg.cholesky(inverse) @ draw
        return lowest_best([x @ sample for x in arms])
    scores = [x @ theta for x in arms]
    best = lowest_best(scores)
    p = np.array([1 / (len(arms) + greed * max(0.0, scores[best] - each)) for each in scores])
    p[best] = 1 - (sum(p) - p[best])
    return by_lot(p, draw[0])
