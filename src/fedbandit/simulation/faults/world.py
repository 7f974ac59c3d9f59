"""Machines, wires and applications of a faulty run: what they do, in whatever order it happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.core.randomness import ClientStreams, stream
from fedbandit.core.turns import Turns
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import FROM_SITES
from fedbandit.durable.site.client import DurableClient
from fedbandit.durable.site.release_mark import MarkInMemory
from fedbandit.durable.site.release_noise import NoiseSource
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.drawn_noise import DrawnNoise
from fedbandit.simulation.faults.history import NO_VERSION, History, Refusal, RewardedDecision
from fedbandit.simulation.faults.hosts import FusedJournal, Host, PowerCut
from fedbandit.wire.frame import Frame, Kind

AnyHost: TypeAlias = Host[Any]
LAST_EPOCH = 30


@dataclass
class FaultyWorld:
    """A coordinator, its sites, the frames under way between them, and an application at each site."""

    charter: Charter
    turns: Turns
    seed: int
    client_node: Callable[..., DurableClient] = DurableClient
    server_node: Callable[..., DurableServer] = DurableServer
    history: History = field(default_factory=History)
    epoch_steps: int = 0  # of the run in an epoch, where the federation forgets; 0: one endless epoch

    def __post_init__(self) -> None:
        """Switch all machines on."""
        self.rng = stream(self.seed, "faults")
        self.draws = ClientStreams(self.seed)
        self._coordinator_draws = stream(self.seed, "coordinator")
        self.needs_noise = bool(self.charter.build_for(0).clients.noise_size)
        self.noise: NoiseSource = DrawnNoise(self.seed)
        self.marks: dict[int, MarkInMemory] = {}  # by machine: beside the store, and in no backup
        self.clock = 0
        self.turn = 0
        self.behind = 0  # epochs, of the coordinator's clock
        self.boots = 0
        self.wire: list[bytes] = []
        self.delayed: list[bytes] = []
        self.cut_off: set[int] = set()
        self.coordinator: Host[DurableServer] = Host(self._start_server, keep_log=True)
        self.sites: list[Host[DurableClient]] = []
        self.boot(self.coordinator)
        for number in range(self.honest):
            self.boot(self.add_site(number))

    @property
    def hosts(self) -> list[AnyHost]:
        """Return all machines."""
        return [self.coordinator, *self.sites]

    @property
    def honest(self) -> int:
        """Return how many sites there are, which have the first numbers."""
        return self.charter.setting.clients

    @property
    def now(self) -> float:
        """Return the time that the coordinator's clock shows."""
        return float(self.clock)

    @property
    def epoch(self) -> int:
        """Return the epoch that it is for all, of a few: sums of more would not be exact."""
        return min(self.clock // self.epoch_steps, LAST_EPOCH) if self.epoch_steps else 0

    def add_site(self, number: int) -> Host[DurableClient]:
        """Put up a machine for a site."""
        self.sites.append(Host(partial(self._start_site, len(self.sites), number), number))
        return self.sites[-1]

    def _start_server(self, disk: FusedJournal, restored: bool) -> DurableServer:  # noqa: ARG002
        return self.server_node(self.charter, disk, epoch=1, now=self.now, random_below=self.random_below)

    def random_below(self, most: int) -> int:
        """Return a number as a coordinator draws it."""
        return int(self._coordinator_draws.integers(most))

    def _start_site(self, machine: int, number: int, disk: FusedJournal, restored: bool) -> DurableClient:
        self.boots += 1
        self.history.boots[number] += 1
        self.history.versions.setdefault(machine, []).append(NO_VERSION)
        private = {"noise": self.noise, "mark": self.marks.setdefault(machine, MarkInMemory())}
        return self.client_node(
            self.charter_of(number), number, fresh=self.fresh(), journal=disk, restored=restored, snapshot_every=8,
            **private if self.needs_noise else {},
        )  # fmt: skip

    def fresh(self) -> int:
        """Return a number that no site has had."""
        return 1000 + self.boots

    def charter_of(self, number: int) -> Charter:  # noqa: ARG002
        """Return the charter that a site was given."""
        return self.charter

    def boot(self, host: AnyHost, *, restored: bool = False) -> None:
        """Start a machine; a site then sends what it has and asks for what it lacks."""
        host.boot(restored=restored)
        host.doubts = True
        self.commit(host, resend=host is not self.coordinator)

    def crash(self, host: AnyHost) -> None:
        """Cut the power of a machine; the applications will tell again what was not safe."""
        host.crash(self.rng)
        if host is not self.coordinator:
            machine = self.sites.index(host)
            for told in self.history.decisions:
                if told.site == machine and not told.is_safe:
                    told.is_told = False

    def attempt(self, host: AnyHost, work: Callable[[], Any]) -> Any:
        """Do something on a machine, which may lose power on the way; then nothing comes of it."""
        if host.node is None:
            return None
        try:
            return work()
        except PowerCut:
            self.crash(host)
            return None

    def commit(self, host: AnyHost, *, resend: bool = False) -> None:
        """Let a node make all safe and send what it may, or all that it has."""
        node: Any = host.node
        if host is self.coordinator:  # which hears of an epoch now and then, perhaps later than sites do
            self.attempt(host, lambda: node.tick(self.epoch - self.behind, self.now))
        frames = self.attempt(host, lambda: node.resend() if resend else node.commit())
        if frames is None:
            return
        if host is self.coordinator:
            frames = [data for _, data in frames]
        else:
            host.doubts = node.unchecked is not None
            machine = self.sites.index(host)
            for told in self.history.decisions:
                if told.site == machine and told.is_told and not told.is_safe:
                    told.is_safe, told.backups = True, len(host.backups)
        for data in frames:
            self.history.note_sent(data)
        self.wire += frames

    def carry(self, data: bytes) -> None:
        """Deliver a frame, if its way is open and its recipient is up."""
        frame = Frame.from_bytes(data)
        if frame.client in self.cut_off:
            return
        if frame.kind in FROM_SITES:
            verdict = self.attempt(self.coordinator, lambda: self._at_coordinator(data, frame.client))
            if verdict is not None and verdict.outcome in (Outcome.REFUSED, Outcome.NOT_YET):
                said = self.history.refused if verdict.outcome is Outcome.REFUSED else self.history.put_off
                said.append(Refusal(frame.client, verdict.reason))
        else:
            for machine, host in enumerate(self.sites):
                if host.number == frame.client:
                    self.attempt(host, partial(self._at_site, data, frame, machine))

    def _at_coordinator(self, data: bytes, sender: int) -> Any:
        assert self.coordinator.node is not None
        return self.coordinator.node.receive(data, self.now, sender)

    def _at_site(self, data: bytes, frame: Frame, machine: int) -> None:
        node = self.sites[machine].node
        assert node is not None
        before = node.last_download
        node.receive(data)
        if frame.kind is Kind.DOWNLOAD and node.last_download != before:
            self.history.note_download(machine, frame)
        self.history.note_version(machine, frame, node.last_download)

    def decide(self) -> None:
        """Let the application whose turn it is ask its site for a decision, if that is up."""
        turn, machine = self.turn, self.machine_for(int(self.turns.client[self.turn]))
        host = self.sites[machine]
        if host.node is None:
            return
        self.turn += 1
        now = slice(turn, turn + 1)
        features = self.offered(turn, host.node)
        draws = self.draws.normals(self.turns.client[now], host.node.draws)
        node = host.node
        self.attempt(host, lambda: node.tick(self.epoch))
        decided = self.attempt(host, lambda: node.choose(features, draws))
        if decided is not None:
            name, (choice, *_) = decided
            reward = float(self.turns.outcomes.feedback(now, choice)[0])
            form = node.form
            self.history.note_decision(
                RewardedDecision(turn, machine, name, features, choice, reward, self.epoch, form)
            )

    def offered(self, turn: int, node: DurableClient) -> Floats:  # noqa: ARG002
        """Return the arms that an application offers its site."""
        return self.turns.features[turn : turn + 1]

    def machine_for(self, number: int) -> int:
        """Return the machine that an application asks, of those that run the site of a number."""
        return number

    def tell(self, told: RewardedDecision) -> None:
        """Let an application tell its site a reward, for the first time or again."""
        host = self.sites[told.site]
        if host.node is None:
            return
        node, told.was_told = host.node, True
        try:
            is_new = self.attempt(host, lambda: self.told_to(node, told))
        except InvalidInput:
            told.is_void = True
            return
        if is_new and told.is_safe and not told.may_be_lost:
            self.history.counted_again.append(told.decision)
        told.is_told |= is_new is not None

    def told_to(self, node: DurableClient, told: RewardedDecision) -> bool:
        """Tell a site a reward; return whether it is new there."""
        return node.learn(told.decision, told.reward)

    def replace_disk(self, host: Host[DurableClient], backup: int | None, *, tell: bool = True) -> None:
        """Put in an empty disk or restore a backup.

        The site is told so; perhaps not, if all that its lost life has sent is known to be safe.
        """
        self.crash(host)
        host.replace_disk(backup)
        machine = self.sites.index(host)
        is_doubtful = backup is not None and host.is_doubtful[backup]
        has = -1 if backup is None or is_doubtful else backup
        for told in self.history.decisions:
            if told.site == machine and told.was_told:
                told.is_void |= not told.is_safe
                told.may_be_lost |= not told.is_safe or told.backups > has
        is_clear = not is_doubtful and self.history.all_is_promised(host.number)
        self.boot(host, restored=tell and (not is_clear or bool(self.rng.integers(2))))
