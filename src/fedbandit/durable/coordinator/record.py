"""A record in the journal of a coordinator: what happened, and when.

    what u8 | time f64 | a frame, the charter, or what else belongs to it

The log of frames is the whole truth about a federation: replayed into a fresh server node it gives the same state, bit
for bit. What stands in a record of each kind is written and read here; frames are `wire.frame`'s, and what concerns
frames that stop a coordinator is `durable.coordinator.crash_guard`'s.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError

_HEAD = struct.Struct("<Bd")


class RecordKind(IntEnum):
    """What happened."""

    BEGAN = 0  # the charter and the coordinator's epoch
    FRAME = 1  # a frame was taken in
    DEADLINE = 2  # the open round was closed
    OPENED = 3  # the coordinator was started again: the epoch of what it sends from now on
    TRIED = 4  # a frame, of which this is the digest, is about to be taken in; without a digest: that is over
    ASIDE = 5  # a frame was put aside, after its digest: see `durable.coordinator.crash_guard`
    RENEWED = 6  # a new epoch of downloads was begun: the epoch, and the site that gave cause for it
    TICKED = 7  # an epoch of forgetting began: its number
    SHARED = 8  # what versions in development wrote; nothing follows from it
    REVISED = 9  # the charter, the limits or the deadline have changed: see `revised_server`
    FORGOT = 10  # a site was forgotten: its number, a new epoch of downloads, who is told anew: see `erasure`
    ERASED = 11  # in the place of a record of a site that was forgotten: its digest, with a salt that is not kept
    ABANDONED = 12  # a secure aggregation was given up: see `abandoning`
    LIMITED = 13  # sums of secure aggregations are checked by other limits: of arms and of rewards


_KNOWN = frozenset(RecordKind)


class ServerRecord(NamedTuple):
    """One record.

    >>> ServerRecord.from_bytes(ServerRecord(RecordKind.DEADLINE, 7.5).to_bytes())
    ServerRecord(what=<RecordKind.DEADLINE: 2>, time=7.5, data=b'')
    """

    what: RecordKind
    time: float
    data: bytes = b""

    def to_bytes(self) -> bytes:
        """Return the record as it is written."""
        return _HEAD.pack(self.what, self.time) + self.data

    @classmethod
    def from_bytes(cls, data: bytes) -> ServerRecord:
        """Return the record that was written."""
        if len(data) < _HEAD.size or data[0] not in _KNOWN:
            raise ProtocolError("the journal has a record that this fedbandit does not know: is it a newer one's?")
        what, time = _HEAD.unpack_from(data)
        return cls(RecordKind(what), time, data[_HEAD.size :])


def began(now: float, epoch: int, charter: str) -> ServerRecord:
    """Return the first record of a journal.

    >>> record = began(7.5, 17, "{}")
    >>> epoch_in(record), charter_in(record)
    (17, '{}')
    """
    return ServerRecord(RecordKind.BEGAN, now, f"{epoch} {charter}".encode())


def charter_in(record: ServerRecord) -> str:
    """Return the charter that a first record tells."""
    return record.data.decode(errors="replace").partition(" ")[2]


def opened(now: float, epoch: int) -> ServerRecord:
    """Return the record of a start that is not the first."""
    return ServerRecord(RecordKind.OPENED, now, str(epoch).encode())


def ticked(now: float, epoch: int) -> ServerRecord:
    """Return the record of an epoch of forgetting."""
    return ServerRecord(RecordKind.TICKED, now, str(epoch).encode())


def epoch_in(record: ServerRecord) -> int:
    """Return the epoch that a record of a beginning, a start or a tick tells."""
    return int(record.data.split(maxsplit=1)[0])


class Renewal(NamedTuple):
    """A new epoch of downloads, and the site that gave cause for it."""

    epoch: int
    cause: int


def renewed(now: float, epoch: int, cause: int) -> ServerRecord:
    """Return the record of a new epoch of downloads.

    >>> renewal_in(renewed(7.5, 17, 3))
    Renewal(epoch=17, cause=3)
    """
    return ServerRecord(RecordKind.RENEWED, now, f"{epoch} {cause}".encode())


def renewal_in(record: ServerRecord) -> Renewal:
    """Return what a record of a new epoch of downloads tells."""
    return Renewal(*map(int, record.data.split()))


class Revision(NamedTuple):
    """What was agreed on in a change: a charter, as text, and what is not in it (see `retuning`)."""

    charter: str
    retuned: dict[str, Any]


def revised(now: float, charter: str, retuned: str) -> ServerRecord:
    """Return the record of a change, given as texts.

    >>> revision_in(revised(7.5, "{}", '{"files": []}'))
    Revision(charter='{}', retuned={'files': []})
    """
    return ServerRecord(
        RecordKind.REVISED, now, json.dumps({"charter": charter, "retuned": json.loads(retuned)}).encode()
    )


def revision_in(record: ServerRecord) -> Revision:
    """Return what a record of a change tells."""
    values = json.loads(record.data)
    return Revision(values["charter"], values["retuned"])


class Forgotten(NamedTuple):
    """A site that was forgotten, the epoch and the sites of the downloads that tell it, and their number if they count.

    See `core.erasing.CountsOn` for the number.
    """

    site: int
    epoch: int
    told: Sequence[int]
    number: int = 0


def forgot(now: float, site: int, epoch: int, told: Sequence[int], number: int | None = None) -> ServerRecord:
    """Return the record of a site that was forgotten; without a number where the server's downloads have none.

    >>> forgotten_in(forgot(7.5, 3, 17, [0, 1]))
    Forgotten(site=3, epoch=17, told=[0, 1], number=0)
    """
    says = {"site": site, "epoch": epoch, "told": told}
    return ServerRecord(
        RecordKind.FORGOT, now, json.dumps(says if number is None else {**says, "number": number}).encode()
    )


def forgotten_in(record: ServerRecord) -> Forgotten:
    """Return what a record of a site that was forgotten tells."""
    return Forgotten(**json.loads(record.data))


def limited(now: float, limits: Bounds) -> ServerRecord:
    """Return the record of the limits by which sums of secure aggregations are checked.

    >>> limits_in(limited(7.5, Bounds(context=2.0)))
    Bounds(context=2.0, reward=inf)
    """
    return ServerRecord(RecordKind.LIMITED, now, f"{limits.context!r} {limits.reward!r}".encode())


def limits_in(record: ServerRecord) -> Bounds:
    """Return the limits that a record tells."""
    return Bounds(*map(float, record.data.split()))
