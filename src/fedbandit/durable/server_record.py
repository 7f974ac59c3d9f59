"""A record in the journal of a coordinator: what happened, and when.

    what u8 | time f64 | a frame, the charter, or what else belongs to it

The log of frames is the whole truth about a federation: replayed into a fresh server node it gives the same state, bit
for bit.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from fedbandit.core.errors import ProtocolError

_HEAD = struct.Struct("<Bd")


class What(IntEnum):
    """What happened."""

    BEGAN = 0  # the charter and the coordinator's epoch
    FRAME = 1  # a frame was taken in
    DEADLINE = 2  # the open round was closed
    OPENED = 3  # the coordinator was started again: the epoch of what it sends from now on
    TRIED = 4  # a frame, of which this is the digest, is about to be taken in; without a digest: that is over
    ASIDE = 5  # a frame was put aside, after its digest: see `durable.careful`
    RENEWED = 6  # a new epoch of downloads was begun: the epoch, and the site that gave cause for it
    TICKED = 7  # an epoch of forgetting began: its number
    SHARED = 8  # what versions in development wrote; nothing follows from it
    REVISED = 9  # the charter, the limits or the deadline have changed: see `durable.revised_server`
    FORGOT = 10  # a site was forgotten: its number, a new epoch of downloads, who is told anew: see `durable.erasure`
    ERASED = 11  # in the place of a record of a site that was forgotten: its digest, with a salt that is not kept
    ABANDONED = 12  # a secure aggregation was given up: see `durable.abandoning`
    LIMITED = 13  # sums of secure aggregations are checked by other limits: of arms and of rewards


_KNOWN = frozenset(What)


class ServerRecord(NamedTuple):
    """One record.

    >>> ServerRecord.from_bytes(ServerRecord(What.DEADLINE, 7.5).to_bytes())
    ServerRecord(what=<What.DEADLINE: 2>, time=7.5, data=b'')
    """

    what: What
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
        return cls(What(what), time, data[_HEAD.size :])
