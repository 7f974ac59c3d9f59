"""Literal transcription of forgetting (linear-more.md): sums are triples (V, b, e), aged and merged by epoch."""

from dataclasses import dataclass

import numpy as np

from reference.linear import choose, log_determinant
from reference.recorded import Ledger, count_clients


@dataclass
class Sum:
    """V = sum of discount^(e - e_s) x_s x_s^T, b likewise."""

    discount: float
    v: np.ndarray
    b: np.ndarray
    e: int = 0

    def age(self, epoch):
        """To a later epoch: V and b times discount^(e' - e)."""
        weight = self.discount ** (epoch - self.e)
        return Sum(self.discount, weight * self.v, weight * self.b, epoch)

    def merge(self, other):
        """Age the older of two to the newer epoch, and add."""
        epoch = max(self.e, other.e)
        one, two = self.age(epoch), other.age(epoch)
        return Sum(self.discount, one.v + two.v, one.b + two.b, epoch)

    def minus(self, other):
        """The difference of two of one epoch."""
        assert self.e == other.e
        return Sum(self.discount, self.v - other.v, self.b - other.b, self.e)


def nothing(discount, dimension):
    return Sum(discount, np.zeros((dimension, dimension)), np.zeros(dimension))


def seen(discount, x, y, epoch):
    return Sum(discount, np.outer(x, x), x * y, epoch)


WAY = {"noise": 0.1, "delta": 0.1, "alpha": None, "exploration": "ucb", "draw": None}


def async_linucb(world, *, discount, ridge=0.1, upload_threshold=2.0, download_threshold=2.0):
    """Async-LinUCB; infinite thresholds are `local-linucb`."""
    clients, dimension = count_clients(world), world["arms"].shape[2]
    known = [nothing(discount, dimension) for _ in range(clients)]
    own = [nothing(discount, dimension) for _ in range(clients)]
    shared = [nothing(discount, dimension) for _ in range(clients)]  # the copy last shared with each
    server, met, has_news = nothing(discount, dimension), [False] * clients, [False] * clients
    ledger, chosen = Ledger(), []
    payload = dimension * dimension + dimension
    for turn, i in enumerate(world["client"]):
        epoch = world["epoch"][turn]
        if not met[i]:
            met[i], has_news[i] = True, bool(server.v.any())
        known[i], own[i] = known[i].age(epoch), own[i].age(epoch)
        arm = choose(world["arms"][turn], known[i].v, known[i].b, ridge=ridge, **WAY)
        chosen.append(arm)
        news = seen(discount, world["arms"][turn, arm], world["reward"][turn, arm], epoch)
        known[i], own[i] = known[i].merge(news), own[i].merge(news)
        growth = log_determinant(known[i].v, ridge) - log_determinant(known[i].minus(own[i]).v, ridge)
        if growth > np.log(upload_threshold):
            ledger.up(1, payload)
            server = server.merge(own[i])
            shared[i] = shared[i].merge(own[i])
            own[i] = nothing(discount, dimension).age(epoch)
            for j in range(clients):
                has_news[j] |= met[j] and j != i
            for j in range(clients):
                copy = shared[j].age(server.e)
                level = np.log(download_threshold) + log_determinant(copy.v, ridge)
                if has_news[j] and log_determinant(server.v, ridge) > level:
                    ledger.down(1, payload)
                    known[j], shared[j], has_news[j] = server.merge(own[j]), server, False
        ledger.end_turn()
    return {"arm": np.array(chosen), **ledger.report(), "server": server, "own": own, "known": known}


def sync_linucb(world, *, discount, ridge=0.1, sync_threshold=1.0):
    """Sync-LinUCB; dt_i is a plain count."""
    clients, dimension = count_clients(world), world["arms"].shape[2]
    known = [nothing(discount, dimension) for _ in range(clients)]
    own = [nothing(discount, dimension) for _ in range(clients)]
    server, since = nothing(discount, dimension), np.zeros(clients)
    ledger, chosen = Ledger(), []
    payload = dimension * dimension + dimension
    for turn, i in enumerate(world["client"]):
        epoch = world["epoch"][turn]
        known[i], own[i] = known[i].age(epoch), own[i].age(epoch)
        arm = choose(world["arms"][turn], known[i].v, known[i].b, ridge=ridge, **WAY)
        chosen.append(arm)
        news = seen(discount, world["arms"][turn, arm], world["reward"][turn, arm], epoch)
        known[i], own[i] = known[i].merge(news), own[i].merge(news)
        since[i] += 1
        growth = log_determinant(known[i].v, ridge) - log_determinant(known[i].minus(own[i]).v, ridge)
        if since[i] * growth > sync_threshold:
            for j in range(clients):
                server = server.merge(own[j])
            known, own = [server] * clients, [nothing(discount, dimension)] * clients
            since[:] = 0
            ledger.up(clients, payload)
            ledger.down(clients, payload)
        ledger.end_turn()
    return {"arm": np.array(chosen), **ledger.report(), "server": server, "own": own, "known": known}


def pooled_linucb(world, *, discount, ridge=0.1):
    """One LinUCB over all; with one epoch a turn its estimate is D-LinUCB's."""
    dimension = world["arms"].shape[2]
    server, ledger, chosen = nothing(discount, dimension), Ledger(), []
    for turn, epoch in enumerate(world["epoch"]):
        server = server.age(epoch)
        arm = choose(world["arms"][turn], server.v, server.b, ridge=ridge, **WAY)
        chosen.append(arm)
        server = server.merge(seen(discount, world["arms"][turn, arm], world["reward"][turn, arm], epoch))
        ledger.up(1, dimension + 1)
        ledger.end_turn()
    return {"arm": np.array(chosen), **ledger.report(), "server": server, "own": [], "known": [server]}
