"""Faulty runs of federations whose sites come and go: they are invited, join, leave, are revoked, and come again.

The roster has a journal of its own on the coordinator's machine. What a site that is gone sends does not reach the
broker, and nothing reaches the site; what was under way before still comes to the coordinator. Tokens fall into other
hands, and are shown with another key: to the coordinator, and to one that was replaced and does not know it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.roster import Member, Roster, Standing
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import FROM_SITES
from fedbandit.durable.journals.lease import JournalLost
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.revisions import Agreed
from fedbandit.simulation.faults.failover import FailoverRun, Session
from fedbandit.simulation.faults.hosts import FusedJournal, Host
from fedbandit.simulation.faults.world import AnyHost
from fedbandit.wire.frame import Frame, Kind

COMINGS = {
    "invite": 1.0, "join": 3.0, "steal": 0.5, "ask_the_replaced": 0.5, "remove": 0.2, "revoke": 0.15,
}  # fmt: skip
LONGEST = 60  # steps for which a token is good, at most
MOST_INVITED = 100  # before a run begins: when there are as many invitations as numbers, all others are refused


@dataclass
class RosteredRun(FailoverRun):
    """A run in which a roster says who belongs to the federation."""

    beginners: int = 3  # sites that belong to it from the beginning
    roster_node: Callable[..., Roster] = Roster

    names: list[str] = field(default_factory=list)
    invited: dict[str, str] = field(default_factory=dict)  # by token: the name
    signed: dict[str, set[tuple[str, int]]] = field(default_factory=dict)  # by token: keys, each with its number
    said: dict[str, Standing] = field(default_factory=dict)  # by name: what came of the last change
    unsure: set[str] = field(default_factory=set)  # names of which a change was cut short: nobody knows what came of it
    shut: dict[int, list[tuple[float, float]]] = field(default_factory=dict)  # by number: from when to when, revoked
    signed_in_vain: list[str] = field(default_factory=list)  # tokens: a coordinator that was replaced signed a key
    dropped: list[tuple[int, float]] = field(default_factory=list)  # whose frame was left aside unread, and when

    def __post_init__(self) -> None:
        """Switch the coordinator on, and let the first sites join."""
        self.roster_disk = FusedJournal()
        self.replaced: list[Roster] = []  # of coordinators that were paused
        self._roster_session: Session | None = None
        self._agreed = Agreed(self.charter)
        super().__post_init__()
        while len(self.sites) < self.beginners and len(self.invited) < MOST_INVITED:
            self._invite()
            self._join()

    @property
    def honest(self) -> int:
        """Return 0: all sites come by the roster."""
        return 0

    @property
    def agreed(self) -> Agreed:
        """Return what the federation has agreed on, as the coordinator says or last said it."""
        if self.coordinator.node is not None:
            self._agreed = self.coordinator.node.agreed
        return self._agreed

    @property
    def there(self) -> list[Host[DurableClient]]:
        """Return the sites that belong to the federation now."""
        return [host for host in self.sites if host.number in self.roster.present]

    def _start_server(self, disk: FusedJournal, restored: bool) -> DurableServer:
        if self._roster_session is not None:
            self._roster_session.is_ended = True
        self.roster_disk.fuse = 0
        self.roster_disk.crash(survivors=0)  # what one that is paused has not synced is lost
        self._roster_session = Session(self.roster_disk)
        self.roster = self.roster_node("living", self.charter.setting.clients, self._roster_session)
        return super()._start_server(disk, restored)

    def _start_site(self, machine: int, number: int, disk: FusedJournal, restored: bool) -> DurableClient:
        is_new = disk.size() == 0
        node = super()._start_site(machine, number, disk, restored)
        if is_new:  # it asks what was agreed on before it does anything
            node.receive(Frame(Kind.CHARTER, number, 0, 0, self.agreed.text.encode()).to_bytes())
        return node

    def crash(self, host: AnyHost) -> None:
        """Cut the power of a machine."""
        super().crash(host)
        if host is self.coordinator:
            self.roster_disk.fuse = 0
            self.roster_disk.crash(survivors=self._pick(3))

    def commit(self, host: AnyHost, *, resend: bool = False) -> None:
        """Let a node send what it may; a round that waits for nobody who is there is closed as soon as it is seen."""
        if host is self.coordinator:
            node = self.coordinator.node
            if node is not None and self.roster.has_none_of(node.awaited().tolist()):
                self.attempt(host, lambda: node.deadline(self.now))
            super().commit(host)
            return
        under_way = len(self.wire)
        super().commit(host, resend=resend)
        if host.number in self.roster.gone:
            del self.wire[under_way:]

    def carry(self, data: bytes) -> None:
        """Deliver a frame; the broker lets nobody hear anything who is gone."""
        frame = Frame.from_bytes(data)
        if frame.kind in FROM_SITES or frame.client not in self.roster.gone:
            super().carry(data)

    def _at_coordinator(self, data: bytes, sender: int) -> Any:
        if self.roster.is_revoked(sender):
            self.dropped.append((sender, self.now))
            return None
        return super()._at_coordinator(data, sender)

    def machine_for(self, number: int) -> int:
        """Return the machine that an application asks; one that is gone decides as before."""
        return number % len(self.sites)

    def heal(self) -> None:
        """Let some of those who are gone come again, and mend everything."""
        while self._restart():
            pass
        self.roster_disk.fuse = self.coordinator.disk.fuse = 0
        for member in list(self.roster.members.values()):
            if member.number in self.may_return and self._pick(2):
                self._show(self._invite_as(member.name), "its key")
        super().heal()

    @property
    def may_return(self) -> set[int]:
        """Return the numbers of sites that are gone, and may be invited again."""
        return self.roster.gone

    def is_at_rest(self, asked: list[bytes]) -> bool:
        """Tell whether there is nothing left to do for those who are there."""
        has_doubts = any(host.node is None or host.node.unchecked is not None for host in self.there)
        return len(asked) == len(self.there) and not has_doubts

    # What operators and sites do at the coordinator's desk.

    def change(self, name: str, work: Callable[[], Member]) -> Member | None:
        """Have the standing of a name changed; None if it is refused, or if the power goes."""
        if self.coordinator.node is None:
            return None
        try:
            member: Member | None = self.attempt(self.coordinator, work)
        except InvalidInput:
            return None
        if member is None:
            self.unsure.add(name)
            self.said.pop(name, None)
            self._open_again(name)
        else:
            self.said[name] = member.standing
        return member

    def _invite(self) -> None:
        joined = {each.name for each in self.roster.members.values() if each.standing is Standing.JOINED}
        names = [*(name for name in self.names if name not in joined), f"site{len(self.names)}"]
        self._invite_as(names[self._pick(len(names))])

    def _invite_as(self, name: str) -> str:
        """Invite somebody, perhaps in vain; return the token."""
        token, until = f"token{len(self.invited)}", self.now + 1 + self._pick(LONGEST)
        self.invited[token] = name
        if name not in self.names:
            self.names.append(name)
        self.change(name, partial(self.roster.invite, name, token, until=until, days=1.0, now=self.now))
        return token

    def _join(self) -> None:
        """Show a token that was not used yet, or one that was, once more."""
        unused = [token for token in self.invited if token not in self.signed]
        tokens = list(self.signed if not unused or (self.signed and not self._pick(4)) else unused)
        self._show(tokens[-1 - self._pick(min(3, len(tokens)))], "its key")

    def _steal(self) -> None:
        """Show a token that was used with another key."""
        tokens = list(self.signed)
        self._show(tokens[self._pick(len(tokens))], "another key")

    def _ask_the_replaced(self) -> None:
        """Show a token, with another key, to a coordinator that was paused and replaced."""
        if self.replaced:
            roster, chance = self.replaced[self._pick(len(self.replaced))], self._pick(len(self.invited))
            waiting = [each.token for each in roster.members.values() if each.standing is Standing.INVITED]
            token = waiting[chance % len(waiting)] if waiting else list(self.invited)[chance]
            with suppress(InvalidInput, JournalLost):
                roster.join(token, "a third key", now=self.now, sign=str)
                self.signed_in_vain.append(token)

    def _show(self, token: str, key: str) -> None:
        name = self.invited[token]
        member = self.change(name, lambda: self.roster.join(token, key, now=self.now, sign=lambda each: each.name))
        if member is None or member.number is None:
            return
        self._open_again(name)
        self.signed.setdefault(token, set()).add((key, member.number))
        if key == "its key" and all(host.number != member.number for host in self.sites):
            self.boot(self.add_site(member.number))

    def _open_again(self, name: str) -> None:
        """Note that a site may send again, if it was revoked."""
        member = self.roster.members.get(name)
        if member is not None and member.number in self.shut:
            times = self.shut[member.number]
            times[-1] = times[-1][0], min(self.now, times[-1][1])

    def _remove(self) -> None:
        name = self.names[self._pick(len(self.names))]
        self.change(name, lambda: self.roster.remove(name, self.now))

    def _revoke(self) -> None:
        self.revoke(self.names[self._pick(len(self.names))])

    def revoke(self, name: str) -> None:
        """Cut a site off."""
        member = self.change(name, lambda: self.roster.revoke(name, self.now))
        if member is not None and member.number is not None:
            times = self.shut.setdefault(member.number, [])
            if not times or times[-1][1] <= self.now:
                times.append((self.now, float("inf")))

    def _fail_over(self) -> None:
        before, was_up = self.roster, self.coordinator.node is not None
        super()._fail_over()
        if was_up:
            self.replaced.append(before)

    def _fuse_server(self) -> None:
        disk = (self.coordinator.disk, self.roster_disk)[self._pick(2)]
        disk.fuse = 1 + self._pick(8)

    def _reconnect(self) -> None:
        if self.cut_off:
            number = self.cut_off.pop()
            self.commit(next(host for host in self.sites if host.number == number), resend=True)
