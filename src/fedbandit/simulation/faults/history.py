"""What happened in a faulty run, as seen from outside: by the applications at the sites, and on the wires."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.messages import Message
from fedbandit.wire import kind_of
from fedbandit.wire.frame import Frame, Kind

NO_VERSION = (-1, -1)  # in a list of versions: from here on the site may know less than before


@dataclass
class RewardedDecision:
    """A decision that an application got from a site, and the reward that it told or will tell it."""

    turn: int
    site: int  # the machine, which is the site of this number unless there are more machines than numbers
    decision: str
    features: Floats
    choice: Ints
    reward: float
    epoch: int = 0  # in which it was made, where the federation forgets
    form: int = 0  # of its features, where they are added and removed
    is_told: bool = False
    was_told: bool = False  # if perhaps in vain
    is_safe: bool = False  # the site has said so
    is_void: bool = False  # the application cannot, or should not, tell it: the site lost the decision or its disk
    backups: int = 0  # of its site, when it became safe
    may_be_lost: bool = False  # its site lost a disk that had it
    may_count_twice: bool = False  # its site was cloned while unsure of its past, or a closing of it was forgotten


class Refusal(NamedTuple):
    """An upload, or another frame, that the coordinator refused."""

    site: int
    reason: str


@dataclass
class History:
    """All that checkers need."""

    decisions: list[RewardedDecision] = field(default_factory=list)
    uploads: dict[tuple[int, int, int], list[bytes]] = field(default_factory=dict)  # distinct bodies by number
    downloads: dict[tuple[int, int], list[bytes]] = field(default_factory=dict)
    promised: set[tuple[int, int, int]] = field(default_factory=set)  # acknowledgements that have left
    versions: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # by machine: downloads taken in, in order
    bodies: dict[tuple[int, int, int], bytes] = field(default_factory=dict)  # by machine and version: what it took in
    boots: Counter[int] = field(default_factory=Counter)  # by number: how often sites of it were started
    names: set[str] = field(default_factory=set)
    repeated_names: list[str] = field(default_factory=list)
    counted_again: list[str] = field(default_factory=list)  # decisions whose reward was taken in as new twice
    refused: list[Refusal] = field(default_factory=list)
    put_off: list[Refusal] = field(default_factory=list)  # the same, but for now
    concerns: set[tuple[int | None, str]] = field(default_factory=set)  # site and kind of all that were ever shown
    forgotten: set[tuple[int, int, int]] = field(default_factory=set)  # uploads that a restored coordinator lacks
    closing: set[int] = field(default_factory=set)  # sites that have asked to close an epoch, and were not answered
    steps: list[str] = field(default_factory=list)

    def note_decision(self, told: RewardedDecision) -> None:
        """Note a decision, and whether its name was given before."""
        if told.decision in self.names:
            self.repeated_names.append(told.decision)
        self.names.add(told.decision)
        self.decisions.append(told)

    def note_version(self, machine: int, frame: Frame, version: tuple[int, int]) -> None:
        """Note which download a site has after it received a frame."""
        versions = self.versions[machine]
        if frame.kind is Kind.CLOSED:
            versions.append(NO_VERSION)
            self.closing.discard(frame.client)
        elif version != versions[-1]:
            versions.append(version)

    def note_download(self, machine: int, frame: Frame) -> None:
        """Note a download that a site has taken in."""
        self.bodies[machine, frame.epoch, frame.sequence] = frame.body

    def note_copy(self, machine: int, copy: int) -> None:
        """Note that a machine knows what another has taken in."""
        self.bodies |= {(copy, *key[1:]): body for key, body in self.bodies.items() if key[0] == machine}

    def all_is_promised(self, site: int) -> bool:
        """Tell whether all uploads that a site has ever sent were acknowledged, and it has asked to close no epoch."""
        promises: dict[int, int] = {}
        for client, epoch, sequence in self.promised:
            if client == site:
                promises[epoch] = max(sequence, promises.get(epoch, 0))
        return site not in self.closing and all(
            each[0] != site or each[2] <= promises.get(each[1], 0) for each in self.uploads
        )

    def note_sent(self, data: bytes) -> None:
        """Note a frame that leaves a node."""
        frame = Frame.from_bytes(data)
        number = frame.client, frame.epoch, frame.sequence
        if frame.kind is Kind.UPLOAD:
            bodies = self.uploads.setdefault(number, [])
        elif frame.kind is Kind.DOWNLOAD:
            bodies = self.downloads.setdefault(number[1:], [])
        else:
            if frame.kind is Kind.ACKNOWLEDGEMENT:
                self.promised.add(number)
            elif frame.kind is Kind.CLOSE:
                self.closing.add(frame.client)
            return
        body = _same_for_all(frame.body) if frame.kind is Kind.DOWNLOAD else frame.body
        if body not in bodies:
            bodies.append(body)


def _same_for_all(body: bytes) -> bytes:
    """Return a download without what it says to one recipient: which of its uploads it holds, the last eight bytes."""
    tells = Message.known[kind_of(body)].tells_what_it_holds()
    return body[:-8] + bytes(8) if tells else body
