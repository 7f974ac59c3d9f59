"""What must hold after a run in which a federation lived: sites came and went, and some were forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fedbandit.algorithms.linear.sync_linucb import Call
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.protocol.forms import Forms
from fedbandit.protocol.revisions import Agreed
from fedbandit.simulation.faults.history import RewardedDecision
from fedbandit.simulation.faults.living import LivingRun
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from simulation import checkers
from simulation.revised_checkers import tags
from simulation.tagged import sums_of, sums_told


def amiss(run: LivingRun) -> list[str]:
    """Return all that is amiss, in words; of a frame that is put aside as in `checkers`."""
    if run.coordinator.node.accounts.aside:
        return checkers.amiss(run)
    return [f"{checker.__name__}: {finding}" for checker in CHECKERS for finding in checker(run)]


def times(gram: np.ndarray, agreed: Agreed, form: int, dimension: int) -> np.ndarray:
    """Return how often each turn is in a sum of some form; the first so many features are all that there were first."""
    until = [each.revision for each in agreed.forms].index(form) + 1 if agreed.forms else 0
    return np.rint(np.diagonal(gram)[tags(Forms(replace(agreed, forms=agreed.forms[:until])), dimension)])


class Counted:
    """How often the reward of each turn is where, at the end."""

    def __init__(self, run: LivingRun) -> None:
        self.run = run
        self.dimension = run.charter.setting.dimension
        node = run.coordinator.node
        self.gram, self.moment = sums_of(node.node.state)
        self.at_coordinator = times(self.gram, node.agreed, node.node.form, self.dimension)
        self.unsent = [self.of_site(site.node.life) for site in run.sites]

    def of_site(self, life) -> np.ndarray:
        return times(life.node.state.rows.new_gram[0], life.agreed, life.node.form, self.dimension)

    def is_kept(self, told: RewardedDecision) -> bool:
        """Tell whether a reward is in what its site has yet to send, or to hear of that it has come."""
        life = self.run.sites[told.site].node.life
        frames = [Frame.from_bytes(data) for data in life.outbox.frames.values()]
        told_in = [(frame, sums_told(decode(frame.body))) for frame in frames if frame.kind is Kind.UPLOAD]
        return bool(self.unsent[told.site][told.turn]) or any(
            sums is not None and times(sums[0], life.agreed, frame.form, self.dimension)[told.turn]
            for frame, sums in told_in
        )


def each_reward_counts_once(run: LivingRun) -> Iterator[str]:
    """Of a site that is there: at the coordinator or at the site. Of one that has left: not twice, and not nowhere."""
    counted, there = Counted(run), {host.number for host in run.there}
    for told in run.history.decisions:
        number, at_coordinator = run.sites[told.site].number, counted.at_coordinator[told.turn]
        kept = counted.unsent[told.site][told.turn]
        is_in_doubt = number not in there and run.sites[told.site].node.unchecked is not None  # it asks when it is back
        total = max(at_coordinator, kept) if is_in_doubt else at_coordinator + kept
        owed = told.is_safe and not told.may_be_lost
        if number in run.forgotten:
            if at_coordinator:
                yield f"turn {told.turn} of site {number}, which is forgotten, is at the coordinator"
        elif total > 1 or (total and not told.was_told):
            yield f"turn {told.turn} of site {number} is counted {total:g} times"
        elif owed and not (total if number in there else total or counted.is_kept(told)):
            yield f"turn {told.turn} of site {number} is nowhere"


def the_state_is_what_the_decisions_give(run: LivingRun) -> Iterator[str]:
    """Sums of the coordinator are those over all arms that are in it, with the features of today: with ==."""
    counted, forms = Counted(run), Forms(run.coordinator.node.agreed)
    gram, moment = np.zeros_like(counted.gram), np.zeros_like(counted.moment)
    for told in run.history.decisions:
        arm = forms.fitted(told.features[0, told.choice[0]], told.form)
        gram += counted.at_coordinator[told.turn] * np.outer(arm, arm)
        moment += counted.at_coordinator[told.turn] * told.reward * arm
    if (gram != counted.gram).any() or (moment != counted.moment).any():
        yield "the sums are not what the decisions give"


def nothing_is_left_of_the_forgotten(run: LivingRun) -> Iterator[str]:
    """Neither in the log, nor in what was sent last, which all who are there have."""
    node = run.coordinator.node
    for entry in run.coordinator.disk.records():
        record = ServerRecord.from_bytes(entry.data)
        if record.what is RecordKind.FRAME and Frame.from_bytes(record.data).client in run.forgotten:
            yield f"record {entry.position} is of a site that is forgotten"
    turns = [each.turn for each in run.history.decisions if run.sites[each.site].number in run.forgotten]
    for number, envelopes in node.postbox.latest.items():
        message, form = envelopes[-1].message, envelopes[-1].form
        if isinstance(message, Call):  # a round has begun, and nothing was sent since but that
            continue
        gram = message.sums(0.0)[0]
        if times(gram.reshape(gram.shape[-2:]), node.agreed, form, run.charter.setting.dimension)[turns].any():
            yield f"what site {number} was sent last has something of a site that is forgotten"
    if run.forgotten != node.accounts.forgotten:
        yield f"{sorted(node.accounts.forgotten)} are barred, not {sorted(run.forgotten)}"


def all_who_are_there_are_up_to_date(run: LivingRun) -> Iterator[str]:
    node = run.coordinator.node
    for site in run.there:
        life, latest = site.node.life, node.postbox.latest.get(site.number)
        wanted = (0, 0) if latest is None else (latest[-1].epoch, int(latest[-1].sequence))
        if site.number in run.forgotten:
            continue
        if life.version != wanted:
            yield f"site {site.number} has download {life.version}, not {wanted}"
        if life.outbox.frames:
            yield f"site {site.number} still has {len(life.outbox.frames)} uploads"
        if life.agreed.revision != node.agreed.revision or site.node.disagreement:
            yield f"site {site.number} has revision {life.agreed.count}, not {node.agreed.count}"
    there, awaited = {site.number for site in run.there}, set(node.awaited().tolist())
    if awaited and run.roster.present <= there:  # for one that joined, and lost the answer, a round may wait
        yield f"a round waits for {sorted(awaited)}, and {sorted(there)} are there"
    elif awaited & there:
        yield f"a round waits for {sorted(awaited & there)}, who have heard all"


def the_roster_is_what_was_said(run: LivingRun) -> Iterator[str]:
    standings = run.standings()
    for name, standing in run.said.items():
        if standings.get(name) is not standing:
            yield f"{name} is {standings.get(name)}, and somebody was told {standing}"
    yield from (f"a coordinator that was replaced has signed a key for {token}" for token in run.signed_in_vain)
    names: dict[int, str] = {}
    numbers: dict[str, int] = {}
    for token, used in run.signed.items():
        if len({key for key, _ in used}) > 1:
            yield f"{token} was good for {len(used)} keys"
        for _, number in used:
            if names.setdefault(number, run.invited[token]) != run.invited[token]:
                yield f"number {number} was given to {names[number]} and to {run.invited[token]}"
            if numbers.setdefault(run.invited[token], number) != number:
                yield f"{run.invited[token]} has the numbers {numbers[run.invited[token]]} and {number}"


def nothing_of_a_revoked_site_is_taken_in(run: LivingRun) -> Iterator[str]:
    """And nothing of anybody else is left aside."""
    for entry in run.coordinator.disk.records():
        record = ServerRecord.from_bytes(entry.data)
        if record.what is RecordKind.FRAME:
            frame = Frame.from_bytes(record.data)
            if any(begin < record.time < end for begin, end in run.shut.get(frame.client, ())):
                yield f"the {frame.name} of site {frame.client} was taken in though it was revoked"
    unsure = {run.roster.members[name].number for name in run.unsure if name in run.roster.members}
    for number, time in run.dropped:
        if number not in unsure and not any(begin <= time <= end for begin, end in run.shut.get(number, ())):
            yield f"a frame of site {number} was left aside though it was not revoked"


def honest_uploads_are_not_refused(run: LivingRun) -> Iterator[str]:
    for site, reason in run.history.refused:
        if "life that was lost" not in reason and not (site in run.forgotten and "was forgotten" in reason):
            yield f"of site {site} was refused: {reason}"


CHECKERS = (
    each_reward_counts_once,
    the_state_is_what_the_decisions_give,
    nothing_is_left_of_the_forgotten,
    all_who_are_there_are_up_to_date,
    the_roster_is_what_was_said,
    nothing_of_a_revoked_site_is_taken_in,
    honest_uploads_are_not_refused,
    checkers.no_number_is_used_twice,
    checkers.no_repeated_reward_is_new,
    checkers.versions_only_rise,
    checkers.the_log_gives_the_same_state,
    checkers.no_site_knows_more_than_the_coordinator,
)
