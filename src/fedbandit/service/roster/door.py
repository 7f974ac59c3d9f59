"""The broker's door: whoever connects shows a certificate, and the roster says into which account it comes, if any."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping

from cryptography.hazmat.primitives.serialization import Encoding

from fedbandit.durable.coordinator.roster import Roster
from fedbandit.service.keys.doorkeeper import Admission, Doorkeeper, Question
from fedbandit.service.roster.token import read_joining_name
from fedbandit.transport.nats.broker_accounts import JOINING, MOST_SUBSCRIPTIONS
from fedbandit.transport.nats.subjects import Subjects

log = logging.getLogger("fedbandit.coordinator")

ASKED = "$SYS.REQ.USER.AUTH"  # where the broker asks


class Door:
    """Answers the broker.

    Several coordinators may hear what it asks, and the first answer counts: each is silent about sites of federations
    that another one serves.
    """

    def __init__(self, doorkeeper: Doorkeeper, rosters: Mapping[str, Roster], elsewhere: Collection[str] = ()) -> None:
        """Take what signs the answers, the roster of each federation, and which federations others serve."""
        self._doorkeeper = doorkeeper
        self._rosters = rosters
        self._elsewhere = elsewhere

    async def answer(self, subject: str, data: bytes) -> bytes | None:
        """Let somebody in, or not; say nothing of whoever belongs to a federation that is served elsewhere."""
        del subject
        try:
            question = Question.read(data)
        except ValueError as error:
            log.warning("%s", error)
            return b""
        if _federation(question.name) in self._elsewhere:
            return None
        try:
            admission = self.admission(question)
        except Exception as error:  # noqa: BLE001  a roster that cannot be written keeps one out, and no other
            log.warning("%s was not let in: %r", question.name, error)
            admission = None
        if admission is None:
            return self._doorkeeper.refuse(question, f"{question.name} is not on the roster")
        return self._doorkeeper.admit(question, admission)

    def admission(self, question: Question) -> Admission | None:
        """Return what somebody may do who shows a certificate of our authority."""
        invited = read_joining_name(question.name)
        if invited is not None:
            federation, token = invited
            roster = self._rosters.get(federation)
            if roster is None or not roster.has_token(token):
                return None
            subjects = Subjects(federation)
            return Admission(JOINING, [subjects.joining(token)], [f"{subjects.joining_inbox(token)}.>"], 4)
        federation, _, name = question.name.partition(".")
        roster = self._rosters.get(federation)
        number = None if roster is None else _number(roster, name, question)
        if number is None:
            return None
        subjects = Subjects(federation)
        return Admission(subjects.name(number), subjects.said_by(number), subjects.heard_by(number), MOST_SUBSCRIPTIONS)


def _federation(name: str) -> str:
    """Return the federation to which whoever has a certificate of this name belongs, or is invited."""
    invited = read_joining_name(name)
    return name.partition(".")[0] if invited is None else invited[0]


def _number(roster: Roster, name: str, question: Question) -> int | None:
    """Return the number of a site; one with a file of `keys new` that comes for the first time is put on the roster."""
    if name.isascii() and name.isdecimal() and name not in roster.members and int(name) < roster.clients:
        roster.adopt([int(name)], time.time())
    return roster.number_of(name, question.certificate.public_bytes(Encoding.PEM).decode())
