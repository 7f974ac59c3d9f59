"""What must hold after a faulty run, whatever went wrong. Each checker yields what it finds amiss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.simulation.faults.history import NO_VERSION
from fedbandit.simulation.faults.run import FaultyRun
from fedbandit.simulation.replay import replay
from fedbandit.wire import decode
from fedbandit.wire.state import encode_state
from simulation.tagged import differ, sums_of, sums_told, times_counted


def amiss(run: FaultyRun) -> list[str]:
    """Return all that is amiss, in words.

    An upload that was being tried whenever the power went, three times, is taken for the cause of it and put aside:
    such a schedule shows no more than that the operator is told.
    """
    node = run.coordinator.node
    if node.accounts.aside:
        return [] if "frame-put-aside" in {each.kind for each in node.concerns} else ["a frame is put aside in silence"]
    return [f"{checker.__name__}: {finding}" for checker in CHECKERS for finding in checker(run)]


def weights(run: FaultyRun) -> np.ndarray:
    """Return what one observation of each turn counts in sums as of the last epoch, where they fade."""
    weight = np.ones(len(run.turns))
    for told in run.history.decisions:
        weight[told.turn] = run.charter.algorithm.discount ** (run.epoch - told.epoch)
    return weight


def faded(run: FaultyRun, node: Any) -> float:
    """Return what sums of a node count as of the last epoch."""
    return 1.0 if node.clock is None else run.charter.algorithm.discount ** (run.epoch - node.clock)


def server_sums(run: FaultyRun) -> tuple[np.ndarray, np.ndarray]:
    """Return what the server has taken in, as of the last epoch."""
    node = run.coordinator.node.node
    gram, moment = sums_of(node.state)
    return faded(run, node) * gram, faded(run, node) * moment


def each_reward_counts_once(run: FaultyRun) -> Iterator[str]:
    """Every reward that a site said was safe is in the server's sums or in what its site has yet to send, once."""
    nodes = [site.node.life.node for site in run.sites]
    total_gram, total_moment = server_sums(run)
    total_gram = total_gram + sum(faded(run, node) * node.state.rows.new_gram[0] for node in nodes)
    total_moment = total_moment + sum(faded(run, node) * node.state.rows.new_moment[0] for node in nodes)
    weight = weights(run)
    counted = times_counted(total_gram, weight)
    expected = np.zeros_like(counted)
    for told in run.history.decisions:
        expected[told.turn] = min(1, counted[told.turn]) if told.may_be_lost else told.is_safe
    for turn in np.flatnonzero(counted != expected):
        yield f"turn {turn} is counted {counted[turn]:g} times, not {expected[turn]:g}"
    gram, moment = np.zeros_like(total_gram), np.zeros_like(total_moment)
    for told in run.history.decisions:
        arm, share = told.features[0, told.choice[0]], counted[told.turn] * weight[told.turn]
        gram = gram + share * np.outer(arm, arm)
        moment = moment + share * told.reward * arm
    is_all_there = not {"restore", "lose_disk"} & set(run.history.steps)
    if differ(run.charter, total_gram, gram, is_all_there=is_all_there):
        yield "sum x x^T is not what the decisions give"
    if differ(run.charter, total_moment, moment, is_all_there=is_all_there):
        yield "sum x y is not what the decisions give"


def no_acknowledged_upload_is_lost(run: FaultyRun) -> Iterator[str]:
    """What is in an upload that was acknowledged is in the server's sums."""
    counted = times_counted(server_sums(run)[0], weights(run))
    least = run.charter.algorithm.discount**run.epoch  # that a turn counts anywhere
    for (site, epoch, number), bodies in run.history.uploads.items():
        if any(promise[:2] == (site, epoch) and promise[2] >= number for promise in run.history.promised):
            for body in bodies:
                sums = sums_told(decode(body))
                turns = () if sums is None else np.flatnonzero(times_counted(sums[0], least))
                for turn in turns:
                    if counted[turn] != 1:
                        yield f"upload {number} of site {site} was acknowledged; turn {turn} counts {counted[turn]:g}"


def no_number_is_used_twice(run: FaultyRun) -> Iterator[str]:
    """Nothing is ever sent under the number of something else."""
    for name, sent in (("upload", run.history.uploads), ("download", run.history.downloads)):
        for number, bodies in sent.items():
            if len(bodies) > 1:
                yield f"{len(bodies)} {name}s were sent under the number {number}"
    yield from (f"the name {name} was given to two decisions" for name in run.history.repeated_names)


def no_repeated_reward_is_new(run: FaultyRun) -> Iterator[str]:
    """A site that has said that a reward is safe does not take it for a new one later."""
    yield from (f"the reward of {name} was taken in again" for name in run.history.counted_again)


def every_site_ends_with_the_last_version(run: FaultyRun) -> Iterator[str]:
    """After healing a site has what the coordinator sent it last, and nothing is left to be sent."""
    latest = run.coordinator.node.postbox.latest
    for number, site in enumerate(run.sites):
        life = site.node.life
        envelope = latest[number][-1] if number in latest else None
        wanted = (0, 0) if envelope is None else (envelope.epoch, int(envelope.sequence))
        if life.version != wanted:
            yield f"site {number} has download {life.version}, not {wanted}"
        if life.outbox.frames:
            yield f"site {number} still has {len(life.outbox.frames)} uploads"
        if life.node.state.slot_of[0] >= 0:  # the download waits to be taken in at the next turn
            kept = life.node.state.shared.gram[life.node.state.slot_of[0]]
            since = 1.0 if envelope is None or envelope.clock is None else life.node.weight_of(envelope.clock)
            ridge = run.charter.algorithm.ridge
            if envelope is not None and (kept != since * envelope.message.sums(ridge)[0]).any():
                yield f"site {number} holds another snapshot than its last"


def versions_only_rise(run: FaultyRun) -> Iterator[str]:
    """No site takes in an older download after a newer one."""
    for number, versions in run.history.versions.items():
        last = NO_VERSION
        for version in versions:
            if version != NO_VERSION and version <= last:
                yield f"site {number} went from {last} to {version}"
            last = version


def the_log_gives_the_same_state(run: FaultyRun) -> Iterator[str]:
    """The coordinator's log, replayed in the in-process engine, gives the server's state bit for bit."""
    again = replay(run.charter, run.coordinator.disk.records())
    node = run.coordinator.node.node
    if encode_state(again.state) != encode_state(node.state) or again.clock != node.clock:
        yield "the state differs"


def no_site_knows_more_than_the_coordinator(run: FaultyRun) -> Iterator[str]:
    """No site ever shows that the journal, which is never lost, is an old one."""
    for entry in run.coordinator.disk.records():
        if ServerRecord.from_bytes(entry.data).what is RecordKind.RENEWED:
            yield "a new epoch of downloads was begun, though the journal was never lost"


def honest_uploads_are_not_refused(run: FaultyRun) -> Iterator[str]:
    """Nothing is refused but what comes from a life that was lost."""
    yield from (reason for _, reason in run.history.refused if "life that was lost" not in reason)


CHECKERS = (
    each_reward_counts_once,
    no_acknowledged_upload_is_lost,
    no_number_is_used_twice,
    no_repeated_reward_is_new,
    every_site_ends_with_the_last_version,
    versions_only_rise,
    the_log_gives_the_same_state,
    no_site_knows_more_than_the_coordinator,
    honest_uploads_are_not_refused,
)
