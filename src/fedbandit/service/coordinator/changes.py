"""What operators change of a federation while it is served: between two groups of arrivals, never in the middle of one.

They ask through the broker, with the coordinator's credential where there are credentials. `fedbandit change` gives
names and values. `fedbandit reload` gives what the file says now, and what differs from the file as it was last read is
what is changed: a value that was changed by a command meanwhile, and not in the file, stays. It asks first whether that
can be, of every federation of the file: all of them change, or none does.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedbandit.core.changes import Change
from fedbandit.core.errors import FedbanditError, InvalidInput
from fedbandit.durable.checked_input import checked_limits
from fedbandit.durable.coordinator.journalled import JournalledServer
from fedbandit.durable.coordinator.retuning import NAMES, Retuned, Tuning, read_value
from fedbandit.protocol.changing import Changed, changed, differing
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.charter_fields import differences
from fedbandit.protocol.forms import Forms
from fedbandit.service.coordinator.plan_checks import check_deadline
from fedbandit.service.coordinator.settings import FederationPlan
from fedbandit.transport.nats.broker_settings import LARGEST_MESSAGE
from fedbandit.transport.nats.streams import ROOM_FOR_HEADERS
from fedbandit.wire.header import LARGEST_HEADER

log = logging.getLogger("fedbandit.coordinator")

LARGEST_UPLOAD = LARGEST_MESSAGE - LARGEST_HEADER - ROOM_FOR_HEADERS  # bytes of a message


@dataclass
class _Wanted:
    asked: dict[str, Any]
    answer: asyncio.Future[dict[str, Any]]


class Changes:
    """The changes of one federation."""

    def __init__(self, plan: FederationPlan, server: JournalledServer, wake: Callable[[], None]) -> None:
        """Take what the file says, the coordinator's node, and what makes its host look for something to do."""
        self._plan = plan
        self._server = server
        self._wake = wake
        self._wanted: list[_Wanted] = []

    @property
    def deadline(self) -> float | None:
        """Return the seconds after which a round goes on without silent sites, as it is now."""
        return self._tuning.deadline

    @property
    def _tuning(self) -> Tuning:
        return self._server.retuned.on(_said(self._plan))

    async def answer(self, subject: str, data: bytes) -> bytes:
        """Make the change that an operator asks for; say what came of it, or what is wrong."""
        del subject
        try:
            wanted = _Wanted(_read(data), asyncio.get_running_loop().create_future())
            self._wanted.append(wanted)
            self._wake()
            said = await wanted.answer
        except FedbanditError as error:
            said = {"error": str(error)}
        except Exception as error:
            log.exception("%s: a change could not be made", self._plan.name)
            said = {"error": f"the coordinator could not do it ({error!r}): see its log"}
        return json.dumps(said).encode()

    @property
    def are_wanted(self) -> bool:
        """Tell whether any change waits to be made."""
        return bool(self._wanted)

    async def make(self, now: float) -> None:
        """Make all changes that are wanted, each in the journal before anything rests on it."""
        wanted, self._wanted = self._wanted, []
        for each in wanted:
            try:
                said = await asyncio.to_thread(self._make, each.asked, now)
            except BaseException as error:
                each.answer.set_exception(error)
                if not isinstance(error, FedbanditError):  # the journal may have failed, and then all has
                    raise
            else:
                each.answer.set_result(said)

    def _make(self, asked: dict[str, Any], now: float) -> dict[str, Any]:
        plan, file, values = self._plan, None, asked.get("values", {})
        if asked["do"] == "show":
            return {"revision": self._server.agreed.count, "agreed": self._agreed()}
        if asked["do"] in ("reload", "try"):
            file = _read_again(plan, asked.get("file", {}))
            values = _edited(plan, file)
        made, retuned, said = self._prepared(values, file)
        if asked["do"] == "try":
            self._server.require_possible(made, retuned)
            return {}
        self._plan = file or plan
        if file is None or said or not self._server.agreed.has_had(file.charter):
            self._server.read_again(_said(self._plan))
            self._server.revise(made, retuned, now)
            log.info("%s: revision %d: %s", plan.name, self._server.agreed.count, "; ".join(said))
        return {"revision": self._server.agreed.count, "changes": said, "note": self._note() if said else ""}

    def _agreed(self) -> dict[str, Any]:
        """Return what is agreed on, as far as it is not what it is by default."""
        charter = self._server.charter
        usual = {each.name: each.default for each in charter.algorithm.describe()}
        values = {name: each for name, each in charter.algorithm.values().items() if each != usual[name]}
        beside, unsaid = self._tuning.values(), Tuning().values()
        values |= {name: each for name, each in beside.items() if each != unsaid[name]}
        return {"algorithm": charter.algorithm.id, "dimension": charter.setting.dimension, **values}

    def _note(self) -> str:
        """Return what calls for attention after a change, if anything does."""
        size = self._server.charter.setting.dimension
        return "" if not Forms(self._server.agreed).are_mistaken() else (
            f"vectors had {size} numbers before, with another meaning: programs that still hand in such vectors are "
            "now misunderstood, so edit them"
        )  # fmt: skip

    def _prepared(self, values: dict[str, Any], file: FederationPlan | None) -> tuple[Changed, Retuned, list[str]]:
        """Return a change that can be, as far as can be told without what was learnt, and how it is told."""
        server, before = self._server, self._server.charter
        beside = {name: read_value(name, values[name]) for name in values if name in NAMES}
        made = changed(before, {name: values[name] for name in values if name not in NAMES})
        charter = made.charter
        charter.require_messages_within(LARGEST_UPLOAD)
        plan = file or self._plan
        retuned = server.retuned.with_values(beside, _said(plan))
        retuned = retuned if file is None else retuned.with_file(file.charter.fingerprint)
        _check(plan.name, charter, retuned.on(_said(plan)))
        said = [*_told(before, made), *self._told_beside(beside)]
        if file is None and not said:
            raise InvalidInput("nothing would change: give a name with another value, as in upload_threshold=3")
        return made, retuned, said

    def _told_beside(self, beside: dict[str, float | None]) -> list[str]:
        present = self._tuning.values()
        return [
            f"{name}: {_shown(present[name])} -> {_shown(value)} ({Change.AT_ONCE.value})"
            for name, value in beside.items()
            if value != present[name]
        ]


