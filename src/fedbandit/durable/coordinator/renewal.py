"""A coordinator that has gone back in time, and how its sites hear it again.

Whenever a coordinator is started, its journal may have become an older one. What it sends from then on has an epoch of
its own, ahead of the last by a random number: else it could send under a number what another life has sent under that,
and a site that has the one would take the other for old.

A site can show that the coordinator knows less than it once did: it has a download that was never sent, or it has
acknowledgements for uploads that the journal lacks. Then the journal comes from a backup, or was begun anew, perhaps
with a clock that is behind. Sites take downloads with lower numbers than their last for old ones; so the coordinator
begins a new epoch of downloads, greater than any that this site has heard of, and sends all sites their latest under
new numbers. The first site to show it after a start gives cause for that even if it has no later download: it may wait
for one that nobody will send.

A site that lies can cause this too, so it may do so only now and then, and what it says must be possible: epochs are
times in seconds, and no coordinator's clock was ever years ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from fedbandit.core.errors import ProtocolError
from fedbandit.core.seconds import DAY
from fedbandit.durable.coordinator.concerns import Concerns
from fedbandit.durable.coordinator.postbox import Postbox, version
from fedbandit.durable.coordinator.site_accounts import Accounts
from fedbandit.protocol.server import ServerNode
from fedbandit.wire.frame import Frame

RENEWALS = 4  # that one site may cause at once
RENEWAL_SECONDS = 1800.0  # after which it may cause one more
NO_EARLIER = 1_767_225_600  # a clock that shows a time before 2026 is wrong
FARTHEST_AHEAD = 10 * 365 * 86_400  # seconds that the clock of an earlier coordinator may have been ahead
SPREAD = 1 << 16  # epochs among which one is drawn: as seconds 18 hours, and the clock gains more in a day


class Coordinator(Protocol):
    """What must be known to judge."""

    node: ServerNode
    accounts: Accounts
    postbox: Postbox
    concerns: Concerns
    has_renewed: bool  # a site has given cause for an epoch of downloads since it was started
    random_below: Callable[[int], int]


def drawn_epoch(least: int, now: float, random_below: Callable[[int], int]) -> int:
    """Return an epoch of downloads that is not below the least, and that no other life of a coordinator will draw.

    >>> drawn_epoch(7, 0.0, lambda most: most - 1) - 7
    65535

    It does not run away from the clock: where it is as far ahead as a site is believed, it is the least.

    >>> drawn_epoch(NO_EARLIER + FARTHEST_AHEAD, 0.0, lambda most: most - 1) - NO_EARLIER - FARTHEST_AHEAD
    0
    """
    return least + random_below(min(SPREAD, max(1, _farthest(now) - least)))


def _farthest(now: float) -> int:
    """Return the last epoch of downloads that a coordinator can have begun by now."""
    return int(max(now, NO_EARLIER)) + FARTHEST_AHEAD


def new_epoch(coordinator: Coordinator, ask: Frame, lacks_uploads: bool, now: float) -> int:
    """Return the epoch of downloads that an ASK gives cause to begin, or 0; refuse one that cannot be true."""
    node, site = coordinator.node, ask.client
    known, own = (ask.epoch, ask.sequence), (node.epoch, node.sent)
    latest = coordinator.postbox.latest.get(site)
    sent = own if latest is None else version(latest[-1])
    if known <= sent and not (lacks_uploads and (known[0] == own[0] or not coordinator.has_renewed)):
        return 0
    if known[0] > max(own[0], _farthest(now)):
        raise ProtocolError(
            f"site {site} says that it has download {known[1]} of epoch {known[0]}, which no coordinator can have sent"
        )
    shown = f"site {site} has download {known[1]} of epoch {known[0]}, this journal has {sent[1]} of epoch {sent[0]}"
    if coordinator.accounts.look(site).renewals.spent(now, RENEWAL_SECONDS) + 1 > RENEWALS:
        text = f"{shown}; it has said so too often, and hears nothing before a while has passed: look at this site"
        coordinator.concerns.note("site-ahead-too-often", text, now, site, lasts=DAY)
        return 0
    text = (
        f"the coordinator went back in time: {shown}. Was the journal restored from a backup, or is the clock behind? "
        "All sites are sent their latest downloads anew"
    )
    coordinator.concerns.note("coordinator-went-back", text, now, lasts=DAY)
    return drawn_epoch(max(known[0], own[0]) + 1, now, coordinator.random_below)
