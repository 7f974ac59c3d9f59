"""What a coordinator's federation has agreed on, and how that changes while it runs.

A change is a record of the journal, synced before anything rests on it or anybody hears of it:

    {"charter": a charter with its revisions, "retuned": limits and the deadline}

From that record on the coordinator goes by it, now and in recovery, so a log gives the same state bit for bit through
any number of changes. Sites that can be reached are told; all others are when they next ask.
"""

from __future__ import annotations

import json
from dataclasses import replace

from fedbandit.core.errors import FedbanditError, InvalidInput
from fedbandit.core.interfaces import Server
from fedbandit.durable.agreeing import agreed_in
from fedbandit.durable.concerns import Concerns
from fedbandit.durable.introductions import Introductions
from fedbandit.durable.journals.journal import Journal
from fedbandit.durable.postbox import Postbox
from fedbandit.durable.retuning import Retuned, Tuning
from fedbandit.durable.server_record import ServerRecord
from fedbandit.durable.validation import Limits, Validation
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.revisions import Agreed
from fedbandit.protocol.server import ServerNode
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import decode_state, encode_state, field_of


class RevisedServer:
    """The part of a coordinator that knows what its federation has agreed on."""

    journal: Journal
    node: ServerNode
    postbox: Postbox
    side: Server
    validation: Validation

    def __init__(self, given: Charter, limits: Limits) -> None:
        """Take what the coordinator is started with; its journal may know of later revisions."""
        self.given = given
        self.concerns = Concerns()
        self.introductions = Introductions(Agreed(given), self.concerns)
        self._file = Tuning(limits, ending=given.ending)
        self._agree_on(Agreed(given), Retuned())

    @property
    def charter(self) -> Charter:
        """Return what the federation has agreed on now."""
        return self.agreed.charter

    def _agree_on(self, agreed: Agreed, retuned: Retuned) -> None:
        before, self.agreed, self.retuned = getattr(self, "agreed", None), agreed, retuned
        self.introductions.agreed = agreed
        if before is None or before.charter != agreed.charter:
            self.side = agreed.charter.build().server
        limits = retuned.on(self._file).limits
        if before is None or self.validation.side is not self.side or self.validation.limits != limits:
            self.validation = Validation(self.side, agreed.charter.setting, limits)

    def _begun_with(self) -> tuple[Agreed, Retuned]:
        """Return what the federation had agreed on where the journal begins."""
        snapshot = self.journal.snapshot()
        if snapshot is not None:
            text = str(field_of(snapshot.data, "charter"))
        else:
            first = next(iter(self.journal.records()), None)
            if first is None:
                return Agreed(self.given), Retuned()
            text = ServerRecord.from_bytes(first.data).data.decode(errors="replace").partition(" ")[2]
        return agreed_in(text, self.given, "the journal"), Retuned()

    def read_again(self, file: Tuning) -> None:
        """Hear what the coordinator's file says now of what a change may have replaced; it counts from `revise` on."""
        self._file = file

    def _next(self, charter: Charter, retuned: Retuned) -> bytes:
        """Return the record's content of a change, which was tried on a copy of what is known."""
        side, state = charter.build().server, self.node.state
        try:
            Validation(side, charter.setting, retuned.on(self._file).limits)
            side.revised(decode_state(encode_state(state), type(state)), self.side)
        except FedbanditError:
            raise
        except Exception as error:
            raise InvalidInput(f"what was learnt cannot be carried over ({error!r}): leave it as it is") from error
        agreed = self.agreed.next(charter, retuned.text)
        return json.dumps({"charter": agreed.text, "retuned": json.loads(retuned.text)}).encode()

    def _take_up(self, content: bytes) -> None:
        """Go by a change from now on."""
        values = json.loads(content)
        self._agree_on(Agreed.from_text(values["charter"]), Retuned.from_values(values["retuned"]))
        if self.node.side is not self.side:
            self.node.take_up(self.side)

    def _tell_charter(self, client: int) -> None:
        charter = self.charter.with_limits(self.validation.limits.bounds)
        agreed = self.agreed.with_charter(replace(charter, ending=self.retuned.on(self._file).ending))
        self.postbox.answer(Frame(Kind.CHARTER, client, 0, 0, agreed.text.encode()))
