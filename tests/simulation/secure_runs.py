"""Faulty runs of a federation whose sums are aggregated securely, and what must hold after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.charter import Charter
from fedbandit.secure.gathering import NONE, READY
from fedbandit.secure.member import IDLE
from fedbandit.simulation.faults.run import FAULTS, FaultyRun
from samples.purses import KeyedIdentity
from simulation.checkers import (
    honest_uploads_are_not_refused,
    no_number_is_used_twice,
    no_repeated_reward_is_new,
    no_site_knows_more_than_the_coordinator,
    the_log_gives_the_same_state,
    versions_only_rise,
)
from simulation.tagged import tagged_setting, tagged_turns, times_counted

TURNS, SITES = 40, 5
ROUNDS, LASSO_SITES = 16, 4
KEEPING = {name: weight for name, weight in FAULTS.items() if name not in ("restore", "lose_disk")}


class AttendedRun(FaultyRun):
    """A run whose operator starts a site again when he is told that a question of it was put aside."""

    def heal(self) -> None:
        try:
            super().heal()
        except AssertionError:
            told = [each for each in self.coordinator.node.concerns if "start the site again" in each.text]
            if not told:
                raise
            for each in told:
                self.crash(self.sites[each.site])
            super().heal()


def lasso_run(seed: int, **how: Any) -> FaultyRun:
    """Run one schedule of estimates that are averaged, which are not sums of observations."""
    count, rng = ROUNDS * LASSO_SITES, np.random.default_rng([seed, 78])
    charter = Charter.named("fedego-lasso", Setting(LASSO_SITES, 2, 3, ROUNDS), smallest_cohort=3)
    rewards = Rewards(rng.standard_normal((count, 2)))
    turns = Turns(np.tile(np.arange(LASSO_SITES), ROUNDS), rng.standard_normal((count, 3)), rewards)
    return ended(AttendedRun(charter, turns, seed, client_node=secure_sites(seed), **how).run())


def lasso_amiss(run: FaultyRun) -> list[str]:
    """Return all that is amiss with such a run, in words: what does not depend on sums."""
    if run.coordinator.node.accounts.aside:  # it is for the checkers of all runs to tell of that
        return []
    return [f"{checker.__name__}: {finding}" for checker in CHECKERS[1:] for finding in checker(run)]


def secure_sites(seed: int, kind: type[DurableClient] = DurableClient) -> Callable[..., DurableClient]:
    """Return what makes sites that sign their keys, which are drawn by a seed."""
    rng = stream(seed, "secrets")

    def site(of: Charter, number: int, **more: Any) -> DurableClient:
        node = kind(of, number, **more)
        node.identity, node.draw = KeyedIdentity(number), rng.bytes
        return node

    return site


def secure_run(seed: int, kind: type[DurableClient] = DurableClient, **how: Any) -> FaultyRun:
    """Run one schedule."""
    threshold = (0.5, 20.0)[seed % 2]
    charter = Charter.named("sync-linucb", tagged_setting(TURNS, SITES), smallest_cohort=3, sync_threshold=threshold)
    return ended(
        FaultyRun(charter, tagged_turns(seed, TURNS, SITES), seed, client_node=secure_sites(seed, kind), **how).run()
    )


def ended(run: FaultyRun) -> FaultyRun:
    """Give up a sum that waits for what was lost with disks, as an operator does."""
    if run.coordinator.node.waits_beyond_deadlines() is not None and set(run.history.steps) & {"restore", "lose_disk"}:
        run.coordinator.node.abandon(run.now)
        run.heal()
    return run


def each_reward_counts_once(run: FaultyRun) -> Iterator[str]:
    """Every reward is in the server's sums or at its site, once; what a disk was lost with, at most once."""
    states = [site.node.life.node.state for site in run.sites]
    server = run.coordinator.node.node.state
    gram = server.within.gram + sum(state.within.rows.new_gram[0] for state in states)
    moment = server.within.moment + sum(state.within.rows.new_moment[0] for state in states)
    counted = times_counted(gram)
    has_lost = bool({"restore", "lose_disk"} & set(run.history.steps))
    for told in run.history.decisions:
        times = counted[told.turn]
        if times > 1 or times < 0 or (times != told.is_safe and not has_lost):
            yield f"turn {told.turn} is counted {times:g} times, not {told.is_safe:d}"
    arms = [(told, told.features[0, told.choice[0]]) for told in run.history.decisions]
    if (gram != sum(counted[told.turn] * np.outer(arm, arm) for told, arm in arms)).any():
        yield "sum x x^T is not what the decisions give"
    if (moment != sum(counted[told.turn] * told.reward * arm for told, arm in arms)).any():
        yield "sum x y is not what the decisions give"


def no_aggregation_is_left_open(run: FaultyRun) -> Iterator[str]:
    """When all is well again, nobody waits for anything, unless what a sum needs was lost with a disk."""
    gathering = run.coordinator.node.node.state.gathering
    has_nothing = {number for number, site in enumerate(run.sites) if not vars(site.node.life.node.state).get("turns")}
    if gathering.stage != NONE and not (gathering.stage == READY and set(gathering.awaited) & has_nothing):
        yield f"aggregation {gathering.name} is open in step {gathering.stage} and waits for {gathering.awaited}"
    for number, site in enumerate(run.sites):
        if site.node.life.node.state.member.stage != IDLE:
            yield f"site {number} takes part in aggregation {site.node.life.node.state.member.name} still"


CHECKERS = (
    each_reward_counts_once,
    no_aggregation_is_left_open,
    no_number_is_used_twice,
    no_repeated_reward_is_new,
    versions_only_rise,
    the_log_gives_the_same_state,
    no_site_knows_more_than_the_coordinator,
    honest_uploads_are_not_refused,
)


def amiss(run: FaultyRun) -> list[str]:
    """Return all that is amiss, in words."""
    if run.coordinator.node.accounts.aside:  # it is for the checkers of all runs to tell of that
        return []
    return [f"{checker.__name__}: {finding}" for checker in CHECKERS for finding in checker(run)]
