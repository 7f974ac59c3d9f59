"""The part of a site's life that depends on what its federation has agreed on."""

from __future__ import annotations

from fedbandit.core.interfaces import Clients
from fedbandit.core.messages import Download
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.revisions import Agreed
from fedbandit.protocol.schema import Schema
from fedbandit.wire.frame import Frame


class AgreedLife:
    """A client node that can go on with a later revision of the charter."""

    def __init__(self, agreed: Agreed, number: int) -> None:
        """Begin with a client that knows nothing."""
        self.number = number
        self.node = ClientNode(agreed.charter.build_for(number).clients, 1, first=number)
        self.node.know(agreed)
        self._agree_on(agreed)

    def revise(self, agreed: Agreed) -> None:
        """Go on with a later revision of the charter: what was learnt stays, and counts as it says.

        A site that was opened with the charter of today, and hears only now which revision that is, has all of it in
        the form of today.
        """
        side = agreed.charter.build_for(self.number).clients
        if agreed.follows(self.agreed):
            self._take_up(side, agreed)
        else:
            self.node.side = side
            self.node.know(agreed)
        self._agree_on(agreed)

    def _take_up(self, side: Clients, agreed: Agreed) -> None:
        """Carry what was learnt over to the side of a later revision."""
        self.node.take_up(side, agreed)

    @property
    def side(self) -> Clients:
        """Return the client side of what the federation has agreed on, as far as this site has heard."""
        return self.node.side

    @property
    def version(self) -> tuple[int, int]:
        """Return the numbers of the last download: the coordinator's epoch, and the sequence."""
        return self.node.server_epoch, int(self.node.received[0])

    @property
    def last_upload(self) -> tuple[int, int]:
        """Return the epoch of uploads, and the number of the last."""
        return self.node.epoch, int(self.node.sent[0])

    def schema_of(self, frame: Frame) -> Schema:
        """Return what a download of the form that a frame names looks like."""
        return self.schema if frame.form == self.node.form else self.node.schema_of(frame.form)

    def _agree_on(self, agreed: Agreed) -> None:
        self.agreed = agreed
        self.needs_noise = bool(self.side.noise_size)
        self.schema = Schema.of(self.side, Download, agreed.charter.setting)
