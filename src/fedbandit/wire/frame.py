"""Frames: what really goes over a connection, little-endian.

A header of 21 bytes (29 with a clock or a form, 37 with both), then a body:

    kind + 16 u8 | client u32 | epoch u64 | sequence u64 | body

| kind | from, to | epoch and sequence | body |
| --- | --- | --- | --- |
| UPLOAD | site, coordinator | the site's, of this upload | the message |
| DOWNLOAD | coordinator, site | the coordinator's, of this download | the message |
| ACKNOWLEDGEMENT | coordinator, site | all of the site's up to here are safe | the highest that is safe u64, mark u64 |
| REFUSAL | coordinator, site | this upload was refused | a `Standing` u8; the reason |
| ASK | site, coordinator | the last download that it has | see `Question` |
| VOID | site, coordinator | nothing will come under this number | |
| CLOSE | site, coordinator | refuse this number and all above it | the site's new epoch u64 |
| CLOSED | coordinator, site | as asked | the new epoch u64, 1 if the number was taken in before u8, the highest u64 |
| RENEWED | coordinator, site | the coordinator's new epoch, 0: what the site waits for will not come | |
| REPORT | site, coordinator | the site's life, and a number that grows | aggregate counters: see `wire.report` |
| JOIN | site, coordinator | 0: it asks for the charter | |
| CHARTER | coordinator, site | 0 | what the federation has agreed on, as JSON |

The sequence of an upload is below 2^48. Where sites ask, the two bytes above tell an upload with data which questions
came just before it (`wire.digests`), so that what two copies of one store say is told apart; they are 0 where none did:

    kind + 16 u8 | client u32 | epoch u64 | sequence u48 | asked u16 | body

`client` is the site in both directions. An upload that comes again is known by (client, epoch, sequence); a download is
newer than another if (epoch, sequence) is greater. The acknowledgement that answers an ASK bears its mark, all others
bear 0; in a closed epoch the highest number counts as safe. Epochs and numbers are below 2^62.

Version 0.1.0 wrote frames in another layout, which is told by a kind below 16 and read for ever:

    kind u8 | client u64 | epoch u32 | sequence u64 | body

There the epochs of ASK, CLOSE and CLOSED are u32, an ASK ends with its mark, and answers have that layout too.

Where a federation forgets (`protocol.fading`), uploads and downloads say to which of its epochs their sums belong:

    kind + 32 u8 | client u32 | epoch u64 | sequence u64 | clock u64 | body

Where features were added or removed (`protocol.forms`), they say in which form they are:

    kind + 48 u8 | client u32 | epoch u64 | sequence u64 | form u64 | body
    kind + 64 u8 | client u32 | epoch u64 | sequence u64 | clock u64 | form u64 | body
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from fedbandit.core.errors import ProtocolError
from fedbandit.wire.digests import DIGEST_BYTES, digest
from fedbandit.wire.header import NEW, Header, split
from fedbandit.wire.header import Kind as Kind  # whoever has frames needs their kinds
from fedbandit.wire.header import read_header as read_header
from fedbandit.wire.question import Question

LARGEST_NUMBER = 1 << 62  # so that every number fits into an array of signed ones
LARGEST_OLD_EPOCH = (1 << 32) - 1


class Standing(IntEnum):
    """How a refused upload stands; sites of 0.1.0 know the first two."""

    FOR_NOW = 0  # the site is to send it again later
    FOR_GOOD = 1
    ASK_FIRST = 2  # the site is to ask, and to send it again when it has an answer
    NUMBER_TAKEN = 3  # for good: another upload has its number; the reason follows the digest of the refused one


BODIES = {  # the bodies that are fixed; those of uploads, downloads, refusals and reports are not
    Kind.ACKNOWLEDGEMENT: struct.Struct("<QQ"),
    Kind.ASK: struct.Struct("<QQQIQ"),
    Kind.CLOSE: struct.Struct("<Q"),
    Kind.CLOSED: struct.Struct("<QBQ"),
    **dict.fromkeys((Kind.VOID, Kind.RENEWED, Kind.JOIN), struct.Struct("<")),
}
OLD_BODIES = BODIES | {
    Kind.ASK: struct.Struct("<IQQ"), Kind.CLOSE: struct.Struct("<I"), Kind.CLOSED: struct.Struct("<IBQ"),
}  # fmt: skip
LONGER_ASKS = [struct.Struct(BODIES[Kind.ASK].format + more * "Q") for more in (1, 2)]  # with features, revision
_ASKS = {each.size: each for each in LONGER_ASKS}


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame.

    >>> data = Frame(Kind.VOID, client=3, epoch=1, sequence=9).to_bytes()
    >>> len(data), Frame.from_bytes(data).sequence
    (21, 9)
    """

    kind: Kind
    client: int
    epoch: int
    sequence: int
    body: bytes = b""
    is_old: bool = False  # in the layout of 0.1.0
    clock: int | None = None  # the epoch to which the sums of a message belong, where a federation forgets
    asked: int = 0  # the questions that came just before an upload with data: see `digests.fold`
    form: int = 0  # of a message, where features were added or removed: see `protocol.forms`

    def to_bytes(self) -> bytes:
        """Return the frame as it goes over a connection."""
        numbers = self.client, self.epoch, self.sequence
        return Header(self.kind, *numbers, self.is_old, self.clock, self.asked, self.form).to_bytes() + self.body

    @classmethod
    def from_bytes(cls, data: bytes) -> Frame:
        """Return the frame that bytes stand for, or raise ProtocolError; a message in it is not looked at."""
        (kind, client, epoch, sequence, is_old, clock, asked, form), size = split(data)
        frame = cls(kind, client, epoch, sequence, bytes(data[size:]), is_old, clock, asked, form)
        packing = frame._packing
        if packing is not None and len(frame.body) != packing.size:
            raise ProtocolError(f"{frame.name} has a body of {len(frame.body)} bytes, not {packing.size}")
        if kind is Kind.REFUSAL and len(frame.body) < (1 + DIGEST_BYTES if frame.body[:1] == b"\x03" else 1):
            raise ProtocolError("refusal without a reason")
        return frame

    @property
    def name(self) -> str:
        """Return the kind in words, for errors."""
        return self.kind.name.lower()

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of a body that is fixed."""
        packing = self._packing
        assert packing is not None
        return packing.unpack(self.body)

    @property
    def question(self) -> Question:
        """Return what an ASK tells."""
        return Question(*self.numbers)

    @property
    def standing(self) -> Standing:
        """Return how a refused upload stands; what this version does not know is for now."""
        return Standing(self.body[0]) if self.body[0] in _STANDINGS else Standing.FOR_NOW

    @property
    def verdict(self) -> tuple[bool, str]:
        """Return of a refusal whether it is for good, and the reason."""
        start = 1 + DIGEST_BYTES if self.standing is Standing.NUMBER_TAKEN else 1
        for_good = self.standing in (Standing.FOR_GOOD, Standing.NUMBER_TAKEN)
        return for_good, self.body[start:].decode(errors="replace")

    def is_about(self, body: bytes) -> bool:
        """Tell whether a refusal may be that of an upload with this body: two sites with one number hear both."""
        return self.standing is not Standing.NUMBER_TAKEN or self.body[1 : 1 + DIGEST_BYTES] == digest(body)

    @property
    def _packing(self) -> struct.Struct | None:
        packing = (OLD_BODIES if self.is_old else BODIES).get(self.kind)
        return _ASKS.get(len(self.body), packing) if self.kind is Kind.ASK and not self.is_old else packing


_STANDINGS = frozenset(Standing)
REPORTS = (bytes([Kind.REPORT]), bytes([Kind.REPORT + NEW]))  # with what frames begin that no node takes in


def with_numbers(kind: Kind, client: int, epoch: int, sequence: int, *numbers: int, is_old: bool = False) -> Frame:
    """Return a frame whose body is numbers; those that are left out at the end are 0.

    >>> with_numbers(Kind.ASK, 3, 0, 0, 1, 8, 9).question
    Question(epoch=1, settled=8, mark=9, waiting=0, fingerprint=0, features=0, revision=0)
    """
    form = (OLD_BODIES if is_old else BODIES)[kind]
    if kind is Kind.ASK and any(numbers[5:]):
        form = LONGER_ASKS[bool(numbers[6:] and numbers[6])]
    many = len(form.format) - 1  # after the sign of the byte order
    return Frame(kind, client, epoch, sequence, form.pack(*numbers[:many], *[0] * (many - len(numbers))), is_old)


def refusal(of: Frame, reason: str, *, for_good: bool, ask_first: bool = False) -> Frame:
    """Return the answer to an upload that is refused; one in the layout of 0.1.0 is answered in it.

    >>> refusal(Frame(Kind.UPLOAD, 3, 1, 9), "too large", for_good=True).verdict
    (True, 'too large')
    """
    standing = Standing.ASK_FIRST if ask_first and not of.is_old else Standing(for_good)
    return Frame(Kind.REFUSAL, of.client, of.epoch, of.sequence, bytes([standing]) + reason.encode(), of.is_old)


def number_taken(of: Frame, reason: str) -> Frame:
    """Return the answer to an upload whose number another upload has.

    >>> answer = number_taken(Frame(Kind.UPLOAD, 3, 1, 9, b"one"), "two sites use number 3")
    >>> answer.verdict, answer.is_about(b"one"), answer.is_about(b"other")
    ((True, 'two sites use number 3'), True, False)
    """
    if of.is_old:
        return refusal(of, reason, for_good=True)
    body = bytes([Standing.NUMBER_TAKEN]) + digest(of.body) + reason.encode()
    return Frame(Kind.REFUSAL, of.client, of.epoch, of.sequence, body)
