"""The simulator of everything that goes wrong: the nodes of a deployment on machines and wires that fail, by a seed.

Frames are lost, repeated, delayed and delivered in any order; sites are cut off; any machine loses power, in the middle
of writing too, and of its disk what was not synced; sites lose their disks or have old backups restored; rewards
come late, in any order and repeatedly; rounds are closed without silent sites. One integer replays it all.

Which faults a run has, and how often, is drawn first: a run with few of them gets far, one with many finds corners.
When all turns are over everything is mended, and the nodes are left to themselves until they have come to rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fedbandit.core.environment import Environment
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.history import RewardedDecision
from fedbandit.simulation.faults.hosts import Host
from fedbandit.simulation.faults.world import AnyHost, FaultyWorld

WORK = {
    "turn": 6.0, "reward": 6.0, "commit_site": 5.0, "deliver": 24.0, "commit_server": 8.0, "resend": 2.0,
    "save_site": 0.5, "save_server": 0.5, "restart": 3.0,
}  # fmt: skip
FAULTS = {
    "lose": 2.0, "repeat": 2.0, "delay": 2.0, "arrive": 0.5, "cut_off": 0.5, "reconnect": 0.5, "reward_again": 1.0,
    "crash_site": 0.5, "crash_server": 0.5, "fuse_site": 0.5, "fuse_server": 0.5, "deadline": 0.5, "back_up": 0.6,
    "restore": 0.4, "lose_disk": 0.1,
}  # fmt: skip


@dataclass
class FaultyRun(FaultyWorld):
    """A run under way, and when it is over what is left of it."""

    faults: dict[str, float] = field(default_factory=lambda: dict(FAULTS))

    def __post_init__(self) -> None:
        """Switch all machines on, and draw how often what will go wrong."""
        super().__post_init__()
        chance = {name: weight * self.rng.choice([0.0, 1.0, 3.0]) for name, weight in self.faults.items()}
        self._actions = [getattr(self, f"_{name}") for name in WORK | chance]
        weights = np.array(list((WORK | chance).values()))
        self._chances = np.cumsum(weights / weights.sum())

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
        self.behind = 0
        self.wire += self.delayed
        for host in self.hosts:
            host.disk.fuse = 0
        for _ in range(50):
            while self._restart():
                pass
            for told in self._untold():
                self.tell(told)
            for host in self.sites:
                self.commit(host, resend=True)
            asked = list(self.wire)
            self._carry_all()
            if self.is_at_rest(asked):
                return
        raise AssertionError(f"seed {self.seed}: the nodes do not come to rest")

    def is_at_rest(self, asked: list[bytes]) -> bool:
        """Tell whether there is nothing left to do, given what the sites sent when they were asked to send all."""
        has_doubts = any(host.node is None or host.node.unchecked is not None for host in self.sites)
        return len(asked) == len(self.sites) and not has_doubts

    def _carry_all(self) -> None:
        for _ in range(1000):
            if not self.wire:
                return
            frames, self.wire = self.wire, []
            for data in frames:
                self.carry(data)
            for host in self.hosts:
                self.commit(host)
        raise AssertionError(f"seed {self.seed}: the exchange does not end")

    def _untold(self) -> list[RewardedDecision]:
        return [told for told in self.history.decisions if not told.is_told and not told.is_void]

    def _pick(self, many: int) -> int:
        return int(self.rng.integers(many))

    def _some_site(self) -> Host[DurableClient]:
        return self.sites[self._pick(len(self.sites))]

    # Work.

    def _turn(self) -> None:
        self.decide()

    def _reward(self) -> None:
        untold = self._untold()
        if untold:
            self.tell(untold[self._pick(len(untold))])

    def _commit_site(self) -> None:
        self.commit(self._some_site())

    def _resend(self) -> None:
        self.commit(self._some_site(), resend=True)

    def _commit_server(self) -> None:
        self.commit(self.coordinator)

    def _deliver(self) -> None:
        if self.wire:
            self.carry(self.wire.pop(self._pick(len(self.wire))))

    def _save_site(self) -> None:
        host = self._some_site()
        if host.node is not None:
            self.attempt(host, host.node.maintain)

    def _save_server(self) -> None:
        if self.coordinator.node is not None:
            self.attempt(self.coordinator, self.coordinator.node.save)

    def _restart(self) -> bool:
        down: list[AnyHost] = [host for host in self.hosts if host.node is None]
        if down:
            self.boot(down[self._pick(len(down))])
        return bool(down)

    # Faults.

    def _lose(self) -> None:
        if self.wire:
            del self.wire[self._pick(len(self.wire))]

    def _repeat(self) -> None:
        if self.wire:
            self.wire.append(self.wire[self._pick(len(self.wire))])

    def _delay(self) -> None:
        if self.wire:
            self.delayed.append(self.wire.pop(self._pick(len(self.wire))))

    def _arrive(self) -> None:
        if self.delayed:
            self.wire.append(self.delayed.pop(self._pick(len(self.delayed))))

    def _reward_again(self) -> None:
        told = [told for told in self.history.decisions if told.is_told and not told.may_be_lost]
        if told:
            self.tell(told[self._pick(len(told))])

    def _fall_behind(self) -> None:
        self.behind = self._pick(4)

    def _cut_off(self) -> None:
        self.cut_off.add(self._some_site().number)

    def _reconnect(self) -> None:
        if self.cut_off:
            self.commit(self.sites[self.cut_off.pop()], resend=True)

    def _crash_site(self) -> None:
        self.crash(self._some_site())

    def _crash_server(self) -> None:
        self.crash(self.coordinator)

    def _fuse_site(self) -> None:
        self._some_site().disk.fuse = 1 + self._pick(8)

    def _fuse_server(self) -> None:
        self.coordinator.disk.fuse = 1 + self._pick(8)

    def _deadline(self) -> None:
        node = self.coordinator.node
        if node is not None:
            self.attempt(self.coordinator, lambda: node.deadline(self.now))

    def _back_up(self) -> None:
        self._some_site().back_up()

    def _restore(self) -> None:
        host = self._some_site()
        if host.backups:
            self.replace_disk(host, self._pick(len(host.backups)))

    def _lose_disk(self) -> None:
        self.replace_disk(self._some_site(), None)


def simulate_with_faults(charter: Charter, environment: Environment, turns: int, seed: int) -> FaultyRun:
    """Run a federation on an environment while everything goes wrong; return what is left.

    >>> from fedbandit.environments.linear import Linear
    >>> world = Linear(clients=3, arms=2, dimension=2)
    >>> charter = Charter.named("async-linucb", world.setting())
    >>> runs = [simulate_with_faults(charter, world, turns=30, seed=7) for _ in range(2)]
    >>> runs[0].history.steps == runs[1].history.steps
    True
    """
    return FaultyRun(charter, next(environment.turns(turns, seed, turns)), seed).run()
