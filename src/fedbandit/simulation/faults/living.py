"""Faulty runs of federations that live: all that a federation goes through in years, at random moments.

Sites join, leave, are revoked and come again; the charter is revised, and features come and go; coordinators take over
from each other; sites are forgotten, by a coordinator that was stopped or has crashed, and the command that does it is
cut short too. Beside it goes wrong what always does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fedbandit.durable.coordinator.erasure import SALT_BYTES, Erasure, erasure_of
from fedbandit.durable.coordinator.roster import Standing
from fedbandit.durable.journals.journal import Journal
from fedbandit.simulation.faults.failover import FAILOVERS
from fedbandit.simulation.faults.hosts import PowerCut
from fedbandit.simulation.faults.revised import REVISIONS, RevisedRun
from fedbandit.simulation.faults.rostered import COMINGS, RosteredRun
from fedbandit.simulation.faults.run import FAULTS

FORGETTINGS = {"forget": 0.1}
LIFE = FAULTS | REVISIONS | FAILOVERS | COMINGS | FORGETTINGS


@dataclass
class LivingRun(RevisedRun, RosteredRun):
    """A run in which all of it happens."""

    faults: dict[str, float] = field(default_factory=lambda: dict(LIFE))
    erase: Callable[[Erasure, Journal], None] = Erasure.write

    forgotten: set[int] = field(default_factory=set)  # numbers of sites that are to be

    def heal(self) -> None:
        """Finish what was cut short, and mend everything."""
        self.coordinator.disk.fuse = self.roster_disk.fuse = 0
        for number in sorted(self.forgotten):
            self.forget(number)
        super().heal()

    def _forget(self) -> None:
        """Forget a site; or call the command again that was cut short, perhaps in vain."""
        number = self._some_site().number
        self.forgotten.add(number)
        node = self.coordinator.node
        if node is not None and self._pick(2):
            self.attempt(self.coordinator, node.save)  # as a coordinator does that is stopped
        if self.coordinator.node is not None:
            self.crash(self.coordinator)
        self.coordinator.disk.fuse = self._pick(12)  # the command may be cut short; 0: not at all
        self.forget(number)

    def forget(self, number: int) -> None:
        """Forget a site in the journal of a coordinator that does not run, and cut it off; then start that again."""
        host, self.coordinator.node = self.coordinator, None
        try:
            erasure = erasure_of(
                self.charter, host.disk, number, salt=bytes(SALT_BYTES), now=self.now, random_below=self.random_below
            )
            if erasure is not None:
                self.erase(erasure, host.disk)
        except PowerCut:
            host.disk.crash(survivors=0)  # what it writes is one transaction
        self.boot(host)
        names = [each.name for each in self.roster.members.values() if each.number == number]
        if number in self.forgotten and not (self.is_running and self._pick(2)):
            for name in names:
                self.revoke(name)

    @property
    def is_running(self) -> bool:
        """Tell whether things still go wrong: then the command may end before it has cut the site off."""
        return self.turn < len(self.turns)

    @property
    def may_return(self) -> set[int]:
        """Return the numbers of sites that are gone, and may be invited again: not those that are forgotten."""
        return self.roster.gone - self.forgotten

    def standings(self) -> dict[str, Standing]:
        """Return how all names stand, as a coordinator would know that is started now."""
        roster = self.roster_node("living", self.charter.setting.clients, self.roster_disk)
        return {name: each.standing for name, each in roster.members.items()}
