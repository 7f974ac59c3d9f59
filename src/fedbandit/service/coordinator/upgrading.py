"""What an earlier version has written becomes a federation whose sites come and go by a roster.

Journals and stores of every version open as they are. What is done here is the rest: the journals are written anew,
with checksums; with TLS there is a roster with all sites on it that have files of `keys new`; the broker's credential
names who says whom it may let in; and the coordinator's file names the authority.

All is looked at before anything is changed, and whatever is done already is left: a call that was cut short is made
again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.roster import Roster
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.inspection import inspect
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.reading import journals_at, reading
from fedbandit.service.coordinator.settings import FederationPlan, ServicePlan, read_plan, roster_journal
from fedbandit.service.keys.files import DOORKEEPER, Keys, write_secret
from fedbandit.transport.nats.broker_settings import BROKER


def upgrade(file: Path, folder: Path) -> Iterator[str]:
    """Bring all federations of a coordinator's file up to date, with the keys in a folder; yield what was done."""
    plan = read_plan(file)
    keys = Keys(plan.authority or folder) if plan.broker.startswith("tls://") else None
    for each in plan.federations:
        _require_whole(plan.journal, each.name)
    if keys is not None:
        keys.open()
        if plan.credentials is None:
            raise InvalidInput(
                f"{file} names no credentials, which tls:// needs: write credentials, as in keys/coordinator.pem"
            )
    for each in plan.federations:
        numbers = _brought_up_to_date(plan, each)
        yield f"{each.name}: the journal is as this version writes it; sites that have sent something: {_list(numbers)}"
        if keys is not None:
            yield f"{each.name}: on the roster: {_list(_on_the_roster(plan, each, numbers | _with_files(keys, each)))}"
    if keys is None:
        yield f"{plan.broker} is no tls://, so there is no roster: sites are known by their numbers, as before"
        return
    if _names_the_doorkeeper(keys):
        yield f"{keys.path(BROKER)}: names the doorkeeper now"
    if plan.authority is None:
        _name_the_authority(file, keys)
        yield f"{file}: names the authority now"


def _require_whole(journal: str, name: str) -> None:
    """Refuse a journal that is not there, or is damaged."""
    for place, found in journals_at(journal, name):
        with reading(place, found) as rows:
            faults = inspect(rows).faults
        if faults:
            raise InvalidInput(f"the journal of {name} is damaged ({faults[0]}): restore a backup of it first")


def _brought_up_to_date(plan: ServicePlan, federation: FederationPlan) -> set[int]:
    """Write a journal anew, as this version does; return the sites of which it knows something."""
    now = time.time()
    with closing(open_journal(plan.journal, federation.name, keep_log=federation.keep_log)) as journal:
        server = DurableServer(federation.charter, journal, epoch=int(now), now=now, limits=federation.limits)
        server.save()
        return set(server.accounts.joined)


def _with_files(keys: Keys, federation: FederationPlan) -> set[int]:
    """Return the sites that have files of `keys new` in the folder."""
    clients = federation.charter.setting.clients
    return {number for number in range(clients) if keys.path(f"{federation.name}.{number}").exists()}


def _on_the_roster(plan: ServicePlan, federation: FederationPlan, numbers: set[int]) -> list[str]:
    """Put sites on the roster under their numbers, unless they are on it; return the names of all."""
    journal = open_journal(plan.journal, roster_journal(federation.name))
    with closing(Roster(federation.name, federation.charter.setting.clients, journal)) as roster:
        roster.adopt(numbers, time.time())
        return list(roster.members)


def _names_the_doorkeeper(keys: Keys) -> bool:
    """Let the broker's credential name the doorkeeper; tell if it did not."""
    path = keys.path(BROKER)
    credential = path.read_bytes() if path.exists() else DOORKEEPER.encode()
    if credential.startswith(DOORKEEPER.encode()):
        return False
    write_secret(path, f"{DOORKEEPER}{keys.open().doorkeeper.name}\n".encode() + credential)
    return True


def _name_the_authority(file: Path, keys: Keys) -> None:
    """Write the line with which a roster begins above all else in the coordinator's file."""
    named = keys.folder.absolute()
    beside = file.absolute().parent
    if named.is_relative_to(beside):
        named = named.relative_to(beside)
    made = file.with_suffix(".new")
    made.write_text(f"authority = {json.dumps(str(named))}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    try:
        read_plan(made)
    except InvalidInput:
        made.unlink()
        raise
    made.replace(file)


def _list(many: set[int] | list[str]) -> str:
    return ", ".join(map(str, sorted(many) if isinstance(many, set) else many)) or "none"
