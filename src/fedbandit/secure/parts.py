"""What secure aggregation needs to know of an algorithm: what a site contributes, and what becomes of a sum."""

from __future__ import annotations

from collections.abc import Sequence
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

    def call(self) -> Download:
        """Return the message with which the algorithm asks a client for all that it has."""

    def packed(self, message: Upload) -> tuple[Floats, int]:
        """Return the numbers of a client's upload, and how many observations they are of."""

    def unpacked(self, values: Floats, observations: int) -> Upload:
        """Return the upload of so many observations that numbers stand for."""

    def put_back(self, side: Clients, state: Any, upload: Upload) -> None:
        """Let the one client of a cohort have again what it has uploaded, as if it had not."""

    def check_sum(self, side: Server, state: Any, total: Upload, members: int) -> None:
        """Raise ProtocolError if the sum over so many sites is none that honest ones can have."""

    def merge(
        self, side: Server, state: Any, total: Upload, counted: Ints, empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Take in a sum over those that it counts; others have answered that they have nothing. Return what follows."""

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
