"""A hundred worlds that advice is judged in: is the advised setting nearly the best, and are its bytes as predicted?

    python -m benchmarks.advice_worlds [SEED [FIRST LAST]]     # judge worlds, keep what was found, print the table

A world has six kinds in turn, sizes and numbers by its own seed. Its log is made by an old policy that chooses at
random half of the time and by a bad guess of the parameter else. The truth is the mean over 30 fresh runs: other
arrivals, other arms and other noise, from the same parameters. The best is the least of every family, fitted to the
budget on the truth, and of every site alone; all with the smallest upload of the advice. What is kept of a world is
used again: delete `results/advice-worlds` after a change of advice.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.advice.advise import advise
from fedbandit.advice.families import Family, families
from fedbandit.advice.idle import idle_bytes_a_day, pause_for
from fedbandit.advice.model.worlds import LogWorld
from fedbandit.advice.thresholds import Curve
from fedbandit.advice.trials import alone
from fedbandit.core.algorithm import Algorithm
from fedbandit.core.arrays import Floats
from fedbandit.core.turns import Rewards, Turns
from fedbandit.features.layout import message_bytes
from fedbandit.logs.log import Log
from fedbandit.results.provenance import commit
from fedbandit.simulation.in_process import simulate

KINDS = ("homogeneous", "grouped", "personal", "skewed", "logistic", "drifting")
WORLDS, ROWS_OF_LOG, DAYS = 100, 2000, 1.0
MESSAGES = (5, 25)  # of full precision a site, that the budget of a world is worth
FRESH_RUNS, FIRST_RUNS, FEW = 30, 3, 4
PARTS = (1.0, 0.95, 0.85)  # of the budget, that the best is fitted to until it is within
SEED = 16_000  # of the worlds that advice was judged by, once: docs/advice.md says what came of it
FOLDER = Path("results") / "advice-worlds"


class World:
    """One world: its kind, sizes and parameters."""

    def __init__(self, number: int, seed: int = SEED) -> None:
        rng = np.random.default_rng([seed, number])
        self.number, self.seed = number, seed
        self.kind = KINDS[number % len(KINDS)]
        self.sites, self.arms = int(rng.integers(6, 16)), int(rng.integers(3, 8))
        self.dimension = int(rng.integers(4, 9))
        self.noise = float(rng.choice([0.1, 0.2, 0.4]))
        self.theta = self._parameters(rng)  # (times, sites, d): of each site in each part of the time
        self.arrivals = self._arrivals(rng)
        self.guess = self.theta.mean(axis=(0, 1)) + 0.5 * rng.standard_normal(self.dimension)
        self._fresh: dict[int, LogWorld] = {}
        self._known: dict[tuple[Algorithm, int], tuple[float, float]] = {}

    def _parameters(self, rng: np.random.Generator) -> Floats:
        times = 3 if self.kind == "drifting" else 1
        theta = np.repeat(rng.standard_normal((times, 1, self.dimension)), self.sites, axis=1)
        if self.kind == "grouped":
            theta = rng.standard_normal((1, 3, self.dimension))[:, rng.integers(3, size=self.sites)]
        theta /= np.linalg.norm(theta, axis=2, keepdims=True)
        if self.kind == "personal":
            theta[0, :, -2:] += rng.choice([0.1, 0.3]) * rng.standard_normal((self.sites, 2))
        return theta

    def _arrivals(self, rng: np.random.Generator) -> Floats:
        share = 0.7 ** np.arange(self.sites) if self.kind == "skewed" else np.ones(self.sites)
        return rng.permutation(share / share.sum())

    @property
    def budget(self) -> float:
        """Return the bytes a day of the budget, with idle talk."""
        sent = MESSAGES[self.number // len(KINDS) % 2] * self.sites * message_bytes(self.dimension) / DAYS
        return sent / 0.9  # idle talk is a tenth at most

    def turns(self, run: int) -> Turns:
        """Return the turns of one run."""
        rng = np.random.default_rng([self.seed, self.number, 1 + run])
        client = rng.choice(self.sites, size=ROWS_OF_LOG, p=self.arrivals)
        client[: self.sites] = np.arange(self.sites)
        arms = rng.standard_normal((ROWS_OF_LOG, self.arms, self.dimension))
        arms[:, :, 0] = np.sqrt(self.dimension)  # a constant
        arms /= np.linalg.norm(arms, axis=2, keepdims=True)
        time = np.arange(ROWS_OF_LOG) * len(self.theta) // ROWS_OF_LOG
        mean = np.einsum("tkd,td->tk", arms, self.theta[time, client])
        if self.kind == "logistic":
            mean = 1 / (1 + np.exp(-4 * mean))
            return Turns(client, arms, Rewards((rng.random(mean.shape) < mean).astype(float), mean))
        return Turns(client, arms, Rewards(mean + self.noise * rng.standard_normal(mean.shape), mean))

    def log(self) -> Log:
        """Return the log of an old policy."""
        turns = self.turns(-1)
        rng = np.random.default_rng([self.seed, self.number, 0])
        arms, outcomes = turns.features, turns.outcomes
        guessed = (arms @ self.guess).argmax(axis=1)
        choice = np.where(rng.random(ROWS_OF_LOG) < 0.5, rng.integers(self.arms, size=ROWS_OF_LOG), guessed)
        time = np.linspace(0, DAYS * 86_400, ROWS_OF_LOG)
        reward = outcomes.reward(slice(None), choice)
        return Log.from_arrays(site=turns.client, arms=arms, choice=choice, reward=reward, time=time)

    def true(self, algorithm: Algorithm, runs: int) -> tuple[float, float]:
        """Return the mean regret and bytes over fresh runs."""
        regret, spent = np.mean([self._run(algorithm, run) for run in range(runs)], axis=0)
        return float(regret), float(spent)

    def _run(self, algorithm: Algorithm, run: int) -> tuple[float, float]:
        if run not in self._fresh:
            self._fresh[run] = LogWorld(whole=self.turns(run))
        if (algorithm, run) not in self._known:
            trace, _ = simulate(algorithm, self._fresh[run], ROWS_OF_LOG)
            self._known[algorithm, run] = float(trace.regret.sum()), float(trace.ledger.bytes)
        return self._known[algorithm, run]


def best(world: World, noise: float, smallest_upload: int) -> tuple[float, str]:
    """Return the least true regret of every family, fitted to the budget on the truth, and whose it is.

    One that is over the budget in the mean of all runs, for it was fitted in a few, is fitted to less of it.
    """
    sites = world.sites
    idle = idle_bytes_a_day(sites, pause_for(world.budget, sites, has_features=False), has_features=False)
    allowed = (world.budget - idle) * DAYS
    curves = {each: Curve(partial(_bytes, world, each)) for each in families(noise, smallest_upload)}

    def fitted(family: Family, part: float) -> Algorithm:
        return family.at(curves[family].threshold_for(part * allowed))

    few = sorted(curves, key=lambda each: world.true(fitted(each, 1.0), FIRST_RUNS)[0])[:FEW]
    regrets = {"local-linucb": world.true(alone(noise).algorithm, FRESH_RUNS)[0]}
    for family in few:
        found = (world.true(fitted(family, part), FRESH_RUNS) for part in PARTS)
        within = next((regret for regret, spent in found if spent <= allowed), math.inf)
        regrets[f"{family.name} {family.setting}"] = within
    name = min(regrets, key=lambda each: regrets[each])
    return regrets[name], name


def _bytes(world: World, family: Family, threshold: float) -> float:
    return world.true(family.at(threshold), FIRST_RUNS)[1]


def judged(number: int, seed: int = SEED) -> dict[str, Any]:
    """Return how advice did in a world; what was found before is kept."""
    path = FOLDER / str(seed) / f"{number}.json"
    if path.exists():
        return dict(json.loads(path.read_text(encoding="utf-8")))
    world = World(number, seed)
    advice = advise(world.log(), budget=world.budget)
    regret, spent = world.true(advice.choice.candidate.algorithm, FRESH_RUNS)
    least, whose = best(world, advice.checks.noise, advice.uploads.observations)
    without = world.true(alone(advice.checks.noise).algorithm, FRESH_RUNS)[0]
    found = {
        "kind": world.kind, "advised": advice.point.candidate.name, "setting": advice.point.candidate.setting,
        "regret": regret, "best": least, "best_is": whose, "alone": without, "bytes": spent,
        "predicted_bytes": advice.point.bytes, "allowed": world.budget * DAYS, "sure": advice.point.sure,
        "predicted_regret": advice.point.regret, "band": advice.point.regret_band,
        "bytes_band": advice.bytes_band, "doubts": advice.doubts, "warnings": advice.checks.warnings,
        "commit": commit(),
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return found


def is_close(found: dict[str, Any]) -> bool:
    return bool(found["regret"] <= 1.1 * found["best"])


def bytes_are_right(found: dict[str, Any]) -> bool:
    return bool(abs(found["bytes"] - found["predicted_bytes"]) <= 0.1 * found["predicted_bytes"])


JUDGES = {"setting": is_close, "bytes": bytes_are_right}  # of what advice may be unsure


def called_sure(found: dict[str, Any]) -> list[str]:
    """Return of what the advice is wrong without having said that it is unsure of it."""
    return [what for what, is_right in JUDGES.items() if not is_right(found) and what not in found["doubts"]]


def unsure_and_right(found: dict[str, Any]) -> list[str]:
    """Return of what the advice said that it is unsure, though it is right."""
    return [what for what, is_right in JUDGES.items() if is_right(found) and what in found["doubts"]]


def everything() -> Iterator[dict[str, Any]]:
    """Judge all worlds."""
    return (judged(number) for number in range(WORLDS))


def show(some: list[dict[str, Any]]) -> None:
    """Print a line for each kind of world, and one for each advice that is wrong."""
    head = ("kind", "worlds", "regret within 10 %", "worst", "wrong setting, called sure", "right setting, unsure",
            "bytes within 10 %", "wrong bytes, called sure", "right bytes, unsure", "in the band of bytes",
            "within the budget", "in the band of regret", "alone / advised", "sure of both")  # fmt: skip
    print("| " + " | ".join(head) + " |")
    for kind in (*KINDS, "all"):
        own = [each for each in some if kind in (each["kind"], "all")]
        if own:
            print("| " + " | ".join(map(str, (kind, len(own), *_counts(own)))) + " |")
    for number, each in enumerate(some):
        if not all(is_right(each) for is_right in JUDGES.values()):
            print(f"world {number}, {each['kind']}: regret {each['regret'] / each['best']:.3f} of the best, bytes "
                  f"{each['bytes'] / max(each['predicted_bytes'], 1):.3f} of those predicted, unsure of "
                  f"{' and '.join(each['doubts']) or 'nothing'}")  # fmt: skip


def _counts(own: list[dict[str, Any]]) -> Iterator[object]:
    def within(value: str, band: str) -> int:
        return sum(each[band][0] <= each[value] <= each[band][1] for each in own)

    for what, is_right in JUDGES.items():
        yield sum(map(is_right, own))
        if what == "setting":
            yield f"{max(each['regret'] / each['best'] for each in own):.2f}"
        yield sum(what in called_sure(each) for each in own)
        yield sum(what in unsure_and_right(each) for each in own)
    yield within("bytes", "bytes_band")
    yield sum(each["bytes"] <= 1.05 * each["allowed"] for each in own)
    yield within("regret", "band")
    yield f"{math.exp(np.mean([np.log(each['alone'] / each['regret']) for each in own])):.1f}"
    yield sum(not each["doubts"] for each in own)


if __name__ == "__main__":
    chosen = int(sys.argv[1]) if len(sys.argv) > 1 else SEED
    first, last = (int(each) for each in sys.argv[2:4]) if len(sys.argv) > 3 else (0, WORLDS)
    show([judged(number, chosen) for number in range(first, last)])
