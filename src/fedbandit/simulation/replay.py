"""The log of a deployed federation, replayed in process: the same envelopes in the same order, the same state.

It uses neither the coordinator's checks nor its snapshots, so that it can be held against them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fedbandit.durable.coordinator.record import (
    RecordKind,
    ServerRecord,
    epoch_in,
    forgotten_in,
    limits_in,
    revision_in,
)
from fedbandit.durable.journals.journal import Entry
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.revisions import Agreed
from fedbandit.protocol.server import ServerNode
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind


def replay(charter: Charter, log: Iterable[Entry]) -> ServerNode:
    """Return a fresh server node after all uploads, deadlines, epochs and changes of a whole log."""
    node = ServerNode(charter.build().server, charter.setting.clients)
    for entry in log:
        record = ServerRecord.from_bytes(entry.data)
        if record.what is RecordKind.DEADLINE:
            node.deadline()
        elif record.what is RecordKind.ABANDONED:
            node.abandon()
        elif record.what is RecordKind.LIMITED:
            node.limit_sums(limits_in(record))
        elif record.what is RecordKind.TICKED:
            node.tick(epoch_in(record))
        elif record.what is RecordKind.REVISED:
            agreed = Agreed.from_text(revision_in(record).charter)
            node.take_up(agreed.charter.build().server, agreed)
        elif record.what is RecordKind.FORGOT:
            gone = forgotten_in(record)
            node.tell_anew(np.array(gone.told, dtype=np.int64), gone.epoch, gone.number)
        elif record.what is RecordKind.FRAME:
            frame = Frame.from_bytes(record.data)
            if frame.kind is Kind.UPLOAD:
                node.receive(Envelope.of(frame, decode(frame.body)))
    return node
