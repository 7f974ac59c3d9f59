"""Literal transcription of forgetting (linear-more.md): sums are triples (V, b, e), aged and merged by epoch."""

from dataclasses import dataclass

import numpy as np

from reference.lean import next_question
from reference.linear import choose, log_determinant, passes
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


def fedlinucb(world, *, discount, ridge=0.1, upload_threshold=2.0, use_own=False):
    """FedLinUCB: who uploads is answered, and nobody else."""
    clients, dimension = count_clients(world), world["arms"].shape[2]
    copy = [nothing(discount, dimension) for _ in range(clients)]
    own = [nothing(discount, dimension) for _ in range(clients)]
    server = nothing(discount, dimension)
    ledger, chosen = Ledger(), []
    payload = dimension * dimension + dimension
    for turn, i in enumerate(world["client"]):
        epoch = world["epoch"][turn]
        copy[i], own[i] = copy[i].age(epoch), own[i].age(epoch)
        scored = copy[i].merge(own[i]) if use_own else copy[i]
        arm = choose(world["arms"][turn], scored.v, scored.b, ridge=ridge, **WAY)
        chosen.append(arm)
        own[i] = own[i].merge(seen(discount, world["arms"][turn, arm], world["reward"][turn, arm], epoch))
        growth = log_determinant(copy[i].merge(own[i]).v, ridge) - log_determinant(copy[i].v, ridge)
        if passes(growth, upload_threshold):
            ledger.up(1, payload)
            ledger.down(1, payload)
            server = server.merge(own[i])
            copy[i], own[i] = server, nothing(discount, dimension).age(epoch)
        ledger.end_turn()
    return {"arm": np.array(chosen), **ledger.report(), "server": server}


def lean_linucb(
    world, *, discount, ridge=0.1, upload_threshold=1.03, download_threshold=1000.0, delivery="turn", ask_growth=1.3
):
    """Lean-LinUCB with a welcome: levels are of the copy last shared, aged to the epoch of the question."""
    clients, dimension = count_clients(world), world["arms"].shape[2]
    copy = [nothing(discount, dimension) for _ in range(clients)]
    own = [nothing(discount, dimension) for _ in range(clients)]
    server, version = nothing(discount, dimension), 0
    known, turns, next_i = np.zeros(clients, dtype=int), np.zeros(clients, dtype=int), np.ones(clients, dtype=int)
    ledger, chosen = Ledger(), []
    payload = dimension * dimension + dimension

    def ask(j, epoch, first=False):
        now, before = server.age(epoch), copy[j].age(epoch)
        lag = log_determinant(now.v, ridge) - log_determinant(before.v, ridge)
        if version > known[j] and (first or passes(lag, download_threshold)):
            ledger.down(1, payload)
            copy[j], known[j] = now, version

    for turn, i in enumerate(world["client"]):
        epoch = world["epoch"][turn]
        if turns[i] == 0:
            ask(i, epoch, first=True)
        elif delivery == "turn" and turns[i] >= next_i[i]:
            next_i[i] = next_question(turns[i], ask_growth)
            ask(i, epoch)
        copy[i], own[i] = copy[i].age(epoch), own[i].age(epoch)
        scored = copy[i].merge(own[i])
        arm = choose(world["arms"][turn], scored.v, scored.b, ridge=ridge, **WAY)
        chosen.append(arm)
        turns[i] += 1
        own[i] = own[i].merge(seen(discount, world["arms"][turn, arm], world["reward"][turn, arm], epoch))
        growth = log_determinant(copy[i].merge(own[i]).v, ridge) - log_determinant(copy[i].v, ridge)
        if passes(growth, upload_threshold):
            ledger.up(1, payload)
            server, version, known[i] = server.merge(own[i]), version + 1, known[i] + 1
            copy[i], own[i] = copy[i].merge(own[i]), nothing(discount, dimension).age(epoch)
            if delivery == "upload":
                ask(i, epoch)
        ledger.end_turn()
    return {"arm": np.array(chosen), **ledger.report(), "server": server}


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
