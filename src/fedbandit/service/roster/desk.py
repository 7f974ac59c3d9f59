"""The coordinator's desk: operators say who is to belong to a federation, and whoever was invited gets a certificate.

Operators reach it with the coordinator's credential, through the broker; nobody else can say anything there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from fedbandit.core.errors import FedbanditError, InvalidInput
from fedbandit.core.seconds import DAY
from fedbandit.durable.coordinator.roster import Member, Roster
from fedbandit.service.keys.certificates import Authority, key_digest, read_request
from fedbandit.service.roster.token import Invitation, joining_name
from fedbandit.transport.nats.broker_accounts import JOINING
from fedbandit.transport.nats.subjects import Subjects

log = logging.getLogger("fedbandit.coordinator")

MOST_DAYS = 36_500
LARGEST_REQUEST = 16_384  # bytes
LOOKS = 10  # at the connections of a site that is gone: one may have been let in just before, and is seen just after


class Serving(Protocol):
    """What the desk needs of a federation that is served."""

    roster: Roster | None

    def last_seen(self, number: int) -> float | None:
        """Return when a site was last heard from, if it was."""

    def has_forgotten(self, number: int) -> bool:
        """Tell whether nothing of a site is ever taken in again, since it was forgotten."""

    def wake(self) -> None:
        """Look at once whether a round waits for nobody any more."""


@dataclass
class Desk:
    """Answers operators, and those who were invited."""

    authority: Authority
    federations: Mapping[str, Serving]
    end_connections: Callable[[str], Awaitable[int]]  # in an account
    elsewhere: Collection[str] = ()  # federations that other coordinators serve, which hear whoever joins too

    def __post_init__(self) -> None:
        """Begin by sending away whoever was let in before the last end of the coordinator, and is gone."""
        self._looks_left = {
            Subjects(name).name(number): LOOKS
            for name, each in self.federations.items()
            for number in (each.roster.gone if each.roster is not None else ())
        }

    async def answer_operator(self, subject: str, data: bytes) -> bytes:
        """Do what an operator wants; say what is wrong with it, if something is."""
        federation = subject.split(".")[1]

        async def act() -> dict[str, Any]:
            asked = json.loads(data)
            if asked["do"] == "sites":
                return {"sites": self._sites(federation)}
            return await self._change(federation, asked)

        return await _said(act)

    async def answer_invited(self, subject: str, data: bytes) -> bytes | None:
        """Sign the key of whoever was invited; what is signed is in the roster's journal before it is told.

        Nothing is said to whoever was invited to a federation that is served elsewhere: the first answer counts.
        """
        _, federation, token = subject.split(".")
        if federation in self.elsewhere:
            return None

        async def act() -> dict[str, Any]:
            member = self.join(federation, token, data)
            return {"certificate": member.certificate, "number": member.number}

        return await _said(act)

    def join(self, federation: str, token: str, data: bytes) -> Member:
        """Return the member that a token makes of whoever sends a request."""
        roster = self._roster(federation)
        try:
            if len(data) > LARGEST_REQUEST:
                raise ValueError("it is too large")
            request = read_request(data)
        except ValueError as error:
            raise InvalidInput(f"the request for a certificate cannot be used ({error}): join again") from None

        def sign(member: Member) -> str:
            assert member.number is not None
            until = datetime.fromtimestamp(time.time() + member.days * DAY, UTC)
            return self.authority.sign(request, f"{federation}.{member.name}", member.number, until).decode()

        before = set(roster.present)
        member = roster.join(token, key_digest(request), now=time.time(), sign=sign)
        if member.number not in before:
            log.info("%s: %s has joined as site %d", federation, member.name, member.number)
            self.federations[federation].wake()
        return member

    def invite(self, federation: str, name: str, days: float, valid: float, broker: str) -> str:
        """Return the token of a new invitation, good for some days, for a certificate that is valid for others."""
        for what, given in (("--token-days", days), ("--certificate-days", valid)):
            if not 0 < given <= MOST_DAYS:
                raise InvalidInput(f"{what} must be more than 0 and at most {MOST_DAYS}, not {given:g}: give days")
        token, now, roster = secrets.token_hex(16), time.time(), self._roster(federation)
        until, known = now + days * DAY, roster.members.get(name)
        if known is not None and known.number is not None and self.federations[federation].has_forgotten(known.number):
            raise InvalidInput(
                f"{name!r} was forgotten in {federation}, and nothing of it is taken in any more: invite it under "
                "another name"
            )
        roster.invite(name, token, until=until, days=valid, now=now)
        log.info("%s: %s is invited", federation, name)
        credential = self.authority.issue(joining_name(federation, token), datetime.fromtimestamp(until, UTC))
        return Invitation(broker, name, credential).text

    async def send_away(self) -> None:
        """End connections of sites that are gone; to be called now and then, while the broker is there."""
        for account in list(self._looks_left):
            self._looks_left[account] -= 1
            is_gone = self._is_gone(account)
            if not is_gone or not self._looks_left[account]:
                del self._looks_left[account]
            if is_gone:
                await self.end_connections(account)

    async def _change(self, federation: str, asked: dict[str, Any]) -> dict[str, Any]:
        roster, now = self._roster(federation), time.time()
        if asked["do"] == "invite":
            return {"token": self.invite(federation, *(asked[each] for each in ("name", "days", "valid", "broker")))}
        if asked["do"] not in ("remove", "revoke"):
            raise InvalidInput(
                f"this coordinator cannot {asked['do']!r}: is it of an earlier version than the command?"
            )
        member = (roster.remove if asked["do"] == "remove" else roster.revoke)(asked["name"], now)
        log.info("%s: %s is %s", federation, member.name, member.standing)
        await self.end_connections(JOINING)  # whoever holds the token may be there; others who are join again
        ended = 0
        if member.number is not None:
            account = Subjects(federation).name(member.number)
            self._looks_left[account] = LOOKS
            ended = await self.end_connections(account)
            self.federations[federation].wake()
        return {"standing": member.standing, "ended": ended}

    def _sites(self, federation: str) -> list[dict[str, Any]]:
        serving = self.federations[federation]
        members = sorted(self._roster(federation).members.values(), key=lambda each: (each.number is None, each.number))
        return [
            {
                "name": each.name,
                "number": each.number,
                "standing": each.standing,
                "since": each.since,
                "last_seen": None if each.number is None else serving.last_seen(each.number),
            }
            for each in members
        ]

    def _roster(self, federation: str) -> Roster:
        found = self.federations.get(federation)
        if found is None or found.roster is None:
            raise InvalidInput(f"this coordinator serves no federation {federation!r}: see its file for their names")
        return found.roster

    def _is_gone(self, account: str) -> bool:
        federation, _, number = account.partition(".")
        return int(number) in self._roster(federation).gone


async def _said(act: Callable[[], Awaitable[dict[str, Any]]]) -> bytes:
    """Return what came of something as JSON: an error is one sentence, and the desk stays open."""
    try:
        said = await act()
    except FedbanditError as error:
        said = {"error": str(error)}
    except asyncio.CancelledError:
        raise
    except Exception as error:
        log.exception("the roster could not be changed")
        said = {"error": f"the coordinator could not do it ({error!r}): see its log"}
    return json.dumps(said).encode()
