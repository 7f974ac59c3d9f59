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
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedbandit.core.messages import Message, Upload
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind

COLUMNS = ("time", "site", "epoch", "number", "standing", "kind", "bytes", "observations", "smallest_upload")


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


def _contents(message: Message) -> dict[str, Any]:
    """Return the fields of an upload of one site by name, as numbers and lists of numbers."""
    return {name: np.asarray(getattr(message, name))[0].tolist() for name in message.layout()}
