"""Faulty runs of each family whose sums are aggregated securely, in which every turn leaves a mark in a sum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import fedbandit as fb
from fedbandit.core.turns import Duels, Turns
from fedbandit.kernels.glm.kept_data import gram_of_each
from fedbandit.protocol.charter import Charter
from fedbandit.secure.messages import Keys
from fedbandit.secure.parts import WHO
from fedbandit.simulation.faults.history import RewardedDecision
from fedbandit.simulation.faults.run import FaultyRun
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame
from simulation.secure_runs import CHECKERS, ended, secure_sites
from simulation.tagged import ARMS, DENSE, tagged_setting, tagged_turns

TURNS, SITES = 30, 4
TROUBLES, SILENCE = 3, 0.15  # how often sites fall silent at the end, and how likely it is in each exchange


class Family(NamedTuple):
    """An algorithm with parameters, and where the sums of x x^T, or of z z^T, are: at the coordinator and at a site."""

    name: str
    parameters: dict[str, Any]
    told: Callable[[Any], np.ndarray]
    untold: Callable[[Any], np.ndarray]


def _shared_information(state: Any) -> np.ndarray:
    return state.within.information - PRIOR * np.eye(len(state.within.information))


def _new_observations(state: Any) -> np.ndarray:
    kept = state.within.kept
    return gram_of_each(kept, WHO, state.within.shared.called, kept.length)[0]


PRIOR = 4.0  # ridge / curvature, of duels
DUELS = {"ridge": 1.0, "curvature": 0.25}
ONLINE = _shared_information, lambda state: state.within.information[0]
GRADIENT = _shared_information, lambda state: state.within.new[0]
GLM = lambda state: state.within.gram + state.pending, _new_observations
FAMILIES = {
    "fldb-ogd": Family("fldb-ogd", DUELS, *ONLINE),
    "fldb-ogd, 3 duels": Family("fldb-ogd", DUELS | {"period": 3, "smallest_upload": 3}, *ONLINE),
    "fldb-gd": Family("fldb-gd", DUELS | {"solver": "gradient", "inner_steps": 3}, *GRADIENT),
    "fldb-gd, 3 duels": Family("fldb-gd", DUELS | {"smallest_upload": 3}, *GRADIENT),
    "fedglb-ucb": Family("fedglb-ucb", {"sync_threshold": 0.1, "solver": "newton"}, *GLM),
    "fedglb-ucb, 3 turns": Family(
        "fedglb-ucb", {"sync_threshold": 0.1, "solver": "newton", "smallest_upload": 3}, *GLM
    ),
    "fedglb-ucb-1": Family("fedglb-ucb-1", {"rounds_of_update": 20, "solver": "newton"}, *GLM),
    "fedglb-ucb-3": Family("fedglb-ucb-3", {"rounds_of_update": 40}, *GLM),
}


def marked_turns(name: str, seed: int) -> Turns:
    """Turns in which arm k of turn t has k in place t, so that two of them differ there; for rewards, all have 1."""
    turns = tagged_turns(seed, TURNS, SITES)
    if not fb.algorithms[name].duels:
        return turns
    turns.features[np.arange(TURNS), :, DENSE + np.arange(TURNS)] = np.arange(ARMS)
    rng = np.random.default_rng([seed, 79])
    return Turns(turns.client, turns.features, Duels(rng.standard_normal((TURNS, ARMS)), rng.random(TURNS)))


class LosingRun(FaultyRun):
    """A run at whose end, when nothing else goes wrong, sites fall silent in the middle of rounds of many exchanges."""

    troubles, has_lost = TROUBLES, False

    def is_at_rest(self, asked: list[bytes]) -> bool:
        """Tell whether there is nothing left to do, if nothing was lost since sites were asked to send all."""
        has_lost, self.has_lost = self.has_lost, False
        return super().is_at_rest(asked) and not has_lost

    def _carry_all(self) -> None:
        for _ in range(5000):
            if not self.wire:
                return
            frames, self.wire = self.wire, []
            silent = self._silent()
            for data in frames:
                if Frame.from_bytes(data).client not in silent:
                    self.carry(data)
            for host in self.hosts:
                self.commit(host)
            if silent:
                self._deadline()
                self.commit(self.coordinator)
        raise AssertionError(f"seed {self.seed}: the exchange does not end")

    def _silent(self) -> set[int]:
        """Return sites of which every frame is lost now: none, or one or two after which the deadline strikes."""
        if not self.troubles or self.rng.random() > SILENCE:
            return set()
        self.troubles -= 1
        self.has_lost = True
        return set(self.rng.permutation(SITES)[: 1 + self._pick(2)].tolist())


def family_run(family: str, seed: int, **how: Any) -> FaultyRun:
    """Run one schedule."""
    name, parameters, _, _ = FAMILIES[family]
    charter = Charter.named(name, tagged_setting(TURNS, SITES), smallest_cohort=3, **parameters)
    return ended(LosingRun(charter, marked_turns(name, seed), seed, client_node=secure_sites(seed), **how).run())


def mark(told: RewardedDecision) -> np.ndarray:
    """Return x of a reward, or z of a duel but for its sign."""
    arms = told.features[0][np.atleast_1d(told.choice[0])]
    return arms[0] if len(arms) == 1 else arms[0] - arms[1]


def each_observation_counts_once(family: str, run: FaultyRun) -> Iterator[str]:
    """Every observation is in the coordinator's sums or at its site, once; what a disk was lost with, at most once."""
    _, _, told_of, untold_of = FAMILIES[family]
    found = told_of(run.coordinator.node.node.state)
    found = found + sum(untold_of(site.node.life.node.state) for site in run.sites)
    waiting = {name for site in run.sites for name in site.node.life.waiting}  # until the round is over
    has_lost = bool({"restore", "lose_disk"} & set(run.history.steps))
    expected = np.zeros_like(found)
    for told in run.history.decisions:
        vector = mark(told)
        place = DENSE + told.turn
        if not vector[place]:  # a duel of an arm with itself
            continue
        times = found[place, place] / vector[place] ** 2
        expected = expected + times * np.outer(vector, vector)
        times += told.decision in waiting
        if times not in (0, 1) or (times != told.is_safe and not has_lost):
            yield f"turn {told.turn} is counted {times:g} times, not {told.is_safe:d}"
    if (found != expected).any():
        yield "the sum of outer products is not what the decisions give"


def nothing_rests_on_too_few(run: FaultyRun) -> Iterator[str]:
    """Whoever contributes to a sum, be it taken in or not, does so with as many observations as were agreed on."""
    least = run.charter.algorithm.smallest_upload
    for (site, _, number), bodies in run.history.uploads.items():
        for message in map(decode, bodies):
            if isinstance(message, Keys) and 0 < message.observations[0] < least:
                yield f"upload {number} of site {site} is to contribute {message.observations[0]} observations"


def family_amiss(family: str, run: FaultyRun) -> list[str]:
    """Return all that is amiss, in words."""
    if run.coordinator.node.accounts.aside:  # it is for the checkers of all runs to tell of that
        return []
    found = [f"each_observation_counts_once: {finding}" for finding in each_observation_counts_once(family, run)]
    found += [f"nothing_rests_on_too_few: {finding}" for finding in nothing_rests_on_too_few(run)]
    return found + [f"{checker.__name__}: {finding}" for checker in CHECKERS[1:] for finding in checker(run)]
