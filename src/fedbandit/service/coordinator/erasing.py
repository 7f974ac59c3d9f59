"""A site is forgotten by a coordinator that is stopped: in its journal, on its roster, and with a receipt."""

from __future__ import annotations

import secrets
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.erasure import SALT_BYTES, Erased, erasure_of
from fedbandit.durable.coordinator.roster import Roster, Standing
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.reading import journals_at
from fedbandit.service.coordinator.receipts import signed
from fedbandit.service.coordinator.settings import FederationPlan, ServicePlan, roster_journal
from fedbandit.service.keys.files import write_secret


class Forgotten(NamedTuple):
    """What was forgotten, and where that is told."""

    erased: Erased
    receipt: Path
    salt: Path


def forget(plan: ServicePlan, federation: FederationPlan, site: str, folder: Path) -> Forgotten | None:
    """Forget a site, by its number or its name on the roster; None if that was done before.

    A receipt and its salt are written before the journal is: whatever ends this in the middle, either nothing is
    forgotten, and the next call writes both anew, or all is, and both are there.
    """
    if not federation.keep_log:
        raise InvalidInput(
            f"federations.{federation.name} has no keep_log = true, and what one site has sent cannot be taken out of "
            "sums: only a federation that has kept its log since its first day can forget a site"
        )
    if not folder.is_dir():
        raise InvalidInput(f"--folder {folder} is no folder: make it first")
    journals_at(plan.journal, federation.name)  # one that is not there must not be made
    now = time.time()
    with ExitStack() as stack:
        journal = open_journal(plan.journal, federation.name, keep_log=True)
        stack.callback(journal.close)
        roster = None
        if plan.authority is not None:
            clients = federation.charter.setting.clients
            roster = Roster(federation.name, clients, open_journal(plan.journal, roster_journal(federation.name)))
            stack.callback(roster.close)
        number = _number(roster, site)
        salt = secrets.token_bytes(SALT_BYTES)
        erasure = erasure_of(federation.charter, journal, number, salt=salt, now=now)
        if erasure is None:
            journal.compact()  # an earlier call may have ended before it
        else:
            receipt = folder / f"{federation.name}-{number}-receipt.json"
            told = {"federation": federation.name, "time": now, **asdict(erasure.erased)}
            receipt.write_text(signed(told, plan.credentials), encoding="utf-8")
            salted = folder / f"{federation.name}-{number}-salt.txt"
            write_secret(salted, f"{salt.hex()}\n".encode())
            erasure.write(journal)
        for name in _names(roster, number):
            assert roster is not None  # it has names
            roster.revoke(name, now)
        return None if erasure is None else Forgotten(erasure.erased, receipt, salted)


def _number(roster: Roster | None, site: str) -> int:
    member = None if roster is None else roster.members.get(site)
    if member is not None and member.number is not None:
        return member.number
    if not (site.isascii() and site.isdecimal()):
        where = "there is no roster" if roster is None else "it is no name of a site that has joined"
        raise InvalidInput(f"{site!r} names no site ({where}): give the number of the site")
    return int(site)


def _names(roster: Roster | None, number: int) -> list[str]:
    """Return the name of a site, if it has one that is not revoked."""
    members = [] if roster is None else list(roster.members.values())
    return [each.name for each in members if each.number == number and each.standing is not Standing.REVOKED]
