"""What a coordinator's journal has of all that its sites have sent."""

from __future__ import annotations

from fedbandit.durable.audit import Audit, Reading
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord, charter_in, revision_in
from fedbandit.durable.journals.reading import Rows
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire.state import field_of

NOT_KEPT = "what came before is not kept: keep_log = true in the coordinator's file keeps it, from the first day on"


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
        if record.what is RecordKind.FRAME:
            sent = reading.read(record.data, "taken in", record.time)
            audit.messages += [sent] if sent else []
        elif record.what is RecordKind.REVISED:
            reading.smallest_upload = Agreed.from_text(revision_in(record).charter).smallest_upload
        erased += record.what is RecordKind.ERASED
    if erased:
        audit.missing.append(f"{erased} records of sites that were forgotten are erased")
    return audit
