"""What must hold after a run with a hostile site and operators' mistakes. Each checker yields what it finds amiss.

Honest sites that nobody touched lose nothing and count once, to the last digit. A mistake may cost what it must, and
only that: what a coordinator's old journal lacks; what two lives under one number say at once, if somebody is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from fedbandit.durable.coordinator.postbox import version
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.site_epochs import KEPT_EPOCHS
from fedbandit.simulation.faults.history import RewardedDecision
from fedbandit.simulation.faults.troubled import JUMPS, TroubledRun, numbers_in
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from simulation import checkers
from simulation.tagged import differ, rounding_of, sums_of, sums_told, times_counted

TWO_SITES, OTHER_CHARTER = "two-sites-one-number", "another-charter"
NOT_WHOLE, PUT_ASIDE = "uploads-missing", "frame-put-aside"
MOST_BYTES_OF_A_SITE = 40_000
LOSSES = {"restore", "lose_disk", "restore_untold", "clone", "restore_server", "begin_anew"}  # or what is had twice


def amiss(run: TroubledRun) -> list[str]:
    """Return all that is amiss, in words."""
    return [f"{checker.__name__}: {finding}" for checker in CHECKERS for finding in checker(run)]


def accepted(run: TroubledRun) -> Iterator[tuple[int, object]]:
    """Yield the uploads in the coordinator's log, as site and message."""
    for entry in run.coordinator.disk.records():
        record = ServerRecord.from_bytes(entry.data)
        if record.what is RecordKind.FRAME:
            frame = Frame.from_bytes(record.data)
            if frame.kind is Kind.UPLOAD:
                yield frame.client, decode(frame.body)


class Sums:
    """Where the rewards of a run are at its end: all sums are exact."""

    def __init__(self, run: TroubledRun) -> None:
        size = run.charter.setting.dimension
        self.run = run
        self.gram, self.moment = np.zeros((size, size)), np.zeros(size)  # of honest sites, at the coordinator
        self.all_gram, self.all_moment = np.zeros((size, size)), np.zeros(size)  # and of all, in the order of the log
        for site, message in accepted(run):
            if (sums := sums_told(message)) is not None:
                self.all_gram += sums[0]
                self.all_moment += sums[1]
                if site != run.hostile.number:
                    self.gram += sums[0]
                    self.moment += sums[1]
        self.rows = [site.node.life.node.state.rows for site in run.sites]
        self.at_coordinator = times_counted(self.gram)
        self.unsent = [times_counted(rows.new_gram[0]) for rows in self.rows]

    def put_aside(self, told: RewardedDecision) -> float:
        """How often a reward is in what its machine still holds: uploads to be sent, and refused ones."""
        outbox = self.run.sites[told.site].node.life.outbox
        frames = [Frame.from_bytes(data) for data in outbox.frames.values()]
        bodies = [frame.body for frame in frames if frame.kind is Kind.UPLOAD] + [each.body for each in outbox.refused]
        sums = [sums_told(decode(body)) for body in bodies]
        return sum(times_counted(each[0])[told.turn] for each in sums if each is not None)


def the_state_is_the_sum_of_what_was_taken_in(run: TroubledRun) -> Iterator[str]:
    sums, (gram, moment) = Sums(run), sums_of(run.coordinator.node.node.state)
    if (gram != sums.all_gram).any() or (moment != sums.all_moment).any():
        yield "the server's sums are not those of the uploads in its log"
    if not (np.isfinite(gram).all() and np.isfinite(moment).all()):
        yield "the server's sums are not finite"


