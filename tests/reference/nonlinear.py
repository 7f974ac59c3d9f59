"""Worlds whose rewards are not linear, and a literal transcription of kernel regression (FN-UCB's figure 4)."""

import numpy as np

from reference.recorded import count_clients, lowest_best


def kernel(world, *, draws=None, ridge=1.0, width=0.1, length=1.0):
    """Kernelised UCB, or with `draws` Thompson sampling: RBF kernel, every client alone, the whole matrix inverted."""
    clients = count_clients(world)
    history = [[] for _ in range(clients)]
    chosen = []

    def k(a, b):
        return np.exp(-np.sum((a - b) ** 2, axis=-1) / (2 * length**2))

    for turn, i in enumerate(world["client"]):
        past = np.array([x for x, _ in history[i]]).reshape(-1, world["arms"].shape[2])
        rewards = np.array([y for _, y in history[i]])
        gram = k(past[:, np.newaxis], past)
        inverse = np.linalg.inv(gram + ridge * np.eye(len(past)))
        scores = []
        for arm, x in enumerate(world["arms"][turn]):
            near = k(x, past)
            mean = near @ inverse @ rewards
            spread = np.sqrt(max(0.0, 1.0 - near @ inverse @ near))
            scores.append(mean + width * spread * (1.0 if draws is None else draws[turn, arm]))
        arm = lowest_best(scores)
        chosen.append(arm)
        history[i].append((world["arms"][turn, arm], world["reward"][turn, arm]))
    return {"arm": np.array(chosen)}


def nonlinear_rounds(seed, rounds, clients, arms, dimension, function=None, shuffled=True, noise=0.01):
    """Unit contexts, one unit direction for all clients, rewards cos(3 a.x) unless another function is given."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(dimension)
    direction /= np.linalg.norm(direction)
    turns = rounds * clients
    features = rng.standard_normal((turns, arms, dimension))
    features /= np.linalg.norm(features, axis=-1, keepdims=True)
    mean = (function or (lambda along: np.cos(3 * along)))(features @ direction)
    orders = [rng.permutation(clients) if shuffled else np.arange(clients) for _ in range(rounds)]
    return {
        "client": np.concatenate(orders),
        "arms": features,
        "reward": mean + noise * rng.standard_normal(mean.shape),
        "mean": mean,
    }


def block_rounds(seed, rounds, clients, arms, dimension):
    """Classification as a bandit (section 5.2): arm k shows the row in block k; the right class pays 1."""
    rng = np.random.default_rng(seed)
    turns = rounds * clients
    rows = rng.standard_normal((turns, dimension))
    label = (rows @ rng.standard_normal((dimension, arms))).argmax(axis=1)
    features = np.zeros((turns, arms, arms * dimension))
    for arm in range(arms):
        features[:, arm, arm * dimension : (arm + 1) * dimension] = rows
    reward = (label[:, np.newaxis] == np.arange(arms)).astype(float)
    return {"client": np.tile(np.arange(clients), rounds), "arms": features, "reward": reward, "mean": reward}
