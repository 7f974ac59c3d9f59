"""Faulty runs with people in them: a site that means harm, and operators who make mistakes.

Beside all that machines and wires do, a hostile site sends whatever it can form; stores are cloned and go on twice; two
machines are given one number; old backups of a site are restored and nobody says so; the coordinator's journal comes
from an old backup, or begins anew; its clock is set back and forth; a site is set up with other parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fedbandit.core.randomness import stream
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.hostile import HostileSite
from fedbandit.simulation.faults.hosts import FusedJournal, Host
from fedbandit.simulation.faults.run import FAULTS, FaultyRun
from fedbandit.wire.frame import Frame, Kind

ATTACKS = {"attack": 12.0}
MISTAKES = {
    "clone": 0.2, "same_number": 0.15, "restore_untold": 0.4, "back_up_server": 0.6, "restore_server": 0.25,
    "begin_anew": 0.1, "set_clock": 0.5,
}  # fmt: skip
ROUNDS_OF_QUIET = 3  # so that two sites with one number have asked in turns
MOST_ROUNDS = 1000
JUMPS = (-1e6, -3600.0, -20.0, 0.0, 20.0, 3600.0, 1e6)


@dataclass
class TroubledRun(FaultyRun):
    """A run with a hostile site, which has the last number of the roster, and with operators' mistakes."""

    faults: dict[str, float] = field(default_factory=lambda: FAULTS | ATTACKS | MISTAKES)
    limits: Limits = field(default_factory=Limits)
    other_charter: Charter | None = None  # what one site is given by mistake, in some of the runs

    def __post_init__(self) -> None:
        """Switch all machines on."""
        self.clock_error = 0.0
        self.doubtful: set[int] = set()  # numbers that two lives may use at once
        self.quiet = 0  # rounds of questions, one after the other, in which there was nothing but questions
        self.losses = 0  # how often the coordinator lost what it had acknowledged or sent
        choice = stream(self.seed, "mistakes")
        self.stranger = int(choice.integers(self.honest)) if self.other_charter and choice.random() < 0.2 else None
        self.hostile = HostileSite(self.charter, self.honest, self.turns, choice)
        super().__post_init__()

    @property
    def honest(self) -> int:
        """Return how many sites mean well; the last of the roster does not."""
        return self.charter.setting.clients - 1

    @property
    def now(self) -> float:
        """Return the time that the coordinator's clock shows, rightly or wrongly."""
        return self.clock + self.clock_error

    def charter_of(self, number: int) -> Charter:
        """Return the charter that a site was given, which may be another than the coordinator's."""
        return self.other_charter if self.other_charter and number == self.stranger else self.charter

    def machine_for(self, number: int) -> int:
        """Return one of the machines that run the site of a number."""
        machines = [machine for machine, host in enumerate(self.sites) if host.number == number]
        return machines[self._pick(len(machines))] if len(machines) > 1 else number

    def _start_server(self, disk: FusedJournal, restored: bool) -> DurableServer:  # noqa: ARG002
        epoch = max(1, int(self.now))  # as a clock gives it
        return self.server_node(
            self.charter, disk, epoch=epoch, now=self.now, limits=self.limits, random_below=self.random_below
        )

    def fresh(self) -> int:
        """Return a number as a site makes it: from its clock, which may be wrong, and 30 random bits."""
        return (int(self.now + 1e8) << 30) + int(self.rng.integers(2**30))

    def carry(self, data: bytes) -> None:
        """Deliver a frame; what is meant for the hostile site comes to it."""
        frame = Frame.from_bytes(data)
        if frame.client == self.hostile.number:
            self.hostile.hear(frame)
        else:
            super().carry(data)
        self.note_concerns()

    def note_concerns(self) -> None:
        """Note what the coordinator shows to its operator."""
        if self.coordinator.node is not None:
            self.history.concerns.update((each.site, each.kind) for each in self.coordinator.node.concerns)

    def heal(self) -> None:
        """Set the clock right, and mend everything."""
        self.clock_error = 0.0
        super().heal()

    def is_at_rest(self, asked: list[bytes]) -> bool:
        """Tell whether there was nothing but questions for a while, and no round waits for anybody."""
        self.clock += 2000  # whoever has to wait has waited
        frames = [Frame.from_bytes(data) for data in asked]
        restless = {frame.client for frame in frames if frame.kind is not Kind.ASK}
        restless |= {host.number for host in self.sites if host.node is None or host.node.unchecked is not None}
        node = self.coordinator.node
        is_waiting = node is not None and node.awaited().size > 0
        self.quiet = self.quiet + 1 if restless <= {self.stranger} and not is_waiting else 0
        return self.quiet == ROUNDS_OF_QUIET

    def _carry_all(self) -> None:
        """Deliver what is under way, in any order, and close rounds that wait for a site that does not answer.

        In any order, so that of two sites with one number now one is last, now the other. And so that an old question
        may come last: its site holds back what it has until it has asked again. If all sites do, nobody has answered
        the coordinator, a deadline changes nothing, and the round is left open until they have.
        """
        self.rng.shuffle(self.wire)
        super()._carry_all()
        node = self.coordinator.node
        for _ in range(MOST_ROUNDS):
            if node is None or not node.awaited().size:
                return
            node.deadline(self.now)
            self.commit(self.coordinator)
            if not self.wire and node.awaited().size:
                return
            super()._carry_all()
        raise AssertionError(f"seed {self.seed}: the rounds do not end")

    # A hostile site.

    def _attack(self) -> None:
        data = self.hostile.next_frame()
        node = self.coordinator.node
        if node is not None:
            self.attempt(self.coordinator, lambda: node.receive(data, self.now, self.hostile.number))
            self.note_concerns()

    # Operators' mistakes.

    def _clone(self) -> None:
        """Copy the store of a site to another machine, and let both run."""
        original = self.sites[self._pick(self.honest)]
        self._double(original, is_copy=True)

    def _same_number(self) -> None:
        """Set up a second site under a number that is taken."""
        self._double(self.sites[self._pick(self.honest)], is_copy=False)

    def _double(self, original: Host[DurableClient], *, is_copy: bool) -> None:
        if sum(host.number == original.number for host in self.sites) > 1:
            return
        self.doubtful.add(original.number)
        second = self.add_site(original.number)
        if is_copy:
            original.back_up()
            second.disk.fill_from(original.backups.pop())
            is_doubtful, machine = original.is_doubtful.pop(), self.sites.index(original)
            self.history.note_copy(machine, len(self.sites) - 1)
            for told in self.history.decisions:
                told.may_count_twice |= is_doubtful and told.site == machine and told.was_told
        self.boot(second)

    def _restore_untold(self) -> None:
        """Restore an old backup of a site that was connected when it was made, and tell nobody."""
        host = self._some_site()
        backups = [backup for backup, is_doubtful in enumerate(host.is_doubtful) if not is_doubtful]
        if backups:
            self.doubtful.add(host.number)
            self.replace_disk(host, backups[self._pick(len(backups))], tell=False)

    def _back_up_server(self) -> None:
        self.coordinator.back_up()

    def _restore_server(self) -> None:
        if self.coordinator.backups:
            self._replace_journal(self._pick(len(self.coordinator.backups)))

    def _begin_anew(self) -> None:
        self._replace_journal(None)

    def _replace_journal(self, backup: int | None) -> None:
        """Put an old journal in the place of the coordinator's, or none: note which uploads it lacks."""
        self.crash(self.coordinator)
        before = numbers_in(self.coordinator.disk)
        self.coordinator.replace_disk(backup)
        forgotten = before - numbers_in(self.coordinator.disk)
        self.history.forgotten |= {each[1:] for each in forgotten if each[0] is Kind.UPLOAD}
        reopened = {each[1] for each in forgotten if each[0] is Kind.CLOSE}
        for told in self.history.decisions:  # a lost life of such a site may be taken in again
            told.may_count_twice |= self.sites[told.site].number in reopened and told.was_told
        self.losses += 1
        self.boot(self.coordinator)

    def _set_clock(self) -> None:
        self.clock_error = JUMPS[self._pick(len(JUMPS))]


def numbers_in(disk: FusedJournal) -> set[tuple[Kind, int, int, int]]:
    """Return kind, site, epoch and number of all frames in a coordinator's whole log."""
    records = [ServerRecord.from_bytes(entry.data) for entry in disk.records()]
    frames = [Frame.from_bytes(record.data) for record in records if record.what is RecordKind.FRAME]
    return {(each.kind, each.client, each.epoch, each.sequence) for each in frames}
