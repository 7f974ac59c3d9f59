"""The part of a site that deals with its coordinator, in a thread of its own or in a task of the program."""

from __future__ import annotations

import logging
from abc import abstractmethod
from pathlib import Path

from fedbandit.core.errors import InvalidInput
from fedbandit.site.bookkeeping import Bookkeeping
from fedbandit.site.tally import Tally
from fedbandit.transport.link import RESEND, Connect

log = logging.getLogger("fedbandit.site")


class Talking(Bookkeeping):
    """A site that can be connected and closed."""

    _tally: Tally | None

    def _introduce(self, to: str | Connect, credentials: str | Path | None) -> None:
        """Know by which certificate this site signs its keys, where sums are aggregated securely."""
        if self.charter.smallest_cohort is None or not isinstance(to, str):
            return
        if credentials is None:
            raise InvalidInput(
                f"this federation aggregates securely, and without a certificate a site cannot sign its keys: give "
                f"credentials with tls://, not {to}"
            )
        from fedbandit.transport.nats.address import Address  # slow to import, as what follows is
        from fedbandit.transport.nats.identity import CertificateIdentity

        self.node.identity = CertificateIdentity(credentials, Address.parse(to).federation)

    def hear(self, frame: bytes) -> str:
        """Take in a frame from the coordinator; return why it does not take in what the site sends, if so."""
        with self._guard.reading():
            known = self.node.refusals
            revisions = self.node.revisions
            self.node.receive(frame)
            if self.node.revisions != revisions:
                self._take_up()
            new = self.node.refusals - known
            refused = self.node.refused[len(self.node.refused) - new :]
            refusal = self.node.disagreement or self.node.refusal
            unsaid, self._unsaid = self._unsaid, []
        for each in refused:  # not while the lock is held: whoever handles the log may ask the site something
            log.warning("the coordinator refused upload %d for good, with all it held: %s", each.sequence, each.reason)
        for sentence in unsaid:
            log.warning("%s", sentence)
        return refusal

    def news(self) -> list[bytes]:
        """Return the frames to send to the coordinator for the first time; all that they rest on is on the disk."""
        with self._guard.reading():
            self._settle()
            if self.node.has_news:
                return self.node.commit()
            self.node.flush()
            return []

    def everything(self) -> list[bytes]:
        """Return all frames that the coordinator may lack, and a question for what the site may lack."""
        with self._guard.reading():
            self._settle()
            report = [] if self._tally is None else [self._tally.report().to_bytes()]
            return self.node.resend() + report

    async def run(
        self, to: str | Connect, *, credentials: str | Path | None = None, every: float = RESEND, patience: float = 1.0
    ) -> None:
        """Talk to the coordinator until the site is closed or the task is cancelled.

        `to` is the federation at its broker, `nats://HOST:PORT/FEDERATION` or `tls://...` with the credential of this
        site, or what makes a connection of another kind. A lost one is made again after `patience` seconds. What was
        not acknowledged is sent again `every` so many seconds. Both waits double for as long as nothing is heard of
        the coordinator, up to two and ten minutes.
        """
        self._introduce(to, credentials)
        await self._line.run(self._line.begin(to, credentials, every, patience))

    def connect(
        self, to: str | Connect, *, credentials: str | Path | None = None, every: float = RESEND, patience: float = 1.0
    ) -> None:
        """Talk to the coordinator as `run` does, in a thread of its own, until the site is closed."""
        self._introduce(to, credentials)
        self._line.run_in_thread(self._line.begin(to, credentials, every, patience))

    def close(self) -> None:
        """End the conversation and close the store; what was not sent is sent when the site is opened again.

        All that `learn` has taken in is safe in the store then; `choose` and `learn` raise from now on. Closing again
        does nothing, nor does closing in another process. Within the task of `run` the store is closed when that ends.
        """
        self._line.close()

    @abstractmethod
    def _take_up(self) -> None:
        """Go by a later revision of what the federation has agreed on."""

    def _release(self) -> None:
        with self._guard.reading():
            if not self._is_released and self._log is not None:
                self.node.logged()
                self._log.close()
            if not self._is_released and self.node.journal is not None:
                self.node.journal.close()
            self._is_released = True
