"""A coordinator that has gone back in time, and how its sites hear it again.

A site can show that the coordinator knows less than it once did: it has a download that was never sent, or it has
acknowledgements for uploads that the journal lacks. Then the journal comes from a backup, or was begun anew, perhaps
with a clock that is behind. Sites take downloads with lower numbers than their last for old ones; so the coordinator
begins a new epoch of downloads, greater than any that this site has heard of, and sends all sites their latest under
new numbers. The first site to show it after a start gives cause for that even if it has no download of the present
epoch: one that was sent before the loss may still be under way to it, under a number that would be given again.

A site that lies can cause this too, so it may do so only now and then, and what it says must be possible: epochs are
times in seconds, and no coordinator's clock was ever years ahead.
"""

from __future__ import annotations

from typing import Protocol

from fedbandit.core.errors import ProtocolError
from fedbandit.durable.concerns import Concerns
from fedbandit.durable.site_accounts import Accounts
from fedbandit.protocol.server import ServerNode
from fedbandit.wire.frame import Frame

RENEWALS = 4  # that one site may cause at once
RENEWAL_SECONDS = 1800.0  # after which it may cause one more
NO_EARLIER = 1_767_225_600  # a clock that shows a time before 2026 is wrong
FARTHEST_AHEAD = 10 * 365 * 86_400  # seconds that the clock of an earlier coordinator may have been ahead
DAY = 86_400.0


class Coordinator(Protocol):
    """What must be known to judge."""

    node: ServerNode
    accounts: Accounts
    concerns: Concerns
    has_renewed: bool  # an epoch of downloads was begun since it was started


def new_epoch(coordinator: Coordinator, ask: Frame, lacks_uploads: bool, now: float) -> int:
    """Return the epoch of downloads that an ASK gives cause to begin, or 0; refuse one that cannot be true."""
    node, site = coordinator.node, ask.client
    known, own = (ask.epoch, ask.sequence), (node.epoch, node.sent)
    if known <= own and not (lacks_uploads and (known[0] == own[0] or not coordinator.has_renewed)):
        return 0
    if known[0] > max(now, NO_EARLIER) + FARTHEST_AHEAD:
        raise ProtocolError(
            f"site {site} says that it has download {known[1]} of epoch {known[0]}, which no coordinator can have sent"
        )
    shown = f"site {site} has download {known[1]} of epoch {known[0]}, this journal has {own[1]} of epoch {own[0]}"
    if coordinator.accounts.look(site).renewals.spent(now, RENEWAL_SECONDS) + 1 > RENEWALS:
        text = f"{shown}; it has said so too often, and hears nothing before a while has passed: look at this site"
        coordinator.concerns.note("site-ahead-too-often", text, now, site, lasts=DAY)
        return 0
    text = (
        f"the coordinator went back in time: {shown}. Was the journal restored from a backup, or is the clock behind? "
        "All sites are sent their latest downloads anew"
    )
    coordinator.concerns.note("coordinator-went-back", text, now, lasts=DAY)
    return max(known[0], own[0]) + 1
