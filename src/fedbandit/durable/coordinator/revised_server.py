"""What a coordinator's federation has agreed on, and how that changes while it runs.

A change is a record of the journal, synced before anything rests on it or anybody hears of it:

    {"charter": a charter with its revisions, "retuned": limits and the deadline}

From that record on the coordinator goes by it, now and in recovery, so a log gives the same state bit for bit through
any number of changes. Sites that can be reached are told; all others are when they next ask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fedbandit.core.around import innermost
from fedbandit.core.errors import FedbanditError, InvalidInput
from fedbandit.core.interfaces import Server
from fedbandit.durable.agreeing import agreed_in
from fedbandit.durable.coordinator.concerns import Concerns
from fedbandit.durable.coordinator.introductions import Introductions
from fedbandit.durable.coordinator.postbox import Postbox
from fedbandit.durable.coordinator.record import Revision, ServerRecord, charter_in, revised
from fedbandit.durable.coordinator.retuning import Retuned, Tuning
from fedbandit.durable.coordinator.site_accounts import Accounts
from fedbandit.durable.coordinator.validation import Limits, Validation
from fedbandit.durable.journals.journal import Journal
from fedbandit.protocol.changing import Changed
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.forms import Forms
from fedbandit.protocol.revisions import Agreed
from fedbandit.protocol.server import ServerNode
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import decode_state, encode_state, field_of


class RevisedServer:
    """The part of a coordinator that knows what its federation has agreed on."""

    journal: Journal
    node: ServerNode
    accounts: Accounts
    postbox: Postbox

    _append: Callable[[ServerRecord], None]
    _sync: Callable[[], None]
    _take_in: Callable[[ServerRecord], object]

    def __init__(self, given: Charter, limits: Limits) -> None:
        """Take what the coordinator is started with; its journal may know of later revisions."""
        self.given = given
        self.concerns = Concerns()
        self._file = Tuning(limits, ending=given.ending)
        self.agreed, self.retuned = Agreed(given), Retuned()
        self.introductions = Introductions(self.agreed, self.concerns)
        self.validation = Validation(given.build().server, given.setting, limits, Forms(self.agreed))
        self.validation.smallest_upload = self.agreed.smallest_upload

    @property
    def charter(self) -> Charter:
        """Return what the federation has agreed on now."""
        return self.agreed.charter

    @property
    def side(self) -> Server:
        """Return the server side of what the federation has agreed on now."""
        return self.validation.side

    def _agree_on(self, agreed: Agreed, retuned: Retuned) -> None:
        before, self.agreed, self.retuned = self.agreed, agreed, retuned
        self.introductions.agreed = agreed
        side = self.side if before.charter == agreed.charter else agreed.charter.build().server
        limits, known = retuned.on(self._file).limits, self.validation
        if side is not known.side or before.forms != agreed.forms or known.limits != limits:
            self.validation = Validation(side, agreed.charter.setting, limits, Forms(agreed))
            if known.pace.has_rate_of(self.validation.pace):
                self.validation.pace = known.pace  # what sites have told of lately still counts
        self.validation.smallest_upload = agreed.smallest_upload

    def _begun_with(self) -> tuple[Agreed, Retuned]:
        """Return what the federation had agreed on where the journal begins."""
        snapshot = self.journal.snapshot()
        if snapshot is not None:
            text = str(field_of(snapshot.data, "charter"))
        else:
            first = next(iter(self.journal.records()), None)
            if first is None:
                return Agreed(self.given), Retuned()
            text = charter_in(ServerRecord.from_bytes(first.data))
        return agreed_in(text, self.given, "the journal"), Retuned()

    def revise(self, made: Changed, retuned: Retuned, now: float) -> None:
        """Change what the federation has agreed on: see above. Sites hear of it with `commit`."""
        record = revised(now, self._next(made.charter, retuned, made.places).text, retuned.text)
        self._append(record)
        self._sync()
        self._take_in(record)
        for client in sorted({*self.accounts.epochs, *self.introductions.known()} - self.accounts.old):
            self._tell_charter(client)

    def require_possible(self, made: Changed, retuned: Retuned) -> None:
        """Refuse what `revise` would refuse; nothing is changed."""
        self._next(made.charter, retuned, made.places)

    def read_again(self, file: Tuning) -> None:
        """Hear what the coordinator's file says now of what a change may have replaced; it counts from `revise` on."""
        self._file = file

    def _next(self, charter: Charter, retuned: Retuned, places: tuple[int, ...] | None) -> Agreed:
        """Return what is agreed on after a change, which was tried on a copy of what is known."""
        if places is not None and self.accounts.old:
            raise InvalidInput(
                f"site {min(self.accounts.old)} runs fedbandit 0.1.0, which cannot have its features or its ridge "
                "changed: upgrade it first"
            )
        side, state = charter.build().server, self.node.state
        try:
            Validation(side, charter.setting, retuned.on(self._file).limits)
            moved = None if places is None else np.array(places, dtype=np.int64)
            side.revised(decode_state(encode_state(state), type(state)), innermost(self.side), moved)
        except FedbanditError:
            raise
        except Exception as error:
            raise InvalidInput(f"what was learnt cannot be carried over ({error!r}): leave it as it is") from error
        return self.agreed.next(charter, retuned.text, places)

    def _take_up(self, revision: Revision) -> None:
        """Go by a change from now on."""
        self._agree_on(Agreed.from_text(revision.charter), Retuned.from_values(revision.retuned))
        self.node.take_up(self.side, self.agreed)

    def _tell_charter(self, client: int) -> None:
        charter = self.charter.with_limits(self.validation.limits.bounds)
        agreed = self.agreed.with_charter(replace(charter, ending=self.retuned.on(self._file).ending))
        self.postbox.answer(Frame(Kind.CHARTER, client, 0, 0, agreed.text.encode()))
