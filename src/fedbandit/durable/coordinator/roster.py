"""Who belongs to a federation: sites by name, in a journal of their own, so that whoever was shut out stays out.

    invite    a name, and a token that can be used once
    join      whoever has the token gives a key; the name gets a number, and the certificate of that key
    remove    the site leaves: what it sent stays, rounds no longer wait for it, and it may be invited again
    revoke    the site is cut off: nothing of it is taken in any more

A number belongs to its name for good, since what was taken in under it does. Every change is a record with all that is
known of one member, and is synced before anybody hears of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.durable.journals.journal import Journal

SNAPSHOT_EVERY = 1000  # records


class Standing(StrEnum):
    """How a name stands with its federation."""

    INVITED = "invited"
    JOINED = "joined"
    REMOVED = "removed"
    REVOKED = "revoked"


@dataclass(frozen=True)
class Member:
    """All that is known of one name."""

    name: str
    standing: Standing
    since: float
    number: int | None = None  # from the first time that it joins
    token: str = ""  # of the last invitation
    token_until: float = 0.0
    days: float = 0.0  # for which its certificate is to be valid
    key: str = ""  # digest of the key that has used the token
    certificate: str = ""  # "": of a site that has a file of `keys new`, any that names it
    is_cut_off: bool = False  # revoked, and not joined again since


class Roster:
    """The members of one federation.

    >>> from fedbandit.durable.journals.journal import MemoryJournal
    >>> roster = Roster("clinics", 3, MemoryJournal())
    >>> roster.invite("north", "token", until=100.0, days=365.0, now=0.0).standing.value
    'invited'
    >>> roster.join("token", "key", now=50.0, sign=lambda member: f"certificate of number {member.number}").certificate
    'certificate of number 0'
    >>> roster.number_of("north", "certificate of number 0")
    0
    >>> roster.revoke("north", now=60.0).standing.value, roster.number_of("north", "certificate of number 0")
    ('revoked', None)
    """

    def __init__(self, federation: str, clients: int, journal: Journal) -> None:
        """Go on from the journal of a federation that has numbers for so many sites."""
        self.federation = federation
        self.clients = clients
        self.journal = journal
        self.members: dict[str, Member] = {}
        self._by_number: dict[int, Member] = {}
        self._records = 0
        snapshot = journal.snapshot()
        for each in [] if snapshot is None else json.loads(snapshot.data):
            self._take_in(member_from(each))
        for entry in journal.records(snapshot.position if snapshot else 0):
            self._take_in(member_from(json.loads(entry.data)))

    @property
    def present(self) -> set[int]:
        """Return the numbers of the sites that belong to the federation now."""
        return {number for number, member in self._by_number.items() if member.standing is Standing.JOINED}

    @property
    def gone(self) -> set[int]:
        """Return the numbers of sites that may not be connected."""
        return set(self._by_number) - self.present

    def is_revoked(self, number: int) -> bool:
        """Tell whether nothing of a site is to be taken in."""
        return number in self._by_number and self._by_number[number].is_cut_off

    def has_none_of(self, awaited: list[int]) -> bool:
        """Tell whether some are awaited, and none of them belongs to the federation now."""
        return bool(awaited) and self.present.isdisjoint(awaited)

    def invite(self, name: str, token: str, *, until: float, days: float, now: float) -> Member:
        """Note that whoever has a token may join under a name."""
        known = self.members.get(name)
        if known is None:
            check_site_name(name)
        elif known.standing is Standing.JOINED or (known.standing is Standing.INVITED and now < known.token_until):
            raise InvalidInput(
                f"the name {name!r} is taken in {self.federation} ({known.standing}): choose another, or end that "
                f"first with `fedbandit remove {self.federation} {name}`"
            )
        waiting = [
            each for each in self._standing(Standing.INVITED)
            if each.number is None and each.name != name and now < each.token_until
        ]  # fmt: skip
        if (known is None or known.number is None) and len(waiting) >= len(self._free()):
            raise InvalidInput(
                f"{self.federation} has {self.clients} numbers for sites, and all are given or promised: invite a site "
                "that was removed or revoked under its old name, or begin a federation with more clients"
            )
        before = Member(name, Standing.INVITED, now) if known is None else known
        invited = Member(name, Standing.INVITED, now, before.number, token, until, days)
        return self._write(replace(invited, is_cut_off=before.is_cut_off))

    def join(self, token: str, key: str, *, now: float, sign: Callable[[Member], str]) -> Member:
        """Return the member that a token makes of whoever has a key; `sign` makes its certificate, once.

        Whoever asks again, with the same token and the same key, is told the same.
        """
        member = next((each for each in self.members.values() if token and each.token == token), None)
        if member is None or member.standing in (Standing.REMOVED, Standing.REVOKED):
            raise InvalidInput(
                f"this token is no invitation to {self.federation}, or no longer one: ask for a new invitation"
            )
        if member.standing is Standing.JOINED:
            if member.key != key:
                raise InvalidInput(
                    f"this token was used already, with another key, and is good for one: ask for a new invitation to "
                    f"{self.federation}"
                )
            return member
        if now >= member.token_until:
            raise InvalidInput(f"this token has expired: ask for a new invitation to {self.federation}")
        number = min(self._free(), default=None) if member.number is None else member.number
        if number is None:  # a site with a file of `keys new` has come first
            raise InvalidInput(f"{self.federation} has no number left for {member.name!r}: ask its operator for one")
        joined = replace(member, standing=Standing.JOINED, since=now, number=number, key=key, is_cut_off=False)
        return self._write(replace(joined, certificate=sign(joined)))

    def adopt(self, numbers: Iterable[int], now: float) -> None:
        """Note sites that have files of `keys new`, under their numbers as names."""
        for number in sorted(set(numbers) - set(self._by_number)):
            self._write(Member(str(number), Standing.JOINED, now, number))

    def remove(self, name: str, now: float) -> Member:
        """Let a site leave, or withdraw an invitation."""
        member = self._known(name)
        if member.standing is Standing.REVOKED:
            raise InvalidInput(f"{name!r} was revoked, which is more: invite it again, or leave it so")
        return member if member.standing is Standing.REMOVED else self._end(member, Standing.REMOVED, now)

    def revoke(self, name: str, now: float) -> Member:
        """Cut a site off."""
        member = self._known(name)
        if member.standing is Standing.REVOKED:
            return member
        return self._end(replace(member, is_cut_off=True), Standing.REVOKED, now)

    def has_token(self, token: str) -> bool:
        """Tell whether a token is, or was, an invitation of somebody who was not sent away since."""
        return bool(token) and any(each.token == token for each in self._standing(Standing.INVITED, Standing.JOINED))

    def number_of(self, name: str, certificate: str) -> int | None:
        """Return the number of whoever shows a certificate with a name; None: it is to be let in by nobody."""
        member = self.members.get(name)
        if member is None or member.standing is not Standing.JOINED:
            return None
        return member.number if member.certificate in ("", certificate) else None

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def _standing(self, *standings: Standing) -> list[Member]:
        return [each for each in self.members.values() if each.standing in standings]

    def _free(self) -> set[int]:
        return set(range(self.clients)) - set(self._by_number)

    def _known(self, name: str) -> Member:
        member = self.members.get(name)
        if member is None:
            raise InvalidInput(
                f"{self.federation} has no site {name!r}: see `fedbandit sites {self.federation}` for their names"
            )
        return member

    def _end(self, member: Member, standing: Standing, now: float) -> Member:
        return self._write(replace(member, standing=standing, since=now, token=""))

    def _write(self, member: Member) -> Member:
        """Make a change safe, then take it in."""
        try:
            self.journal.append(json.dumps(asdict(member)).encode())
            self.journal.sync()
        except BaseException:
            self.journal.rollback()
            raise
        self._take_in(member)
        if self._records >= SNAPSHOT_EVERY:
            self.journal.save(json.dumps([asdict(each) for each in self.members.values()]).encode())
            self._records = 0
        return member

    def _take_in(self, member: Member) -> None:
        self.members[member.name] = member
        if member.number is not None:
            self._by_number[member.number] = member
        self._records += 1


def check_site_name(name: str) -> str:
    """Return a name that a site can be invited under, or say what is wrong with it.

    >>> check_site_name("north")
    'north'
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", name):
        raise InvalidInput(
            f"{name!r} cannot name a site: begin with a letter, and go on with letters, digits, - and _, 64 at most"
        )
    return name


def member_from(record: dict[str, object]) -> Member:
    """Return the member that a record tells of."""
    try:
        return Member(**{**record, "standing": Standing(str(record["standing"]))})  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError):
        raise ProtocolError("the roster has a record that this fedbandit does not know: is it a newer one's?") from None
