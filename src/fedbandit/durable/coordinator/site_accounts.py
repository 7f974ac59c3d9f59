"""What a coordinator remembers of its sites, and all that its snapshot holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from fedbandit.core.errors import ProtocolError
from fedbandit.durable.coordinator.postbox import Posted
from fedbandit.durable.coordinator.retuning import Retuned
from fedbandit.durable.coordinator.site_epochs import KEPT_EPOCHS, SiteEpochs
from fedbandit.durable.coordinator.validation import Limits, NotYet
from fedbandit.protocol.server import ServerMemory
from fedbandit.wire.digests import DIGEST_BYTES, digest
from fedbandit.wire.frame import Frame

KEPT_ASIDE = 256


@dataclass
class Closure:
    """An epoch from whose number `first` on all is refused, since the site goes on in the epoch `heir`."""

    first: int
    heir: int


@dataclass
class Accounts:
    """What a coordinator knows of its sites, apart from what the algorithm and the node know."""

    joined: dict[int, float] = field(default_factory=dict)  # time of the first upload
    observations: dict[int, int] = field(default_factory=dict)
    excess: dict[int, float] = field(default_factory=dict)  # observations by which uploads were beyond them, in all
    closed: dict[tuple[int, int], Closure] = field(default_factory=dict)  # by site and epoch
    epochs: dict[int, SiteEpochs] = field(default_factory=dict)  # by site
    old: set[int] = field(default_factory=set)  # sites that use the layout of 0.1.0
    stranded: set[int] = field(default_factory=set)  # sites that had acknowledgements for what this journal lacks
    told: dict[tuple[int, int], int] | None = None  # by site and epoch: the last upload with data; None: in 0.1.0
    aside: list[bytes] = field(default_factory=list)  # digests of frames that were put aside
    forgotten: set[int] = field(default_factory=set)  # sites of which nothing is known any more, nor ever will be

    def look(self, client: int) -> SiteEpochs:
        """Return what is known of the epochs of a site, to read; to change it, `open` it."""
        found = self.epochs.get(client)
        return SiteEpochs() if found is None else found

    def open(self, client: int) -> SiteEpochs:
        """Return what is known of the epochs of a site, to change."""
        found = self.epochs[client] = self.look(client)
        return found

    def bar(self, client: int) -> None:
        """Take in that a site is forgotten, with whatever is still known of it."""
        self.forgotten.add(client)
        for known in (self.joined, self.observations, self.excess, self.epochs):
            known.pop(client, None)
        for pairs in (self.closed, self.told or {}):
            for key in [key for key in pairs if key[0] == client]:
                del pairs[key]
        self.old.discard(client)
        self.stranded.discard(client)

    def require_known(self, client: int) -> None:
        """Refuse whatever a site sends that was forgotten."""
        if client in self.forgotten:
            raise ProtocolError(f"site {client} was forgotten: nothing of it is taken in any more")

    def check_epoch(self, client: int, epoch: int, now: float, limits: Limits) -> None:
        """Refuse the beginning of one epoch too many, and whatever belongs to one that is forgotten."""
        epochs = self.look(client)
        if epoch in epochs.known:
            return
        if epoch <= epochs.forgotten:
            raise ProtocolError(
                f"epoch {epoch} of site {client} is forgotten: the last {KEPT_EPOCHS} that a site has used are known"
            )
        if epochs.begun.spent(now, limits.seconds_per_epoch) + 1 > limits.epochs:
            raise NotYet(
                f"site {client} begins epoch {epoch} after {limits.epochs} others in a short time, and may begin one "
                f"every {limits.seconds_per_epoch:g} seconds: give it a store, or start it less often"
            )

    def has_told(self, client: int, epoch: int, first: int) -> bool:
        """Tell whether an upload from a number on held data: a question tells nothing of what was unsent before it."""
        return self.told is None or self.told.get((client, epoch), 0) >= first

    def note_told(self, client: int, epoch: int, number: int) -> None:
        """Note that an upload held data."""
        if self.told is not None:
            self.told[client, epoch] = max(number, self.told.get((client, epoch), 0))

    def book(self, frame: Frame, new: int, excess: float, *, is_question: bool) -> None:
        """Take in an upload that tells of so many new observations, and is beyond them by `excess`."""
        client = frame.client
        self.look(client).note(frame.epoch, frame.sequence, frame.body, is_question=is_question)
        if not is_question:
            self.note_told(client, frame.epoch, frame.sequence)
        self.observations[client] = self.observations.get(client, 0) + new
        if excess:
            self.excess[client] = excess + self.excess.get(client, 0.0)

    def forget(self, client: int, epoch: int) -> None:
        """Forget what is known of an epoch of a site."""
        for known in (self.closed, self.told or {}):
            known.pop((client, epoch), None)

    def put_aside(self, record: bytes) -> bytes:
        """Remember that a frame, which follows its digest, was put aside; return the frame."""
        self.aside = [*self.aside, record[:DIGEST_BYTES]][-KEPT_ASIDE:]
        return record[DIGEST_BYTES:]

    def is_aside(self, data: bytes) -> bool:
        """Tell whether a frame was put aside before."""
        return bool(self.aside) and digest(data) in self.aside

    def heirs(self, client: int, epoch: int, first: int) -> list[int]:
        """Return the epochs of lives that went on from a backup whose next number was `first`, one after the other.

        Each is greater than the one before it, so whatever a site says of its heirs, this comes to an end.

        >>> accounts = Accounts(closed={(0, 7): Closure(first=3, heir=8), (0, 8): Closure(first=1, heir=9)})
        >>> accounts.heirs(0, 7, first=3), accounts.heirs(0, 7, first=4)
        ([8, 9], [])
        """
        found: list[int] = []
        closure = self.closed.get((client, epoch))
        while closure is not None and closure.first == first and closure.heir > epoch:
            epoch = closure.heir
            found.append(epoch)
            closure, first = self.closed.get((client, epoch)), 1
        return found

    def replaced(self, client: int, epoch: int, heirs: list[int]) -> list[int]:
        """Return the epochs of earlier lives that went on from the same backup, whose place these heirs have taken.

        >>> accounts = Accounts(epochs={0: SiteEpochs(known={7: None, 8: None, 9: None})})
        >>> closed = accounts.close(0, 7, first=3, heir=8), accounts.close(0, 7, first=3, heir=9)
        >>> accounts.heirs(0, 7, first=3), accounts.replaced(0, 7, heirs=[9])
        ([9], [8])
        """
        found: list[int] = []
        for each in sorted(self.look(client).known, reverse=True):
            closure = self.closed.get((client, each))
            if closure is not None and closure.first == 1 and each > epoch and each not in heirs:
                found += [each] if closure.heir in (*heirs, *found) else []
        return found

    def close(self, client: int, epoch: int, first: int, heir: int) -> list[int]:
        """Refuse numbers from `first` on; what earlier heirs had from the same backup, the new one has.

        Return the epochs that are closed by this.
        """
        closed = [earlier for earlier in self.heirs(client, epoch, first) if earlier < heir]
        for earlier in closed:
            self.closed[client, earlier] = Closure(1, heir)
        before = self.closed.get((client, epoch))
        if before is None or first <= before.first:
            self.closed[client, epoch] = Closure(first, heir)
        return [epoch, *closed]


@dataclass
class CoordinatorMemory:
    """A snapshot of a coordinator."""

    charter: str
    node: ServerMemory
    accounts: Accounts
    latest: list[Posted]
    clock: int = 0  # the epoch of forgetting that the coordinator was last told
    retuned: Retuned = field(default_factory=Retuned)
