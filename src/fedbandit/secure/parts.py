"""What secure aggregation needs to know of an algorithm: what a site contributes, and what becomes of a sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Clients, Outgoing, Server
from fedbandit.core.messages import Download, Upload
from fedbandit.secure.gathering import Gathering
from fedbandit.secure.member import Member


class Parts(Protocol):
    """The sums of one algorithm, as they are masked and added up."""

    words: int  # how many numbers a part has
    waits_for_all: bool  # whether all are called only when all have something, or the deadline is over

    def keep(self, side: Clients, cohort: Any, upload: Upload) -> None:
        """Let a site have what its side would upload, until all are called."""

    def take(self, side: Clients, cohort: Any) -> tuple[Floats, int]:
        """Return all that a site has to contribute, and of how many observations it is; none: it has nothing."""

    def put_back(self, side: Clients, cohort: Any, part: Floats, observations: int) -> None:
        """Let a site have again what it was to contribute."""

    def check_sum(self, side: Server, state: Any, total: Floats, observations: Mapping[int, int]) -> None:
        """Raise ProtocolError if the sum over sites with so many observations each is none of honest ones."""

    def merge(
        self, side: Server, state: Any, total: Floats, observations: Mapping[int, int], empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Take in a sum over sites with so many observations each; others have said that they have nothing.

        Return what follows.
        """

    def cohort(self, within: Any, member: Member) -> SecureCohort:
        """Return the state of a site, with what it knows of the algorithm."""

    def server(self, within: Any, gathering: Gathering) -> SecureServerState:
        """Return the state of the coordinator, with what it knows of the algorithm."""


@dataclass
class SecureCohort:
    """What a site knows; each algorithm declares the type of what it knows of it."""

    within: Any
    member: Member
    has_called: bool = False  # it has asked for an aggregation, and heard of none since


@dataclass
class SecureServerState:
    """What a coordinator knows; each algorithm declares the type of what it knows of it."""

    within: Any
    gathering: Gathering
