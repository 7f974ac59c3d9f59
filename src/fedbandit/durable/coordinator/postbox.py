"""What a coordinator has to send, held back until what it rests on is safe; and what each site was sent last.

What the server sends to a site on one occasion supersedes all that it sent before, so only that is kept, and it alone
is sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.ledger import Ledger
from fedbandit.wire import decode, encode_each
from fedbandit.wire.frame import LARGEST_OLD_EPOCH, Frame


@dataclass
class Posted:
    """A download, and the sites whose latest it is: what a snapshot of the coordinator keeps of it."""

    clients: Ints
    epoch: int
    sequence: int
    body: bytes
    holds: Ints | None = None  # what it says to each of them: see `protocol.held_uploads`
    clock: int | None = None  # the epoch as of which it counts, where the federation forgets
    form: int = 0  # in which it is, where features have been added or removed


class Leaving(NamedTuple):
    """A frame to a site; of a download also which it is, by epoch and number, and how many numbers it has."""

    site: int
    data: bytes
    version: tuple[int, int] | None = None
    scalars: int = 0


class Postbox:
    """Downloads by recipient, and answers in the order in which they were given."""

    def __init__(self) -> None:
        """Begin empty."""
        self.latest: dict[int, list[Envelope]] = {}
        self.old: set[int] = set()  # sites that are sent frames in the layout of 0.1.0
        self._due: dict[int, list[Envelope]] = {}
        self._answers: list[Frame] = []

    def post(self, envelopes: Sequence[Envelope]) -> None:
        """Hold what is sent on one occasion for all recipients; it replaces what was held for them before."""
        recipients: dict[int, list[Envelope]] = {}
        for envelope in envelopes:
            for client in envelope.clients.tolist():
                recipients.setdefault(client, []).append(envelope)
        self.latest |= recipients
        self._due |= recipients

    def post_again(self, client: int, epoch: int, sequence: int) -> None:
        """Hold what a site lacks of its latest downloads once more: the last that it has bears these numbers."""
        lacking = [each for each in self.latest.get(client, ()) if version(each) > (epoch, sequence)]
        if lacking:
            self._due[client] = lacking

    def renumber(self, epoch: int, left_alone: set[int]) -> int:
        """Hold the latest downloads of all sites once more, under numbers of a new epoch; return how many there are.

        Sites that are left alone get their next download when there is one; what they were sent last is forgotten.
        """
        renumbered: dict[int, list[Envelope]] = {}
        latest = {client: some for client, some in self.latest.items() if client not in left_alone}
        envelopes = _by_recipients(latest)
        for number, envelope in enumerate(envelopes, start=1):
            again = replace(envelope, epoch=epoch, sequence=np.array(number))
            for client in envelope.clients.tolist():
                renumbered.setdefault(client, []).append(again)
        self.latest = renumbered
        self._due = dict(renumbered)
        return len(envelopes)

    def answer(self, frame: Frame) -> None:
        """Hold anything else for the site that it names."""
        self._answers.append(frame)

    def takes_old(self, client: int, epoch: int) -> bool:
        """Tell whether a site is sent frames in the layout of 0.1.0, into which later epochs do not fit."""
        return client in self.old and epoch <= LARGEST_OLD_EPOCH

    def hold_as(self, other: Postbox) -> None:
        """Hold the answers that another postbox holds, and those of its downloads that are known here too."""
        self._answers += other._answers
        for client, held in other._due.items():
            known = {version(each) for each in self.latest.get(client, ())}
            if known.issuperset(map(version, held)):
                self._due.setdefault(client, held)

    def take(self, ledger: Ledger) -> list[Leaving]:
        """Return all that is held, and count the downloads."""
        taken = [Leaving(frame.client, frame.to_bytes()) for frame in self._answers]
        for envelope in _by_recipients(self._due):
            before = ledger.scalars
            ledger.record(envelope)
            number, scalars = version(envelope), (ledger.scalars - before) // len(envelope.clients)
            taken += [
                Leaving(frame.client, self._in_its_layout(frame).to_bytes(), number, scalars)
                for frame in envelope.frames()
            ]
        self.drop()
        return taken

    def _in_its_layout(self, frame: Frame) -> Frame:
        return replace(frame, is_old=True) if self.takes_old(frame.client, frame.epoch) else frame

    def drop(self) -> None:
        """Forget what is held; the latest downloads of each site are known all the same."""
        self._due.clear()
        self._answers.clear()

    def latest_downloads(self) -> list[Envelope]:
        """Return what each site was sent last; of all that is in it, nothing changes any more."""
        return _by_recipients(self.latest)

    def recall(self, memory: list[Posted]) -> None:
        """Go on from what was kept."""
        self.latest = {}
        for each in memory:
            message: Any = decode(each.body)
            if each.holds is not None:
                message = message.holding(each.holds)
            envelope = Envelope(each.clients, message, each.epoch, np.array(each.sequence), each.clock, each.form)
            for client in each.clients.tolist():
                self.latest.setdefault(client, []).append(envelope)


def posted(latest: list[Envelope]) -> list[Posted]:
    """Return the latest downloads as a snapshot keeps them."""
    return [
        Posted(
            each.clients, each.epoch, int(each.sequence), next(encode_each(each.message, 1)),
            each.message.told_each(), each.clock, each.form,
        )
        for each in latest
    ]  # fmt: skip


def version(download: Envelope) -> tuple[int, int]:
    """Return the numbers by which a download is newer or older than another."""
    return download.epoch, int(download.sequence)


def _by_recipients(envelopes: dict[int, list[Envelope]]) -> list[Envelope]:
    """Return each distinct envelope once, the oldest first, with those recipients that it stands for here."""
    recipients: dict[tuple[int, int], tuple[Envelope, list[int]]] = {}
    for client, some in envelopes.items():
        for envelope in some:
            recipients.setdefault(version(envelope), (envelope, []))[1].append(client)
    return [
        envelope
        if len(clients) == len(envelope.clients)
        else envelope.only(np.flatnonzero(np.isin(envelope.clients, clients)))
        for _, (envelope, clients) in sorted(recipients.items(), key=lambda item: item[0])
    ]
