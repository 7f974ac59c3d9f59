"""Small recorded worlds, and the rules of recorded.md that every transcription shares.

A world is a plain dict of arrays with the names and shapes of the recorded file. Nothing here, or in the
transcriptions beside it, imports the product: they are written from the specification and the papers alone.
"""

import numpy as np


def lowest_best(scores):
    """Index of the choice: scores within 1e-9 * max(1, |best|) of the best tie, the lowest index wins."""
    best = max(scores)
    for index, score in enumerate(scores):
        if best - score <= 1e-9 * max(1.0, abs(best)):
            return index
    raise ValueError("scores are not comparable (empty or not a number)")


def count_clients(world):
    """N: clients are 0..N-1, N = max + 1."""
    return int(world["client"].max()) + 1


def count_rounds(world):
    """T of the round-based families; refuses a file that does not divide into rounds of all clients."""
    clients = count_clients(world)
    rounds, rest = divmod(len(world["client"]), clients)
    assert rest == 0, "the last round is incomplete"
    for members in world["client"].reshape(rounds, clients):
        assert sorted(members) == list(range(clients)), "a round does not hold every client once"
    return rounds


class Ledger:
    """Counts messages and scalars; `end_turn` books what has been carried so far on the turn that ends."""

    def __init__(self):
        self.uploads = self.downloads = self.scalars = 0
        self.messages_by_turn, self.scalars_by_turn = [], []

    def up(self, count, scalars):
        """`count` messages from clients to the server, of `scalars` numbers each."""
        self.uploads += count
        self.scalars += count * scalars

    def down(self, count, scalars):
        """`count` messages from the server to clients, of `scalars` numbers each."""
        self.downloads += count
        self.scalars += count * scalars

    def end_turn(self):
        self.messages_by_turn.append(self.uploads + self.downloads)
        self.scalars_by_turn.append(self.scalars)

    def report(self):
        """Cumulative messages and scalars by turn; messages up and messages down in all."""
        return {
            "messages": np.array(self.messages_by_turn),
            "scalars": np.array(self.scalars_by_turn),
            "uploads": self.uploads,
            "downloads": self.downloads,
        }


def turn_regret(world, arm, rival=None):
    """Regret of each turn: best mean minus mean of the choice; dueling: 2 f(best) - f(first) - f(second)."""
    turns = np.arange(len(arm))
    if rival is None:
        return world["mean"].max(axis=1) - world["mean"][turns, arm]
    utility = world["utility"]
    return 2 * utility.max(axis=1) - utility[turns, arm] - utility[turns, rival]


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _arrivals(rng, turns, clients, skew):
    """Every client at least once (ids are dense), the other turns with probability ~ 1 / (1 + id)^skew."""
    weights = 1.0 / (1.0 + np.arange(clients)) ** skew
    others = rng.choice(clients, size=turns - clients, p=weights / weights.sum())
    return rng.permutation(np.concatenate([np.arange(clients), others]))


def _round_order(rng, rounds, clients, shuffled):
    orders = [rng.permutation(clients) if shuffled else np.arange(clients) for _ in range(rounds)]
    return np.concatenate(orders)


def linear_turns(seed, turns, clients, arms, dimension, skew=0.0, noise=0.1):
    """One theta on the unit sphere for all clients, unit arms, Gaussian noise; clients arrive one by one."""
    rng = np.random.default_rng(seed)
    theta = _unit(rng.standard_normal(dimension))
    features = _unit(rng.standard_normal((turns, arms, dimension)))
    mean = features @ theta
    return {
        "client": _arrivals(rng, turns, clients, skew),
        "arms": features,
        "reward": mean + noise * rng.standard_normal(mean.shape),
        "mean": mean,
    }


def personal_turns(
    seed, turns, clients, arms, dimension, global_dimension=None, skew=0.0, noise=0.1, shared_features=False
):
    """A shared unit theta_g and one unit theta_l for each client: equation (2) of async-linucb."""
    rng = np.random.default_rng(seed)
    first = dimension if shared_features else global_dimension
    last = dimension if shared_features else dimension - global_dimension
    theta_global = _unit(rng.standard_normal(first))
    theta_local = _unit(rng.standard_normal((clients, last)))
    features = _unit(rng.standard_normal((turns, arms, dimension)))
    client = _arrivals(rng, turns, clients, skew)
    mean = np.empty((turns, arms))
    for turn in range(turns):
        for arm, x in enumerate(features[turn]):
            x_global, x_local = (x, x) if shared_features else (x[:first], x[first:])
            mean[turn, arm] = x_global @ theta_global + x_local @ theta_local[client[turn]]
    reward = mean + noise * rng.standard_normal(mean.shape)
    return {"client": client, "arms": features, "reward": reward, "mean": mean}


def glm_rounds(seed, rounds, clients, arms, dimension, link="logistic", shuffled=True, noise=0.1):
    """Unit theta and arms; Bernoulli rewards (logistic), Gaussian (identity) or Poisson counts (poisson)."""
    rng = np.random.default_rng(seed)
    theta = _unit(rng.standard_normal(dimension))
    features = _unit(rng.standard_normal((rounds * clients, arms, dimension)))
    z = features @ theta
    if link == "logistic":
        mean = 1.0 / (1.0 + np.exp(-z))
        reward = (rng.random(z.shape) < mean).astype(float)
    elif link == "identity":
        mean = z
        reward = mean + noise * rng.standard_normal(z.shape)
    else:
        mean = np.exp(z)
        reward = rng.poisson(mean).astype(float)
    client = _round_order(rng, rounds, clients, shuffled)
    return {"client": client, "arms": features, "reward": reward, "mean": mean}


def dueling_rounds(seed, rounds, clients, arms, dimension, shuffled=True):
    """Standard normal theta and arms, as in the paper's experiments; utilities and one coin a turn."""
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal(dimension)
    features = rng.standard_normal((rounds * clients, arms, dimension))
    return {
        "client": _round_order(rng, rounds, clients, shuffled),
        "arms": features,
        "utility": features @ theta,
        "coin": rng.random(rounds * clients),
    }


def lasso_rounds(
    seed, rounds, clients, arms, dimension, support=2, candidates=4, noise=0.1, shuffled=True, identical=False
):
    """Sparse parameters: per arm `candidates` positions that clients share, `support` of them for each."""
    rng = np.random.default_rng(seed)
    beta = np.zeros((clients, arms, dimension))
    for arm in range(arms):
        positions = rng.choice(dimension, size=candidates, replace=False)
        for client in range(clients):
            chosen = rng.choice(positions, size=support, replace=False)
            beta[client, arm, chosen] = rng.random(support)
    if identical:
        beta[:] = beta[0]
    client = _round_order(rng, rounds, clients, shuffled)
    context = rng.standard_normal((rounds * clients, dimension))
    mean = np.einsum("tkd,td->tk", beta[client], context)
    reward = mean + noise * rng.standard_normal(mean.shape)
    return {"client": client, "context": context, "reward": reward, "mean": mean}
