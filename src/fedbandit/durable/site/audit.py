"""What a site still has of all that it has sent."""

from __future__ import annotations

from collections.abc import Iterable

from fedbandit.durable.audit import Audit, Reading
from fedbandit.protocol.revisions import Agreed


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