def _told(before: Charter, made: Changed) -> list[str]:
    found, places = differing(before, made.charter), made.places or ()
    if -1 in places and len(places) - places.count(-1) < before.setting.dimension:
        gone = ", ".join(str(each) for each in range(before.setting.dimension) if each not in places)
        found["features"] = f"without {gone}", f"with {places.count(-1)} new", Change.MIGRATION
    return [f"{name}: {old} -> {new} ({kind.value})" for name, (old, new, kind) in found.items()]


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def as_asked(plan: FederationPlan) -> dict[str, Any]:
    """Return what a file says of a federation, as `fedbandit reload` tells it."""
    return {"charter": plan.charter.text, "beside": _said(plan).values()}


def _read(data: bytes) -> dict[str, Any]:
    """Return what an operator asks for."""
    try:
        asked = json.loads(data)
        do, values = asked["do"], asked.get("values", {})
        is_right = isinstance(do, str) and all(isinstance(each, str) for pair in values.items() for each in pair)
    except (ValueError, KeyError, TypeError, AttributeError):
        is_right = False
    if not is_right:
        raise InvalidInput("this is no change: give names and values, as `fedbandit change` does")
    if do not in ("change", "reload", "try", "show"):
        raise InvalidInput(f"this coordinator cannot {do!r}: is it of an earlier version than the command?")
    return dict(asked)


def _read_again(plan: FederationPlan, file: dict[str, Any]) -> FederationPlan:
    """Return the plan that the file gives now."""
    try:
        charter, tuning = Charter.from_text(str(file["charter"])), Tuning.of(file["beside"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput("this is no coordinator's file: give one, as `fedbandit reload` does") from None
    return FederationPlan(plan.name, charter, tuning.limits, tuning.deadline, plan.keep_log)


def _edited(before: FederationPlan, after: FederationPlan) -> dict[str, Any]:
    """Return what was edited in the file since it was last read, by the names under which it is changed."""
    found = {name: value for name, _, value in differences(before.charter, after.charter)}
    old, new = _said(before).values(), _said(after).values()
    return found | {name: new[name] for name in new if new[name] != old[name]}


def _said(plan: FederationPlan) -> Tuning:
    """Return what a file says of what may change beside the charter."""
    return Tuning(plan.limits, plan.deadline, plan.charter.ending)


def _check(name: str, charter: Charter, tuning: Tuning) -> None:
    """Refuse what a coordinator would not start with, or its sites could not have."""
    check_deadline(name, charter, tuning.deadline)
    bounds = checked_limits(charter.with_limits(tuning.limits.bounds).limits)
    tuning.ending.require_possible(duels=charter.algorithm.duels, largest=bounds.reward)
