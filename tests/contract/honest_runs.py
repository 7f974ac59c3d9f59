"""Whole runs of honest sites against a coordinator that knows exactly how long arms and how large rewards can be."""

from __future__ import annotations

import numpy as np

import fedbandit as fb
from contract.small_worlds import ARMS, DIMENSION
from fedbandit.core.algorithm import Setting
from fedbandit.core.bounds import Bounds
from fedbandit.core.interfaces import Cadence
from fedbandit.core.randomness import ClientStreams
from fedbandit.core.turns import Duels, Observations, Rewards, Turns
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.envelope import Envelope
from fedbandit.simulation.release_noise import ReleaseNoise
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from samples.coordinators import coordinator
from samples.needed import needed

CLIENTS = 3
LENGTH, REWARD = 2.0, 3.0
EXACT = Limits(Bounds(context=LENGTH, reward=REWARD))
TALKATIVE = {  # parameters with which every algorithm says much in few turns
    "async-linucb": {"upload_threshold": 1.05, "download_threshold": 1.05},
    "async-linucb-am": {"upload_threshold": 1.0, "download_threshold": 1.0},
    "clustered-linucb": {"upload_threshold": 1.05, "download_threshold": 1.05},
    "sync-linucb": {"sync_threshold": 0.2},
    "fedlinucb": {"upload_threshold": 1.05},
    "lean-linucb": {"upload_threshold": 1.05, "download_threshold": 1.05, "precision": "float64"},
    "fedglb-ucb": {"sync_threshold": 0.5, "solver": "newton", "arm_bound": LENGTH},
    "fedglb-ucb-1": {"rounds_of_update": 5, "arm_bound": LENGTH, "suboptimality": 1e-2},
    "fedglb-ucb-2": {"rounds_of_update": 5, "solver": "newton", "arm_bound": LENGTH},
    "fedglb-ucb-3": {"rounds_of_update": 5},
    "fn-ucb": {"width": 4},
    "fn-ucb-less": {"width": 4},
}
OTHERS = [  # more parameters under which honest uploads look different
    ("fedglb-ucb", {"sync_threshold": 0.5, "link": "identity", "arm_bound": LENGTH, "suboptimality": 1e-3}),
    ("fedglb-ucb", {"sync_threshold": 0.5, "link": "poisson", "solver": "newton", "arm_bound": LENGTH}),
    ("fedglb-ucb-3", {"rounds_of_update": 7, "link": "identity"}),
    ("async-linucb-am", {"shared_features": True, "upload_threshold": 1.0, "download_threshold": 1.0}),
    ("async-linucb-am", {"global_dimension": 1, "upload_threshold": 1.0, "download_threshold": 1.0}),
    *(
        (name, {"upload_threshold": 1.05, "precision": precision, "welcome": True})
        for name in ("async-linucb", "fedlinucb", "lean-linucb")
        for precision in ("float32", "float16")
    ),
    ("lean-linucb", {"delivery": "upload", "upload_threshold": 1.05, "download_threshold": 1.05}),
    ("lean-linucb", {"delivery": "push", "upload_threshold": 1.0, "download_threshold": 1.0}),
    ("sync-linucb", {"sync_threshold": 0.2, "precision": "float16"}),
    ("private-linucb", {**needed("private-linucb"), "schedule": "own-count", "mechanism": "tree", "releases": 5}),
    ("private-linucb", {**needed("private-linucb"), "epsilon": 0.5, "exploration": "thompson", "growth": 1.0}),
    ("fldb-ogd", {"period": 4}),
    ("fldb-ogd", {"period": 3, "average_gradient": True}),
    ("fldb-gd", {"solver": "gradient"}),
    ("fedego-lasso", {"forced_penalty": 0.0, "unit": 2}),
    ("fedego-lasso", {"forced_penalty": 2.0}),
]
NEURAL = [
    ("fn-ucb-less", {"width": 4, "diagonal": True, "weight": "theory"}),
    ("fn-ucb-less", {"width": 4, "initialisation": "normal", "regulariser": "decay"}),
    ("fn-ucb", {"width": 4, "depth": 2, "precision": "float64", "train_from": "average", "sync_threshold": 0.5}),
]


def turns_of(name: str, rounds: int, seed: int, clients: int = CLIENTS) -> Turns:
    """Arms of length 0, of exactly LENGTH and between; rewards of exactly REWARD, 0 and between, of either sign."""
    algorithm = fb.algorithms[name]
    rng = np.random.default_rng([seed, 2])
    count = rounds * clients
    shape = (count, DIMENSION) if algorithm.shares_context else (count, ARMS, DIMENSION)
    features = rng.standard_normal(shape)
    lengths = rng.choice([0.0, 0.01, 1.0, LENGTH, LENGTH, LENGTH], shape[:-1])
    features *= (lengths / np.linalg.norm(features, axis=-1))[..., np.newaxis]
    if algorithm.duels:
        outcomes = Duels(rng.standard_normal((count, ARMS)), rng.random(count))
    else:
        outcomes = Rewards(rng.choice([-REWARD, 0.0, 0.5, REWARD, REWARD], (count, ARMS)))
    return Turns(np.tile(np.arange(clients), rounds), features, outcomes)


class HonestRun:
    """Sites in one cohort, and a coordinator to which every upload goes as bytes; `upload` may be overridden."""

    def __init__(self, name, rounds, seed=0, limits=EXACT, clients=CLIENTS, **parameters):
        parameters = parameters or TALKATIVE.get(name, {}) or needed(name)
        horizon = rounds if fb.algorithms[name].acts_in_rounds else rounds * clients
        self.charter = Charter.named(name, Setting(clients, ARMS, DIMENSION, horizon), **parameters)
        self.turns = turns_of(name, rounds, seed, clients)
        self.clients = ClientNode(self.charter.build().clients, clients)
        self.clients.epoch = 1
        self.server = coordinator(limits, self.charter)
        self.streams = ClientStreams(seed)
        self.noise = ReleaseNoise(seed)
        self.refused: list[str] = []
        self.kinds: set[str] = set()

    def play(self):
        side = self.clients.side
        size = self.clients.clients
        at_once = size if side.cadence is Cadence.ROUND else 1
        for start in range(0, len(self.turns), at_once):
            now = slice(start, start + at_once)
            who, features = self.turns.client[now], self.turns.features[now]
            self.noise.supply(self.clients)
            self.carry(self.clients.ask(who), float(start))
            choice = self.clients.decide(who, features, self.streams.normals(who, side.draws)).choices
            seen = Observations(features, choice, self.turns.outcomes.feedback(now, choice))
            self.carry(self.clients.learn(who, seen), float(start))
        return self

    def carry(self, uploads, now):
        queue = list(uploads)
        for envelope in queue:  # the list grows while it is read
            for frame in envelope.frames():
                self.upload(frame, now)
            for _, data in self.server.commit():
                download = Frame.from_bytes(data)
                if download.kind is Kind.DOWNLOAD:
                    queue += self.clients.receive(Envelope.of(download, decode(download.body)))

    def upload(self, frame, now):
        self.kinds.add(decode(frame.body).kind)
        verdict = self.server.receive(frame.to_bytes(), now, frame.client)
        if verdict.reason:
            self.refused.append(verdict.reason)
