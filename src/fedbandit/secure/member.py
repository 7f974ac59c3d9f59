"""A site in one secure aggregation: what it keeps, and what it answers to each step. Neither disk nor network.

    IDLE -> KEYED (step 1) -> SHARED (2) -> MASKED (3) -> SPENT (4) -> IDLE

Until it is MASKED a site may leave and keep its part. MASKED, it contributes the part to no other aggregation before it
knows whether it was counted: the same data in the sums over two sets of sites is the difference of the two. With its
answer to step 4 it counts the part as spent. All that is random arrives as a secret, drawn anew for each aggregation.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import ProtocolError
from fedbandit.secure import masks, shamir
from fedbandit.secure.messages import Keys, Masked, Parcels, Present, Roster, Shares, Unmask, row_of, rows_of
from fedbandit.secure.ring import to_ring

IDLE, KEYED, SHARED, MASKED, SPENT = range(5)
SECRET_BYTES = 128


class Secret(NamedTuple):
    """What a site draws for one aggregation."""

    mask_key: bytes
    seed: bytes
    channel_key: bytes
    entropy: bytes  # of which the polynomials of the shares are made

    @classmethod
    def of(cls, drawn: bytes) -> Self:
        """Take random bytes apart."""
        if len(drawn) != SECRET_BYTES:
            raise ProtocolError(f"an aggregation takes {SECRET_BYTES} random bytes, not {len(drawn)}")
        return cls(*(drawn[at : at + 32] for at in range(0, SECRET_BYTES, 32)))

    @property
    def public(self) -> bytes:
        """Return the two public keys."""
        return masks.public(self.mask_key) + masks.public(self.channel_key)


@dataclass
class Member:
    """What a site keeps of the aggregation in which it takes part, or has taken part last."""

    version: int = 0
    step: int = 0
    stage: int = IDLE
    part: Floats = field(default_factory=lambda: np.zeros(0))  # that it contributes
    observations: int = 0  # that are in it
    drawn: bytes = b""
    keys: dict[int, bytes] = field(default_factory=dict)  # public ones of all who contribute
    shares: dict[int, bytes] = field(default_factory=dict)  # that others have given it, by those

    @property
    def name(self) -> str:
        """Return the name of the aggregation."""
        return name_of(self.version, self.step)

    def is_in(self, version: int, step: int) -> bool:
        """Tell whether it takes part in an aggregation, and has not answered its last step."""
        return self.stage in (KEYED, SHARED, MASKED) and (version, step) == (self.version, self.step)

    def clear(self) -> None:
        """Forget the part and all that is secret."""
        self.stage, self.part, self.observations, self.drawn = IDLE, np.zeros(0), 0, b""
        self.keys, self.shares = {}, {}


def name_of(version: int, step: int) -> str:
    """Return the name of an aggregation.

    >>> name_of(7, 3)
    '7:3'
    """
    return f"{version}:{step}"


def threshold_of(contributors: int) -> int:
    """Return how many of those who contribute must be there to the end.

    >>> [threshold_of(contributors) for contributors in (3, 4, 10, 100)]
    [3, 3, 7, 67]
    """
    return 2 * contributors // 3 + 1


def statement(version: int, step: int, client: int, keys: bytes, observations: int) -> bytes:
    """Return what a site signs when it tells its keys; the name of its federation goes before it.

    Without the aggregation in it, a coordinator could show others an old key whose private half it has.
    """
    name = name_of(version, step).encode()
    return name + struct.pack("<I", client) + keys + struct.pack("<Q", observations)


class Participation:
    """How one site answers each step."""

    def __init__(self, number: int, clients: int, smallest_cohort: int) -> None:
        """Take the number of the site, how many there are, and over how many at least sums may be."""
        self.number = number
        self.clients = clients
        self.smallest_cohort = smallest_cohort

    def keys(self, member: Member, drawn: bytes, signature: bytes, certificate: bytes) -> Keys:
        """Answer a call to the aggregation that a member names, with its part."""
        secret = Secret.of(drawn)
        member.stage, member.drawn = KEYED, drawn
        return Keys(
            *_named(member), np.array([member.observations]), row_of(secret.public), row_of(signature),
            row_of(certificate),
        )  # fmt: skip

    def is_listed(self, member: Member, roster: Roster) -> bool:
        """Tell whether a roster has this site with the keys that it has; with others, it is of a life that was lost."""
        keys, observations = roster.keys[self.number].tobytes(), int(roster.observations[self.number])
        return (keys, observations) == (Secret.of(member.drawn).public, member.observations)

    def check_roster(self, roster: Roster) -> None:
        """Refuse a roster of too few, or with keys that are none."""
        contributes = np.flatnonzero(roster.observations > 0).tolist()
        self._require_cohort(contributes, self.smallest_cohort, "contribute")
        masks.check_keys(roster.keys[contributes].tobytes())

    def shares(self, member: Member, roster: Roster) -> Shares:
        """Seal shares of both secrets for each who contributes."""
        secret, name = Secret.of(member.drawn), member.name
        contributes = np.flatnonzero(roster.observations > 0).tolist()
        member.keys = {client: roster.keys[client].tobytes() for client in contributes}
        threshold = threshold_of(len(contributes))
        size = shamir.drawn_bytes(threshold)
        drawn = masks.expanded(secret.entropy, name, "shares", 2 * size)
        of_key = shamir.shares_of(secret.mask_key, drawn[:size], threshold, contributes)
        of_seed = shamir.shares_of(secret.seed, drawn[size:], threshold, contributes)
        parcels = {
            to: masks.sealed(
                secret.channel_key, keys[masks.KEY_BYTES :], name, self.number, to, of_key[to] + of_seed[to]
            )
            for to, keys in member.keys.items()
        }
        member.stage = SHARED
        return Shares(*_named(member), rows_of(self.clients, len(parcels[self.number]), parcels)[np.newaxis])

    def check_parcels(self, member: Member, parcels: Parcels) -> None:
        """Refuse to go on with strangers, without this site, or with too few."""
        goes_on = np.flatnonzero(parcels.senders).tolist()
        self._require_cohort(goes_on, max(self.smallest_cohort, threshold_of(len(member.keys))), "go on")
        strangers = [client for client in goes_on if client not in member.keys]
        if strangers or self.number not in goes_on:
            who = f"site {strangers[0]}, which was" if strangers else "others, and this site was"
            raise ProtocolError(f"aggregation {member.name} is to go on with {who} not on its roster")

    def masked(self, member: Member, parcels: Parcels) -> Masked:
        """Keep the shares of others, and hide the part under masks that only the sum over all takes off."""
        secret, name = Secret.of(member.drawn), member.name
        goes_on = np.flatnonzero(parcels.senders).tolist()
        for sender in goes_on:
            theirs, parcel = member.keys[sender][masks.KEY_BYTES :], parcels.parcels[sender].tobytes()
            member.shares[sender] = (
                masks.opened(secret.channel_key, theirs, name, sender, self.number, parcel) or b""
            )  # without any, others' shares will do
        keys = {client: member.keys[client][: masks.KEY_BYTES] for client in goes_on}
        length = len(member.part)
        words = to_ring(member.part, self.clients)
        words = words + masks.mask(masks.self_seed(secret.seed, name, self.number), length)
        words = words + masks.pair_masks(secret.mask_key, keys, name, self.number, length)
        member.stage = MASKED
        return Masked(*_named(member), words[np.newaxis])

    def check_present(self, member: Member, present: Present) -> None:
        """Refuse to take the masks off a sum over too few, or off one that this site is not in."""
        counted = np.flatnonzero(present.members).tolist()
        self._require_cohort(counted, max(self.smallest_cohort, threshold_of(len(member.keys))), "are in the sum")
        strangers = [client for client in counted if client not in member.shares]
        if strangers or self.number not in counted:
            who = f"site {strangers[0]}" if strangers else "others, without this one"
            raise ProtocolError(f"aggregation {member.name} is to be the sum of {who}, which did not go on")

    def unmask(self, member: Member, present: Present) -> Unmask:
        """Give the share of the seed of each that is in the sum, and of the mask key of each other: never both."""
        size = shamir.SHARE_BYTES
        shares = {
            client: content[size:] if present.members[client] else content[:size]
            for client, content in member.shares.items()
        }
        answer = Unmask(*_named(member), rows_of(self.clients, size, shares)[np.newaxis])
        member.clear()
        member.stage = SPENT
        return answer

    def _require_cohort(self, clients: list[int], least: int, do: str) -> None:
        if len(clients) < least:
            raise ProtocolError(
                f"{len(clients)} sites {do}, but this site tells nothing of itself in a sum over fewer than {least}"
            )


def _named(member: Member) -> tuple[np.ndarray, np.ndarray]:
    return np.array([member.version]), np.array([member.step])
