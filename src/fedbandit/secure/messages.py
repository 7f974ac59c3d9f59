"""What travels in the four steps of a secure aggregation, in the order in which it does.

Sites send `Ready`, `Keys`, `Shares`, `Masked` and `Unmask`, or `Left`. The coordinator answers each step, when all have
answered or the deadline is over, with `Call` (or `Question`), `Roster`, `Parcels`, `Present` and `Result`. Aggregations
are named by `version`, which no two have in common, and `step`, which exchange of its round one is. Rows of arrays
belong to sites by their numbers; those of sites that take no part are zeros.

Every `Call` and `Result` tells of each site in which aggregation its sums were counted last: whoever has missed a
download knows by the next one whether its part was in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts
from fedbandit.core.messages import Download, Layout, Upload, array, header
from fedbandit.secure.ring import Words
from fedbandit.secure.shamir import SHARE_BYTES

Bytes: TypeAlias = NDArray[np.uint8]

KEYS_BYTES = 64  # the two public keys
SIGNATURE_BYTES = 64
TAG_BYTES = 16  # of ChaCha20-Poly1305: what shows that nobody changed what it ends
PARCEL_BYTES = 2 * SHARE_BYTES + TAG_BYTES  # the shares of two secrets


@dataclass(frozen=True)
class Ready(Upload, kind="secure.ready"):
    """A site has enough to contribute that all should be called."""


class OfOne(Upload):
    """What a site sends in an aggregation."""

    version: Ints
    step: Ints

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse numbers that count nothing."""
        check_counts(version=self.version, step=self.step)


@dataclass(frozen=True)
class Keys(OfOne, kind="secure.keys"):
    """Step 1: the public keys of a site and how many observations it will contribute; none: it takes no part."""

    version: Ints = header()
    step: Ints = header()
    observations: Ints = header()
    keys: Bytes = array(Layout.BYTES, shape=(KEYS_BYTES,))
    signature: Bytes = array(Layout.BYTES, shape=(SIGNATURE_BYTES,))
    certificate: Bytes = array(Layout.BYTES, shape=("certificate",))

    def check(self, bounds: Bounds) -> None:
        """Refuse numbers that count nothing."""
        super().check(bounds)
        check_counts(observations=self.observations)


@dataclass(frozen=True)
class Shares(OfOne, kind="secure.shares"):
    """Step 2: to each site, sealed for it, its shares of the sender's mask key and seed."""

    version: Ints = header()
    step: Ints = header()
    parcels: Bytes = array(Layout.BYTES, shape=("N", PARCEL_BYTES))


@dataclass(frozen=True)
class Masked(OfOne, kind="secure.masked"):
    """Step 3: the sums of a site under its masks."""

    version: Ints = header()
    step: Ints = header()
    values: Words = array(Layout.WORDS, shape=("words",))

    def rests_on(self, told: int) -> int:  # noqa: ARG002
        """Return 0: by itself it tells of none; a site keeps to `smallest_upload` when it is called."""
        return 0

    def new_observations(self, before: int) -> int:  # noqa: ARG002
        """Return 0: how many count is told in step 1, and whether they do is not known yet."""
        return 0


@dataclass(frozen=True)
class Unmask(OfOne, kind="secure.unmask"):
    """Step 4: of each site that is in the sum the share of its seed, of each that is not the share of its mask key."""

    version: Ints = header()
    step: Ints = header()
    shares: Bytes = array(Layout.BYTES, shape=("N", SHARE_BYTES))


@dataclass(frozen=True)
class Left(OfOne, kind="secure.left"):
    """A site cannot go on with an aggregation: it has come back without what it had in it."""

    version: Ints = header()
    step: Ints = header()


@dataclass(frozen=True)
class Call(Download, kind="secure.call"):
    """All are called to a new aggregation."""

    version: int = header()
    step: int = header()
    counted: Floats = array(Layout.NUMBERS, shape=("N",))


@dataclass(frozen=True)
class Question(Call, kind="secure.question"):
    """The same, to add up answers to what the algorithm asks."""

    length: int = header()  # of the algorithm's message
    body: Bytes = array(Layout.BYTES, shape=("body",))


@dataclass(frozen=True)
class Roster(Download, kind="secure.roster"):
    """After step 1: who contributes how many observations, with which keys."""

    version: int = header()
    step: int = header()
    observations: Floats = array(Layout.NUMBERS, shape=("N",))
    keys: Bytes = array(Layout.BYTES, shape=("N", KEYS_BYTES))
    signatures: Bytes = array(Layout.BYTES, shape=("N", SIGNATURE_BYTES))
    certificates: Bytes = array(Layout.BYTES, shape=("N", "certificate"))


@dataclass(frozen=True)
class Parcels(Download, kind="secure.parcel"):
    """After step 2: what each site that goes on has sealed for the recipient."""

    version: int = header()
    step: int = header()
    senders: Bytes = array(Layout.BYTES, shape=("N",))  # 1 for those who go on
    parcels: Bytes = array(Layout.BYTES, shape=("N", PARCEL_BYTES))


@dataclass(frozen=True)
class Present(Download, kind="secure.present"):
    """After step 3: whose masked sums are in the sum."""

    version: int = header()
    step: int = header()
    members: Bytes = array(Layout.BYTES, shape=("N",))  # 1 for those who are in it


@dataclass(frozen=True)
class Result(Download, kind="secure.result"):
    """The aggregation is over: what the algorithm sends, and nothing if it came to no sum."""

    version: int = header()
    step: int = header()
    counted: Floats = array(Layout.NUMBERS, shape=("N",))
    length: int = header()  # of the algorithm's message
    body: Bytes = array(Layout.BYTES, shape=("body",))


UPLOADS = (Ready, Keys, Shares, Masked, Unmask, Left)
DOWNLOADS = (Call, Question, Roster, Parcels, Present, Result)
AnyUpload: TypeAlias = Ready | Keys | Shares | Masked | Unmask | Left
AnyDownload: TypeAlias = Call | Question | Roster | Parcels | Present | Result


def row_of(data: bytes) -> Bytes:
    """Return bytes as the one row of an upload's field."""
    return np.frombuffer(data, dtype=np.uint8)[np.newaxis]


def rows_of(clients: int, size: int, given: dict[int, bytes]) -> Bytes:
    """Return one row of bytes a site, zeros where nothing is given.

    >>> rows_of(3, 2, {1: b"ab"}).tolist()
    [[0, 0], [97, 98], [0, 0]]
    """
    rows = np.zeros((clients, size), dtype=np.uint8)
    for client, data in given.items():
        rows[client, : len(data)] = np.frombuffer(data, dtype=np.uint8)
    return rows


def marked(clients: int, chosen: list[int]) -> Bytes:
    """Return 1 for some sites and 0 for all others."""
    marks = np.zeros(clients, dtype=np.uint8)
    marks[chosen] = 1
    return marks