def each_reward_counts_once_or_its_loss_is_known(run: TroubledRun) -> Iterator[str]:
    sums = Sums(run)
    forgotten = set(turns_of(run, run.history.forgotten))
    for told in run.history.decisions:
        number = run.sites[told.site].number
        at_coordinator, unsent = sums.at_coordinator[told.turn], sums.unsent[told.site][told.turn]
        is_owed = told.is_safe and not told.may_be_lost and told.turn not in forgotten
        total = at_coordinator + unsent
        is_shown = (number, TWO_SITES) in run.history.concerns
        most = 2 if told.may_count_twice and (is_shown or run.losses) else 1
        if number == run.stranger:
            if at_coordinator:
                yield f"turn {told.turn} of a site with another charter is counted"
            if is_owed and not unsent + sums.put_aside(told) and not (number in run.doubtful and is_shown):
                yield f"turn {told.turn} of a site with another charter is not at the site"
        elif number in run.doubtful:
            if at_coordinator > most or (is_owed and not total and not is_shown and not sums.put_aside(told)):
                yield f"turn {told.turn} of site {number}, of which there are two, is counted {at_coordinator:g} times"
        elif is_owed and not total and may_be_put_aside(run, number) and sums.put_aside(told):
            continue
        elif total > most or (is_owed and not total) or (total and not told.was_told):
            yield f"turn {told.turn} is counted {total:g} times, {at_coordinator:g} of them at the coordinator"


def honest_sums_are_what_the_decisions_give(run: TroubledRun) -> Iterator[str]:
    """To the last digit; where sums travel rounded, with what rounding left at the sites, if no mistake cost that."""
    sums = Sums(run)
    gram = sums.gram + sum(rows.new_gram[0] for rows in sums.rows)
    moment = sums.moment + sum(rows.new_moment[0] for rows in sums.rows)
    counted = sums.at_coordinator + sum(sums.unsent)
    expected_gram, expected_moment = np.zeros_like(gram), np.zeros_like(moment)
    for told in run.history.decisions:
        arm = told.features[0, told.choice[0]]
        expected_gram += counted[told.turn] * np.outer(arm, arm)
        expected_moment += counted[told.turn] * told.reward * arm
    outboxes = [site.node.life.outbox for site in run.sites]
    is_all_there = not LOSSES & set(run.history.steps) and not any(each.frames or each.refused for each in outboxes)
    for found, expected in ((gram, expected_gram), (moment, expected_moment)):
        if differ(run.charter, found, expected, is_all_there=is_all_there):
            yield "the sums of honest sites are not what their decisions give"


def may_be_put_aside(run: TroubledRun, site: int) -> bool:
    """Tell whether a site may have to list uploads as refused, though nothing was wrong with it.

    With clocks set back a lost life may have had a later one, and what it closed comes late. And an upload that was
    being tried whenever the power went, three times, is taken for the cause of it.
    """
    return "set_clock" in run.history.steps or (site, PUT_ASIDE) in run.history.concerns


def turns_of(run: TroubledRun, numbers: set[tuple[int, int, int]]) -> Iterator[int]:
    """Yield the turns whose rewards are in some uploads."""
    for number in numbers:
        for body in run.history.uploads.get(number, ()):
            if (sums := sums_told(decode(body))) is not None:
                yield from np.flatnonzero(times_counted(sums[0])).tolist()


def honest_uploads_are_not_refused(run: TroubledRun) -> Iterator[str]:
    listed = [(site.number, each.reason) for site in run.sites for each in site.node.life.outbox.refused]
    for site, reason in [*run.history.refused, *listed]:
        is_shown = "has stopped the coordinator" in reason and (site, PUT_ASIDE) in run.history.concerns
        if site not in {*run.doubtful, run.stranger} and "life that was lost" not in reason and not is_shown:
            yield f"of site {site} was refused: {reason}"


def every_site_ends_with_the_last_version(run: TroubledRun) -> Iterator[str]:
    latest = run.coordinator.node.postbox.latest
    for machine, site in enumerate(run.sites):
        life = site.node.life
        if site.number == run.stranger:
            continue
        if site.number in latest:
            envelope = latest[site.number][-1]
            if life.version != version(envelope):
                yield f"site {site.number} has {life.version}, not {version(envelope)}"
            known = run.history.bodies.get((machine, *life.version))  # None: it crashed when it had stored it
            body = next(frame.body for frame in envelope.frames() if frame.client == site.number)
            if known not in (None, body) and life.version == version(envelope):
                yield f"site {site.number} has another download under the number of its last"
        if life.outbox.frames:
            yield f"site {site.number} still has {len(life.outbox.frames)} uploads"


def downloads_are_finite(run: TroubledRun) -> Iterator[str]:
    for number, bodies in run.history.downloads.items():
        for body in bodies:
            message = decode(body)
            for name in message.shapes():
                if not np.isfinite(getattr(message, name)).all():
                    yield f"{name} of download {number} is not finite"


