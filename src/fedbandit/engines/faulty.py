"""The simulator of everything that goes wrong: the nodes of a deployment on machines and wires that fail, by a seed.

Frames are lost, repeated, delayed and delivered in any order; sites are cut off; any machine loses power, in the middle
of writing too, and of its disk what was not synced; sites lose their disks or have old backups restored; rewards
come late, in any order and repeatedly; rounds are closed without silent sites. One integer replays it all.

Which faults a run has, and how often, is drawn first: a run with few of them gets far, one with many finds corners.
When all turns are over everything is mended, and the nodes are left to themselves until they have come to rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.randomness import ClientStreams, stream
from fedbandit.core.turns import Turns
from fedbandit.engines.fault_history import NO_VERSION, History, Told
from fedbandit.engines.fault_hosts import FusedJournal, Host, PowerCut
from fedbandit.nodes.charter import Charter
from fedbandit.nodes.durable_client import DurableClient
from fedbandit.nodes.durable_server import DurableServer
from fedbandit.nodes.validation import FROM_SITES
from fedbandit.nodes.verdict import Outcome
from fedbandit.wire.frame import Frame

AnyHost: TypeAlias = Host[Any]
WORK = {
    "turn": 6.0, "reward": 6.0, "commit_site": 5.0, "deliver": 24.0, "commit_server": 8.0, "resend": 2.0,
    "save_site": 0.5, "save_server": 0.5, "restart": 3.0,
}  # fmt: skip
FAULTS = {
    "lose": 2.0, "repeat": 2.0, "reward_again": 1.0, "cut_off": 0.5, "reconnect": 0.5, "crash_site": 0.5,
    "crash_server": 0.5, "fuse_site": 0.5, "fuse_server": 0.5, "deadline": 0.5, "back_up": 0.4, "restore": 0.2,
    "lose_disk": 0.1,
}  # fmt: skip


@dataclass
class FaultyRun:
    """A run under way, and when it is over what is left of it."""

    charter: Charter
    turns: Turns
    seed: int
    faults: dict[str, float] = field(default_factory=lambda: dict(FAULTS))
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
        self.cut_off: set[int] = set()
        chance = {name: weight * self.rng.choice([0.0, 1.0, 3.0]) for name, weight in self.faults.items()}
        self._actions = [getattr(self, f"_{name}") for name in WORK | chance]
        weights = np.array(list((WORK | chance).values()))
        self._chances = np.cumsum(weights / weights.sum())
        self.coordinator = Host(self._start_server, keep_log=True)
        self.sites = [Host(partial(self._start_site, each)) for each in range(self.charter.setting.clients)]
        for host in (self.coordinator, *self.sites):
            host.boot()
            self._commit(host)

    def run(self) -> FaultyRun:
        """Let things go wrong until all turns are over, then mend everything."""
        while self.turn < len(self.turns):
            self.step()
        self.heal()
        return self

    def step(self) -> None:
        """Let one thing happen, good or bad."""
        self.clock += 1
        action = self._actions[int(np.searchsorted(self._chances, self.rng.random(), side="right"))]
        self.history.steps.append(action.__name__[1:])
        action()

    def heal(self) -> None:
        """Mend everything, and let the nodes come to rest: each site asks, and there is nothing to answer."""
        self.cut_off.clear()
        for host in (self.coordinator, *self.sites):
            host.disk.fuse = 0
        for _ in range(50):
            while self._restart():
                pass
            for told in self.history.decisions:
                if not told.is_told and not told.is_void:
                    self._tell(told)
            for host in self.sites:
                self._commit(host, resend=True)
            is_at_rest = len(self.wire) == len(self.sites)
            self._carry_all()
            if is_at_rest:
                return
        raise AssertionError(f"seed {self.seed}: the nodes do not come to rest")

    # What happens to nodes.

    def _start_server(self, disk: FusedJournal, restored: bool) -> DurableServer:  # noqa: ARG002
        return self.server_node(self.charter, disk, epoch=1, now=float(self.clock))

    def _start_site(self, number: int, disk: FusedJournal, restored: bool) -> DurableClient:
        self.boots += 1
        self.history.versions.setdefault(number, []).append(NO_VERSION)
        return self.client_node(
            self.charter, number, fresh=1000 + self.boots, journal=disk, restored=restored, snapshot_every=8
        )

    def _crash(self, host: AnyHost) -> None:
        host.crash(self.rng)
        if host is not self.coordinator:
            number = self.sites.index(host)
            for told in self.history.decisions:
                if told.site == number and not told.is_safe:
                    told.is_told = False  # the application will tell it again

    def _commit(self, host: AnyHost, *, resend: bool = False) -> None:
        node: Any = host.node
        if node is None:
            return
        try:
            frames = node.resend() if resend else node.commit()
        except PowerCut:
            self._crash(host)
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

    def _carry(self, data: bytes) -> None:
        frame = Frame.from_bytes(data)
        host: AnyHost = self.coordinator if frame.kind in FROM_SITES else self.sites[frame.client]
        if host.node is None or frame.client in self.cut_off:
            return
        try:
            if isinstance(host.node, DurableServer):
                verdict = host.node.receive(data, float(self.clock), frame.client)
                if verdict.outcome is Outcome.REFUSED:
                    self.history.refused.append(verdict.reason)
            else:
                host.node.receive(data)
                self.history.note_version(frame, host.node.life.version)
        except PowerCut:
            self._crash(host)

    def _carry_all(self) -> None:
        for _ in range(1000):
            if not self.wire:
                return
            frames, self.wire = self.wire, []
            for data in frames:
                self._carry(data)
            for host in (self.coordinator, *self.sites):
                self._commit(host)
        raise AssertionError(f"seed {self.seed}: the exchange does not end")

    def _tell(self, told: Told) -> None:
        host = self.sites[told.site]
        if host.node is None:
            return
        told.was_told = True
        try:
            is_new = host.node.learn(told.decision, told.reward)
            if is_new and told.is_safe and not told.may_be_lost:
                self.history.counted_again.append(told.decision)
            told.is_told = True
        except InvalidInput:
            told.is_void = True
        except PowerCut:
            self._crash(host)

    def _any(self, hosts: Sequence[Host[Any]], *, up: bool = True) -> Host[Any] | None:
        some = [host for host in hosts if (host.node is not None) == up]
        return some[int(self.rng.integers(len(some)))] if some else None

    def _in_flight(self) -> int | None:
        return int(self.rng.integers(len(self.wire))) if self.wire else None

    # Work.

    def _turn(self) -> None:
        turn = self.turn
        number = int(self.turns.client[turn])
        host = self.sites[number]
        if host.node is None:
            return
        self.turn += 1
        now = slice(turn, turn + 1)
        features = self.turns.features[now]
        draws = self.draws.normals(self.turns.client[now], host.node.life.side.draws)
        try:
            decision, choice = host.node.choose(features, draws)
        except PowerCut:
            self._crash(host)
            return
        reward = float(self.turns.outcomes.feedback(now, choice)[0])
        self.history.note_decision(Told(turn, number, decision, features, choice, reward))

    def _reward(self) -> None:
        open_ = [told for told in self.history.decisions if not told.is_told and not told.is_void]
        if open_:
            self._tell(open_[int(self.rng.integers(len(open_)))])

    def _commit_site(self) -> None:
        if host := self._any(self.sites):
            self._commit(host)

    def _resend(self) -> None:
        if host := self._any(self.sites):
            self._commit(host, resend=True)

    def _commit_server(self) -> None:
        self._commit(self.coordinator)

    def _deliver(self) -> None:
        place = self._in_flight()
        if place is not None:
            self._carry(self.wire.pop(place))

    def _save_site(self) -> None:
        if host := self._any(self.sites):
            try:
                host.node.maintain()
            except PowerCut:
                self._crash(host)

    def _save_server(self) -> None:
        if self.coordinator.node is not None:
            try:
                self.coordinator.node.save()
            except PowerCut:
                self._crash(self.coordinator)

    def _restart(self) -> bool:
        host = self._any([self.coordinator, *self.sites], up=False)
        if host is None:
            return False
        host.boot()
        host.doubts = True
        if host is not self.coordinator:
            self._commit(host, resend=True)
        return True

    # Faults.

    def _lose(self) -> None:
        place = self._in_flight()
        if place is not None:
            del self.wire[place]

    def _repeat(self) -> None:
        place = self._in_flight()
        if place is not None:
            self.wire.append(self.wire[place])

    def _reward_again(self) -> None:
        closed = [told for told in self.history.decisions if told.is_told and not told.may_be_lost]
        if closed:
            self._tell(closed[int(self.rng.integers(len(closed)))])

    def _cut_off(self) -> None:
        self.cut_off.add(int(self.rng.integers(len(self.sites))))

    def _reconnect(self) -> None:
        if self.cut_off:
            number = self.cut_off.pop()
            self._commit(self.sites[number], resend=True)

    def _crash_site(self) -> None:
        if host := self._any(self.sites):
            self._crash(host)

    def _crash_server(self) -> None:
        if self.coordinator.node is not None:
            self._crash(self.coordinator)

    def _fuse_site(self) -> None:
        if host := self._any(self.sites):
            host.disk.fuse = int(self.rng.integers(1, 8))

    def _fuse_server(self) -> None:
        self.coordinator.disk.fuse = int(self.rng.integers(1, 8))

    def _deadline(self) -> None:
        if self.coordinator.node is not None:
            try:
                self.coordinator.node.deadline(float(self.clock))
            except PowerCut:
                self._crash(self.coordinator)

    def _back_up(self) -> None:
        if host := self._any(self.sites):
            host.back_up()

    def _restore(self) -> None:
        host = self.sites[int(self.rng.integers(len(self.sites)))]
        if host.backups:
            self._replace_disk(host, int(self.rng.integers(len(host.backups))))

    def _lose_disk(self) -> None:
        self._replace_disk(self.sites[int(self.rng.integers(len(self.sites)))], None)

    def _replace_disk(self, host: Host[DurableClient], backup: int | None) -> None:
        """Restore a backup, and tell the site so; or perhaps not, if all that its lost life sent is known to be safe."""
        self._crash(host)
        host.replace_disk(backup)
        number = self.sites.index(host)
        is_doubtful = backup is not None and host.is_doubtful[backup]
        has = -1 if backup is None or is_doubtful else backup
        for told in self.history.decisions:
            if told.site == number and told.was_told:
                told.is_void |= not told.is_safe
                told.may_be_lost |= not told.is_safe or told.backups > has
        is_clear = not is_doubtful and self.history.all_is_promised(number)
        host.boot(restored=not is_clear or bool(self.rng.integers(2)))
        host.doubts = True
        self._commit(host, resend=True)


def simulate_with_faults(charter: Charter, environment: Environment, turns: int, seed: int) -> FaultyRun:
    """Run a federation on an environment while everything goes wrong; return what is left.

    >>> from fedbandit.core.algorithm import Setting
    >>> from fedbandit.environments.linear import Linear
    >>> world = Linear(clients=3, arms=2, dimension=2)
    >>> run = simulate_with_faults(Charter.named("async-linucb", world.setting()), world, turns=30, seed=7)
    >>> run.coordinator.node.node.seen == simulate_with_faults(run.charter, world, 30, 7).coordinator.node.node.seen
    True
    """
    block = next(environment.turns(turns, seed, turns))
    return FaultyRun(charter, block, seed).run()
