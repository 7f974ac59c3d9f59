"""What is known of one site, and whether that calls for somebody's attention."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, fields
from typing import Any

from fedbandit.protocol.revisions import count_of
from fedbandit.wire.frame import Frame

MOST_PENDING = 100  # downloads on their way to one site that are told apart
STATES = ("trouble", "silent", "behind", "current", "new", "gone")  # those that need attention first
Version = tuple[int, int]  # the coordinator's epoch, and the number of the download


@dataclass(slots=True)
class SiteRecord:
    """One site, as the coordinator has seen it."""

    number: int
    name: str
    first_contact: float | None = None
    last_contact: float | None = None
    has: Version = (0, 0)  # the newest download that the site has said to have
    sent: Version = (0, 0)
    pending: deque[tuple[Version, float]] = field(default_factory=lambda: deque(maxlen=MOST_PENDING))
    behind_since: float | None = None
    uploads: int = 0
    downloads: int = 0
    repeated: int = 0
    refused: int = 0
    left_out: int = 0
    scalars_up: int = 0
    scalars_down: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    is_gone: bool = False  # removed or revoked
    revision: int | None = None  # of what the federation has agreed on, as the site last told; 0.1.0 tells none

    def take_over(self, kept: SiteRecord) -> None:
        """Go on from what was kept; its name and whether it is gone are the roster's to tell."""
        for each in fields(self):
            if each.name not in ("number", "name", "is_gone"):
                setattr(self, each.name, getattr(kept, each.name))

    def contact(self, now: float) -> None:
        """Remember that the site was heard of."""
        if self.first_contact is None:
            self.first_contact = now
        self.last_contact = now

    def accept(self, size: int, scalars: int, now: float) -> None:
        """Count an upload that was accepted."""
        self.contact(now)
        self.bytes_up += size
        self.uploads += 1
        self.scalars_up += scalars

    def was_sent(self, version: Version, now: float) -> None:
        """Remember a download on its way; one that is sent again is known."""
        if version > max(self.sent, self.has):
            self.sent = version
            self.pending.append((version, now))
            if self.behind_since is None:
                self.behind_since = now

    def asked(self, frame: Frame) -> None:
        """Remember what a site tells of itself when it asks."""
        self.confirms((frame.epoch, frame.sequence))
        self.revision = None if frame.is_old else count_of(frame.question.revision)

    def confirms(self, version: Version) -> None:
        """Remember what the site says to have. It is taken at its word, also when it began anew and has less."""
        self.has = version
        while self.pending and self.pending[0][0] <= version:
            self.pending.popleft()
        self.behind_since = self.pending[0][1] if self.pending else None

    def state(self, now: float, silent_after: float) -> str:
        """Return in one word how the site is by what was heard of it: new, silent, behind, or current; or gone."""
        if self.is_gone:
            return "gone"
        if self.last_contact is None:
            return "new"
        if now - self.last_contact > silent_after:
            return "silent"
        if self.behind_since is not None and now - self.behind_since > silent_after:
            return "behind"
        return "current"

    def snapshot(self, now: float) -> dict[str, Any]:
        """Return all of it as plain data; times are seconds of the clock that the coordinator reads."""
        return {
            "site": self.number,
            "name": self.name,
            "first_contact": self.first_contact,
            "last_contact": self.last_contact,
            "revision": self.revision,
            "version": self.has[1],
            "version_sent": max(self.sent, self.has)[1],
            "versions_behind": len(self.pending),
            "seconds_behind": 0.0 if self.behind_since is None else max(0.0, now - self.behind_since),
            "uploads": self.uploads,
            "downloads": self.downloads,
            "repeated": self.repeated,
            "refused": self.refused,
            "left_out": self.left_out,
            "scalars_up": self.scalars_up,
            "scalars_down": self.scalars_down,
            "bytes_up": self.bytes_up,
            "bytes_down": self.bytes_down,
        }
