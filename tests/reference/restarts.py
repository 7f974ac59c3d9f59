"""Literal transcription of federations that notice changes: clients watch their errors, a quorum lets all forget.

Every observation is kept with the client that made it, and every sum is computed afresh from the observations in it.
"""

import numpy as np

from reference.forgetting import WAY
from reference.linear import choose, log_determinant, passes
from reference.recorded import Ledger, count_clients

CUT, EXPECTED, DRIFT, THRESHOLD = 9.0, 1.0, 2.0, 11.5


class Detector:
    """One client's: r from all its errors, S from those since the last restart."""

    def __init__(self, noise, ridge):
        self.noise, self.ridge = noise, ridge
        self.scaled = []  # e^2 / (1 + q^2), each cut at CUT r^2
        self.sum, self.is_alarmed = 0.0, False

    def see(self, x, y, v, b):
        """Tell whether the client changes its mind, by V, b of its scores before it learns."""
        inverse = np.linalg.inv(v + self.ridge * np.eye(len(v)))
        error, variance = abs(y - x @ inverse @ b), x @ inverse @ x
        r = max(self.noise, np.sqrt((self.noise**2 + sum(self.scaled)) / (1 + len(self.scaled))))
        z = max(0.0, error - np.sqrt(self.ridge) * np.sqrt(variance)) / (r * np.sqrt(1 + variance))
        self.scaled.append(min(error**2 / (1 + variance), CUT * r**2))
        self.sum = max(0.0, self.sum + min(z**2, CUT) - EXPECTED - DRIFT)
        before = self.is_alarmed
        self.is_alarmed = self.sum > 0.0 if before else self.sum > THRESHOLD
        return self.is_alarmed != before

    def begin_anew(self):
        """Forget what was noticed, but not what rewards vary by."""
        self.sum, self.is_alarmed = 0.0, False


def sums(observations, dimension):
    """V and b of observations (x, y)."""
    v, b = np.zeros((dimension, dimension)), np.zeros(dimension)
    for x, y in observations:
        v, b = v + np.outer(x, x), b + y * x
    return v, b


class Federation:
    """What both algorithms share: turns, detectors, restarts."""

    def __init__(self, world, quorum, ridge):
        self.world, self.quorum, self.ridge = world, quorum, ridge
        self.clients, self.dimension = count_clients(world), world["arms"].shape[2]
        self.payload = self.dimension * self.dimension + self.dimension
        self.detectors = [Detector(WAY["noise"], ridge) for _ in range(self.clients)]
        self.ledger, self.chosen, self.alarms, self.restarts = Ledger(), [], [], []
        self.copy = [[] for _ in range(self.clients)]  # the observations that each was last told of
        self.own = [[] for _ in range(self.clients)]  # those that it has not uploaded
        self.server = []

    def play(self):
        for turn, i in enumerate(self.world["client"]):
            v, b = self.scored(i)
            arm = choose(self.world["arms"][turn], v, b, ridge=self.ridge, **WAY)
            self.chosen.append(arm)
            x, y = self.world["arms"][turn, arm], self.world["reward"][turn, arm]
            if self.detectors[i].see(x, y, v, b):
                self.alarms.append((turn, i))
            self.own[i].append((x, y))
            self.exchange(i)
            if sum(each.is_alarmed for each in self.detectors) >= self.quorum:
                self.restarts.append(turn)
                self.server = []
                self.copy, self.own = [[] for _ in self.copy], [[] for _ in self.own]
                for each in self.detectors:
                    each.begin_anew()
            self.ledger.end_turn()
        return {"arm": self.chosen, **self.ledger.report(), "alarms": self.alarms, "restarts": self.restarts,
                "server": sums(self.server, self.dimension)}  # fmt: skip

    def level(self, observations):
        return log_determinant(sums(observations, self.dimension)[0], self.ridge)


class FedLinUCB(Federation):
    """Who uploads is answered, and nobody else."""

    def __init__(self, world, *, restart_quorum, upload_threshold, use_own, ridge=0.1):
        super().__init__(world, restart_quorum, ridge)
        self.upload_threshold, self.use_own = upload_threshold, use_own

    def scored(self, i):
        return sums(self.copy[i] + self.own[i] if self.use_own else self.copy[i], self.dimension)

    def exchange(self, i):
        if passes(self.level(self.copy[i] + self.own[i]) - self.level(self.copy[i]), self.upload_threshold):
            self.ledger.up(1, self.payload)
            self.ledger.down(1, self.payload)
            self.server = self.server + self.own[i]
            self.copy[i], self.own[i] = self.server, []


class AsyncLinUCB(Federation):
    """The server sends what there is to whoever lacks enough; `copy` is also what was last shared with each."""

    def __init__(self, world, *, restart_quorum, upload_threshold, download_threshold, ridge=0.1):
        super().__init__(world, restart_quorum, ridge)
        self.thresholds = upload_threshold, download_threshold
        self.met, self.has_news = [False] * self.clients, [False] * self.clients

    def scored(self, i):
        if not self.met[i]:
            self.met[i], self.has_news[i] = True, bool(self.server)
        return sums(self.copy[i] + self.own[i], self.dimension)

    def exchange(self, i):
        if not passes(self.level(self.copy[i] + self.own[i]) - self.level(self.copy[i]), self.thresholds[0]):
            return
        self.ledger.up(1, self.payload)
        self.server = self.server + self.own[i]
        self.copy[i], self.own[i] = self.copy[i] + self.own[i], []
        for j in range(self.clients):
            self.has_news[j] |= self.met[j] and j != i
        for j in range(self.clients):
            lag = self.level(self.server) - self.level(self.copy[j])
            if self.has_news[j] and passes(lag, self.thresholds[1]):
                self.ledger.down(1, self.payload)
                self.copy[j], self.has_news[j] = self.server, False
