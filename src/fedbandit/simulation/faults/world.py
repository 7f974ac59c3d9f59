"""Machines, wires and applications of a faulty run: what they do, in whatever order it happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from fedbandit.core.errors import InvalidInput
from fedbandit.core.randomness import ClientStreams, stream
from fedbandit.core.turns import Turns
from fedbandit.durable.client import DurableClient
from fedbandit.durable.outcome import Outcome
from fedbandit.durable.server import DurableServer
from fedbandit.durable.validation import FROM_SITES
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.history import NO_VERSION, History, Told
from fedbandit.simulation.faults.hosts import FusedJournal, Host, PowerCut
from fedbandit.wire.frame import Frame

AnyHost: TypeAlias = Host[Any]


@dataclass
class FaultyWorld:
    """A coordinator, its sites, the frames under way between them, and an application at each site."""

    charter: Charter
    turns: Turns
    seed: int
    client_node: Callable[..., DurableClient] = DurableClient
    server_node: Callable[..., DurableServer] = DurableServer
    history: History = field(default_factory=History)

    def __post_init__(self) -> None:
        """Switch all machines on."""
        self.rng = stream(self.seed, "faults")
        self.draws = ClientStreams(self.seed)
        self.clock = 0
        self.turn = 0
        self.boots = 0
        self.wire: list[bytes] = []
        self.delayed: list[bytes] = []
        self.cut_off: set[int] = set()
        self.coordinator: Host[DurableServer] = Host(self._start_server, keep_log=True)
        self.sites = [Host(partial(self._start_site, each)) for each in range(self.charter.setting.clients)]
        for host in self.hosts:
            self.boot(host)

    @property
    def hosts(self) -> list[AnyHost]:
        """Return all machines."""
        return [self.coordinator, *self.sites]

    def _start_server(self, disk: FusedJournal, restored: bool) -> DurableServer:  # noqa: ARG002
        return self.server_node(self.charter, disk, epoch=1, now=float(self.clock))

    def _start_site(self, number: int, disk: FusedJournal, restored: bool) -> DurableClient:
        self.boots += 1
        self.history.versions.setdefault(number, []).append(NO_VERSION)
        return self.client_node(
            self.charter, number, fresh=1000 + self.boots, journal=disk, restored=restored, snapshot_every=8
        )

    def boot(self, host: AnyHost, *, restored: bool = False) -> None:
        """Start a machine; a site then sends what it has and asks for what it lacks."""
        host.boot(restored=restored)
        host.doubts = True
        self.commit(host, resend=host is not self.coordinator)

    def crash(self, host: AnyHost) -> None:
        """Cut the power of a machine; the applications will tell again what was not safe."""
        host.crash(self.rng)
        if host is not self.coordinator:
            number = self.sites.index(host)
            for told in self.history.decisions:
                if told.site == number and not told.is_safe:
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
        frames = self.attempt(host, lambda: node.resend() if resend else node.commit())
        if frames is None:
            return
        if host is self.coordinator:
            frames = [data for _, data in frames]
        else:
            host.doubts = node.unchecked is not None
            number = self.sites.index(host)
            for told in self.history.decisions:
                if told.site == number and told.is_told and not told.is_safe:
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
            if verdict is not None and verdict.outcome is Outcome.REFUSED:
                self.history.refused.append(verdict.reason)
        else:
            self.attempt(self.sites[frame.client], lambda: self._at_site(data, frame))

    def _at_coordinator(self, data: bytes, sender: int) -> Any:
        assert self.coordinator.node is not None
        return self.coordinator.node.receive(data, float(self.clock), sender)

    def _at_site(self, data: bytes, frame: Frame) -> None:
        node = self.sites[frame.client].node
        assert node is not None
        node.receive(data)
        self.history.note_version(frame, node.life.version)

    def decide(self) -> None:
        """Let the application whose turn it is ask its site for a decision, if that is up."""
        turn, number = self.turn, int(self.turns.client[self.turn])
        host = self.sites[number]
        if host.node is None:
            return
        self.turn += 1
        now = slice(turn, turn + 1)
        features = self.turns.features[now]
        draws = self.draws.normals(self.turns.client[now], host.node.life.side.draws)
        node = host.node
        decided = self.attempt(host, lambda: node.choose(features, draws))
        if decided is not None:
            reward = float(self.turns.outcomes.feedback(now, decided[1])[0])
            self.history.note_decision(Told(turn, number, decided[0], features, decided[1], reward))

    def tell(self, told: Told) -> None:
        """Let an application tell its site a reward, for the first time or again."""
        host = self.sites[told.site]
        if host.node is None:
            return
        node, told.was_told = host.node, True
        try:
            is_new = self.attempt(host, lambda: node.learn(told.decision, told.reward))
        except InvalidInput:
            told.is_void = True
            return
        if is_new and told.is_safe and not told.may_be_lost:
            self.history.counted_again.append(told.decision)
        told.is_told |= is_new is not None

    def replace_disk(self, host: Host[DurableClient], backup: int | None) -> None:
        """Put in an empty disk or restore a backup.

        The site is told so; perhaps not, if all that its lost life has sent is known to be safe.
        """
        self.crash(host)
        host.replace_disk(backup)
        number = self.sites.index(host)
        is_doubtful = backup is not None and host.is_doubtful[backup]
        has = -1 if backup is None or is_doubtful else backup
        for told in self.history.decisions:
            if told.site == number and told.was_told:
                told.is_void |= not told.is_safe
                told.may_be_lost |= not told.is_safe or told.backups > has
        is_clear = not is_doubtful and self.history.all_is_promised(number)
        self.boot(host, restored=not is_clear or bool(self.rng.integers(2)))
