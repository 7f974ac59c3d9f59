"""What must hold after a run in which the charter was revised at random moments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedbandit.protocol.forms import Forms
from fedbandit.simulation.faults.revised import RevisedRun
from simulation import checkers
from simulation.tagged import DENSE, differ


def amiss(run: RevisedRun) -> list[str]:
    """Return all that is amiss, in words; of a frame that is put aside as in `checkers`."""
    if run.coordinator.node.accounts.aside:
        return checkers.amiss(run)
    return [f"{checker.__name__}: {finding}" for checker in CHECKERS for finding in checker(run)]


def all_have_the_last_revision(run: RevisedRun) -> Iterator[str]:
    node = run.coordinator.node
    for site in run.sites:
        agreed = site.node.life.agreed
        if agreed.revision != node.agreed.revision or site.node.charter != node.charter:
            yield f"site {site.number} has revision {agreed.count}, not {node.agreed.count}"
        if site.node.disagreement:
            yield f"site {site.number} disagrees: {site.node.disagreement}"
        if site.node.life.node.form != node.node.form:
            yield f"sums of site {site.number} have another form"


def nothing_waits(run: RevisedRun) -> Iterator[str]:
    latest = run.coordinator.node.postbox.latest
    for number, site in enumerate(run.sites):
        envelope = latest[number][-1] if number in latest else None
        wanted = (0, 0) if envelope is None else (envelope.epoch, int(envelope.sequence))
        if site.node.life.version != wanted:
            yield f"site {number} has download {site.node.life.version}, not {wanted}"
        if site.node.life.outbox.frames:
            yield f"site {number} still has {len(site.node.life.outbox.frames)} uploads"


def tags(forms: Forms, dimension: int) -> np.ndarray:
    """Where the mark of each turn stands in the present form."""
    numbers = forms.fitted(np.arange(1.0, dimension + 1.0)[np.newaxis], 0)[0]
    return np.array([int(np.flatnonzero(numbers == DENSE + 1 + turn)[0]) for turn in range(dimension - DENSE)])


def each_reward_counts_once(run: RevisedRun) -> Iterator[str]:
    """Sums of the coordinator and of sites are those over all arms as they are with the present features: with ==."""
    nodes, forms = [site.node.life.node for site in run.sites], Forms(run.coordinator.node.agreed)
    gram, moment = checkers.server_sums(run)
    gram = gram + sum(checkers.faded(run, node) * node.state.rows.new_gram[0] for node in nodes)
    moment = moment + sum(checkers.faded(run, node) * node.state.rows.new_moment[0] for node in nodes)
    weight = checkers.weights(run)
    counted = np.rint(np.diagonal(gram)[tags(forms, run.charter.setting.dimension)] / weight)
    expected_gram, expected_moment = np.zeros_like(gram), np.zeros_like(moment)
    for told in run.history.decisions:
        expected = min(1, counted[told.turn]) if told.may_be_lost else told.is_safe
        if counted[told.turn] != expected:
            yield f"turn {told.turn} is counted {counted[told.turn]:g} times, not {expected:g}"
        arm = forms.fitted(told.features[0, told.choice[0]], told.form)
        share = counted[told.turn] * weight[told.turn]
        expected_gram += share * np.outer(arm, arm)
        expected_moment += share * told.reward * arm
    is_all_there = not {"restore", "lose_disk"} & set(run.history.steps)
    if differ(run.charter, gram, expected_gram, is_all_there=is_all_there):
        yield "sum x x^T is not what the decisions give"
    if differ(run.charter, moment, expected_moment, is_all_there=is_all_there):
        yield "sum x y is not what the decisions give"


CHECKERS = (
    all_have_the_last_revision,
    nothing_waits,
    each_reward_counts_once,
    checkers.no_number_is_used_twice,
    checkers.no_repeated_reward_is_new,
    checkers.versions_only_rise,
    checkers.the_log_gives_the_same_state,
    checkers.no_site_knows_more_than_the_coordinator,
    checkers.honest_uploads_are_not_refused,
)