def what_a_hostile_site_brings_in_is_possible(run: TroubledRun) -> Iterator[str]:
    """Its uploads are taken in within the limits, as any other's: no more of them, and none that cannot be."""
    limits, total = run.limits, 0
    for site, message in accepted(run):
        if site == run.hostile.number and (sums := sums_told(message)) is not None:
            count, trace = int(message.observations[0]), float(np.trace(sums[0]))
            total += count
            most = (count + rounding_of(run.charter) * total) * limits.bounds.context**2
            finite = np.nan_to_num(sums[0], posinf=0.0, neginf=0.0)
            if not 0 <= trace <= most * 1.001 or np.linalg.eigvalsh(finite)[0] < -1e-6 * max(1.0, trace):
                yield f"an upload of {count} observations has the trace {trace:g}"
    if total > limits.observations_ahead + limits.observations_per_second * (run.clock + 2 * max(JUMPS)):
        yield f"{total} observations of a hostile site were taken in"


def memory_is_bounded(run: TroubledRun) -> Iterator[str]:
    node, limits = run.coordinator.node, run.limits
    windows = Counter(client for client, _ in node.node.seen.windows)
    closed = Counter(client for client, _ in node.accounts.closed)
    for client in range(run.charter.setting.clients):
        if max(windows[client], closed[client]) > KEPT_EPOCHS:
            yield f"site {client} has {windows[client]} epochs and {closed[client]} closed ones"
    for (client, epoch), window in node.node.seen.windows.items():
        if window.top - window.up_to > limits.uploads_ahead:
            yield f"epoch {epoch} of site {client} has number {window.top} after {window.up_to}"
    if len(list(node.concerns)) > 10 * (run.charter.setting.clients + 1):
        yield "there are more concerns than kinds and sites"
    node.save()
    size = len(node.journal.snapshot().data)
    d = run.charter.setting.dimension
    if size > 30_000 + 100 * d * d + MOST_BYTES_OF_A_SITE * run.charter.setting.clients:
        yield f"the coordinator's snapshot has {size} bytes"


def mistakes_are_noticed(run: TroubledRun) -> Iterator[str]:
    if run.stranger is not None and (run.stranger, OTHER_CHARTER) not in run.history.concerns:
        yield f"nobody is told that site {run.stranger} has another charter"
    lacking = run.history.forgotten - {each[1:] for each in numbers_in(run.coordinator.disk)}
    for site in (each for each in run.sites if each.number not in run.doubtful):
        life = site.node.life
        settled = life.outbox.settled.get(life.node.epoch, 0)
        known = [each for each in lacking if each[:2] == (site.number, life.node.epoch) and each[2] <= settled]
        if known and not any(kind == NOT_WHOLE for _, kind in run.history.concerns):
            yield f"nobody is told that the coordinator's journal lacks {known}"


def nobody_is_alarmed_for_nothing(run: TroubledRun) -> Iterator[str]:
    """What an operator is told of an honest site has a cause; a site that was started once has not been two."""
    for site, kind in run.history.concerns:
        if site == run.hostile.number:
            continue
        is_one = site not in run.doubtful and run.history.boots[site] == 1
        if (kind == TWO_SITES and is_one) or (kind == OTHER_CHARTER and site != run.stranger):
            yield f"there is no reason to say {kind} of site {site}"
        if kind == NOT_WHOLE and not run.losses:
            yield f"there is no reason to say {kind}: the journal was never lost"


CHECKERS = (
    nobody_is_alarmed_for_nothing,
    the_state_is_the_sum_of_what_was_taken_in,
    each_reward_counts_once_or_its_loss_is_known,
    honest_sums_are_what_the_decisions_give,
    honest_uploads_are_not_refused,
    every_site_ends_with_the_last_version,
    downloads_are_finite,
    what_a_hostile_site_brings_in_is_possible,
    memory_is_bounded,
    mistakes_are_noticed,
    checkers.no_repeated_reward_is_new,
    checkers.versions_only_rise,
    checkers.the_log_gives_the_same_state,
)
