"""`python -m benchmarks peers`: fedbandit beside libraries that a user would pick instead, on the same turns.

A world that all of them can play: ten sites, five arms, and a context of five numbers that the arms share; the reward
is linear in it, differently for each arm and alike at all sites. Each library decides with a model of its own at each
site, and with one model to which all sites send their raw data; fedbandit also with sites that share summaries. Each
has the best of six settings, as found in two other worlds, for each of these ways.

Times are of a decision and of an update, in processor time, means over all turns of a world, the best of several
worlds; memory is the peak of the process, with its ten models. Each library runs in a process of its own, on one core.

When all libraries are there (`pip install '.[peers]'`) the numbers are stored in benchmarks/peers.csv, and the README's
table is made from them.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import fedbandit as fb
from benchmarks.peer_models import MODELS, Fedbandit, Model, Settings, blocks
from benchmarks.peer_table import Peer, print_table, store
from benchmarks.row import in_a_process
from fedbandit.core.arrays import Floats, Ints

SITES, ARMS, DIMENSION, TURNS, NOISE = 10, 5, 5, 3000, 0.1
SEEDS, TUNING = range(5), (100, 101)


@dataclass(frozen=True)
class World:
    """Who decides at each turn, in which context, and what each arm would earn."""

    site: Ints
    context: Floats
    mean: Floats
    reward: Floats

    @classmethod
    def drawn(cls, seed: int, turns: int = TURNS) -> World:
        """Return the turns of one seed."""
        rng = np.random.default_rng(seed)
        theta, context = (_unit(rng.standard_normal((count, DIMENSION))) for count in (ARMS, turns))
        mean = context @ theta.T
        return cls(rng.integers(SITES, size=turns), context, mean, mean + NOISE * rng.standard_normal(mean.shape))

    def regret(self, arms: Ints) -> float:
        """Return what these choices lost against the best ones."""
        return float((self.mean.max(axis=1) - self.mean[np.arange(len(arms)), arms]).sum())


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@dataclass(frozen=True)
class Played:
    """What a library made of a world: regret, and the microseconds of a decision and of an update."""

    regret: float
    decision: float
    update: float


def play(kind: type[Model], settings: Settings, world: World, is_pooled: bool, seed: int) -> Played:
    """Let a library decide all turns of a world, with a model a site or with one for all."""
    models = [kind(ARMS, DIMENSION, settings, seed + site) for site in range(1 if is_pooled else SITES)]
    contexts = [models[0].prepared(context) for context in world.context]
    arms, choosing, learning = np.empty(len(contexts), dtype=np.int64), 0.0, 0.0
    for turn, (context, site) in enumerate(zip(contexts, world.site.tolist(), strict=True)):
        model, rewards = models[0 if is_pooled else site], world.reward[turn].tolist()
        began = time.process_time()
        arm = model.choose(context)
        chosen = time.process_time()
        model.learn(context, arm, rewards[arm])
        learning += time.process_time() - chosen
        choosing += chosen - began
        arms[turn] = arm
    return Played(world.regret(arms), choosing / len(arms) * 1e6, learning / len(arms) * 1e6)


def _best(tried: Sequence[Settings], regret: Callable[[Settings, int], float]) -> Settings:
    """Return the settings with the least regret in the worlds that are for that."""
    return min(tried, key=lambda settings: sum(regret(settings, seed) for seed in TUNING))


def _tuned(kind: type[Model], is_pooled: bool) -> list[Played]:
    """Return what the best settings of a library do in each world."""
    best = _best(kind.tried, lambda settings, seed: play(kind, settings, World.drawn(seed), is_pooled, seed).regret)
    return [play(kind, best, World.drawn(seed), is_pooled, seed) for seed in SEEDS]


def _federated() -> tuple[list[float], float, float]:
    """Return the regrets of sites that share summaries, the mean of their megabytes, and the microseconds of a turn."""

    def run(seed: int, settings: Settings) -> tuple[float, float, float]:
        world = World.drawn(seed)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "turns.npz"
            features = blocks(world.context, ARMS)
            np.savez(path, client=world.site, arms=features, reward=world.reward, mean=world.mean)
            recorded = fb.environment("recorded", path=str(path))
            began = time.process_time()
            found = fb.run("lean-linucb", recorded, seed=seed, **settings)
            spent = time.process_time() - began
        return float(found.regret[-1]), float(found.bytes[-1]) / 1e6, spent / TURNS * 1e6

    best = _best(Fedbandit.tried, lambda settings, seed: run(seed, settings)[0])
    regrets, megabytes, microseconds = zip(*(run(seed, best) for seed in SEEDS), strict=True)
    return list(regrets), float(np.mean(megabytes)), min(microseconds)


def measured(kind: type[Model]) -> Peer:
    """Measure a library in this process."""
    play(kind, kind.tried[0], World.drawn(102, turns=200), True, 0)  # compiles, and warms up
    alone, pooled = (_tuned(kind, is_pooled) for is_pooled in (False, True))
    regrets, megabytes, turn = _federated() if kind is Fedbandit else (None, None, None)
    return Peer(
        library=kind.package,
        version=version(kind.package),
        model=kind.name,
        decision=min(each.decision for each in alone + pooled),
        update=min(each.update for each in alone + pooled),
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
        alone=[each.regret for each in alone],
        pooled=[each.regret for each in pooled],
        federated=regrets,
        megabytes=megabytes,
        turn=turn,
    )


def in_its_process(kind: type[Model]) -> Peer:
    """Measure a library in a process of its own."""
    code = f"import json; from benchmarks import peer_models, peers; kind = peer_models.{kind.__name__};"
    found = in_a_process(code + "print(json.dumps(vars(peers.measured(kind))))")
    return Peer(**json.loads(found.stdout.splitlines()[-1]))


def main(kinds: Sequence[type[Model]] = MODELS, measure: Callable[[type[Model]], Peer] = in_its_process) -> int:
    """Measure each library that is there, print the table, and store it if none is missing."""
    missing = [kind for kind in kinds if find_spec(kind.module) is None]
    for kind in missing:
        print(f"{kind.package} is not installed: pip install '.[peers]'")
    found = [measure(kind) for kind in kinds if kind not in missing]
    print_table(found)
    if missing:
        print("nothing is stored: benchmarks/peers.csv is written when all of them are installed")
    else:
        store(found)
    return 0
