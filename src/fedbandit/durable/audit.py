"""What left sites, message by message: decoded to names and numbers, with how many observations each rests on.

A coordinator's journal has the uploads that it took in since its last snapshot, and with `keep_log` all of them. A site
has those that wait for an acknowledgement, the last that were acknowledged since it was opened, and the last that were
refused. What is not kept is told, not guessed.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fedbandit.core.messages import Message, Upload
from fedbandit.durable.server_record import ServerRecord, What, charter_in, revision_in
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import field_of

if TYPE_CHECKING:
    from fedbandit.durable.journals.reading import Rows  # slow to import, and sites need it not

COLUMNS = ("time", "site", "epoch", "number", "standing", "kind", "bytes", "observations", "smallest_upload")
NOT_KEPT = "what came before is not kept: keep_log = true in the coordinator's file keeps it, from the first day on"


@dataclass(frozen=True)
class Sent:
    """One message that left a site, or is about to."""

    site: int
    epoch: int
    number: int
    standing: str  # "taken in", "acknowledged", "waiting" or "refused"
    kind: str
    bytes: int  # of the frame
    observations: int  # that it rests on
    smallest_upload: int  # that was agreed on then
    contents: dict[str, Any]  # by name: numbers, and arrays as lists
    time: float | None = None

    @property
    def is_too_small(self) -> bool:
        """Tell whether it rests on fewer observations than were agreed on."""
        return 0 < self.observations < self.smallest_upload

    def cells(self) -> list[Any]:
        """Return what the columns say."""
        return [getattr(self, name) for name in COLUMNS]


@dataclass
class Audit:
    """All messages that are kept somewhere, in order, and what is not kept."""

    messages: list[Sent] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def too_small(self) -> list[Sent]:
        """Return the messages that rest on fewer observations than were agreed on."""
        return [each for each in self.messages if each.is_too_small]

    def of_site(self, site: int) -> Audit:
        """Return what one site has sent."""
        return Audit([each for each in self.messages if each.site == site], self.missing)

    def csv(self) -> str:
        """Return a table with one line a message; its contents are JSON."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([*COLUMNS, "contents"])
        lines.writerows([*each.cells(), json.dumps(each.contents)] for each in self.messages)
        return text.getvalue()

    def json(self) -> str:
        """Return the same as JSON, with what is not kept."""
        messages = [{**dict(zip(COLUMNS, each.cells(), strict=True)), "contents": each.contents} for each in self]
        return json.dumps({"messages": messages, "missing": self.missing}, indent=1) + "\n"

    def __iter__(self) -> Iterator[Sent]:
        """Go through the messages."""
        return iter(self.messages)


class Reading:
    """Reads uploads one after the other, and counts what each site has told of."""

    def __init__(self, agreed: Agreed) -> None:
        """Take what was agreed on when the first was sent."""
        self.smallest_upload = agreed.charter.algorithm.smallest_upload
        self._told: dict[int, int] = defaultdict(int)  # by site: observations that its messages were over

    def read(self, data: bytes, standing: str, time: float | None = None) -> Sent | None:
        """Return the message of a frame; None if it has none."""
        frame = Frame.from_bytes(data)
        return self.sent(frame, len(data), standing, time) if frame.kind is Kind.UPLOAD else None

    def sent(self, frame: Frame, size: int, standing: str, time: float | None = None) -> Sent:
        """Return the message of an upload whose frame has so many bytes."""
        message = decode(frame.body)
        assert isinstance(message, Upload), "as the body of every upload"
        self._told[frame.client] += message.rests_on(0)
        return Sent(
            frame.client, frame.epoch, frame.sequence, standing, message.kind, size,
            message.rests_on(self._told[frame.client]), self.smallest_upload, _contents(message), time,
        )  # fmt: skip


def audit_journal(rows: Rows) -> Audit:
    """Return what a coordinator's journal has of all that its sites have sent."""
    snapshot = rows.snapshot()
    records = list(rows.log())
    audit = Audit()
    if snapshot is not None and [each.position for each in records[: snapshot.position]] != [
        *range(1, snapshot.position + 1)
    ]:
        agreed = Agreed.from_text(str(field_of(snapshot.data, "charter")))
        audit.missing.append(f"of the first {snapshot.position} records the journal has a snapshot: {NOT_KEPT}")
        records = [each for each in records if each.position > snapshot.position]
    elif records:
        agreed = Agreed.from_text(charter_in(ServerRecord.from_bytes(records[0].data)))
    else:
        return audit
    reading, erased = Reading(agreed), 0
    for record in (ServerRecord.from_bytes(entry.data) for entry in records):
        if record.what is What.FRAME:
            sent = reading.read(record.data, "taken in", record.time)
            audit.messages += [sent] if sent else []
        elif record.what is What.REVISED:
            reading.smallest_upload = Agreed.from_text(revision_in(record).charter).smallest_upload
        erased += record.what is What.ERASED
    if erased:
        audit.missing.append(f"{erased} records of sites that were forgotten are erased")
    return audit


def audit_frames(agreed: Agreed, frames: Iterable[tuple[bytes, str]], sent: int) -> Audit:
    """Return what a site has of all that it has sent, as frames and how they stand; it has numbered so many."""
    reading = Reading(agreed)
    audit = Audit([each for each in (reading.read(*frame) for frame in frames) if each is not None])
    gone = sent - len({each.number for each in audit if each.standing != "refused"})
    if gone > 0:
        audit.missing.append(
            f"{gone} uploads that the coordinator has acknowledged are not kept here: `fedbandit audit` shows them, "
            "where the coordinator keeps its log"
        )
    return audit


def _contents(message: Message) -> dict[str, Any]:
    """Return the fields of an upload of one site by name, as numbers and lists of numbers."""
    return {name: np.asarray(getattr(message, name))[0].tolist() for name in message.layout()}
