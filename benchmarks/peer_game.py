"""The game that libraries are measured at. It imports nothing of fedbandit: memory is that of one library alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.row import peak_kibibytes

if TYPE_CHECKING:
    from benchmarks.peer_models import Model, Settings
    from fedbandit.core.arrays import Floats, Ints

SITES, ARMS, DIMENSION, TURNS, NOISE = 10, 5, 5, 3000, 0.1
SEEDS, TUNING = range(5), 100


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


def _tuned(kind: type[Model], is_pooled: bool) -> list[Played]:
    """Return what the best settings of a library do in each world."""
    world = World.drawn(TUNING)
    chosen = min(kind.tried, key=lambda settings: play(kind, settings, world, is_pooled, TUNING).regret)
    return [play(kind, chosen, World.drawn(seed), is_pooled, seed) for seed in SEEDS]


def measured(kind: type[Model]) -> dict[str, Any]:
    """Measure a library in this process, which has loaded nothing else."""
    play(kind, kind.tried[0], World.drawn(TUNING + 1, turns=200), True, 0)  # compiles, and warms up
    alone, pooled = (_tuned(kind, is_pooled) for is_pooled in (False, True))
    return {
        "library": kind.package,
        "version": version(kind.package),
        "model": kind.name,
        "decision": min(each.decision for each in alone + pooled),
        "update": min(each.update for each in alone + pooled),
        "memory": peak_kibibytes() / 2**10,
        "alone": [each.regret for each in alone],
        "pooled": [each.regret for each in pooled],
        **kind.together(),
    }
