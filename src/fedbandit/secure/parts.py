"""What secure aggregation needs to know of an algorithm: what a site contributes, and what becomes of a sum.

A round begins with a call, and each site contributes what it has. Where the server side then asks all of them something
(for gradients at a place, say), each question is an aggregation of its own, the next step of the round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Protocol

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.interfaces import Clients, Outgoing, Server
from fedbandit.core.messages import Download, Upload
from fedbandit.secure.gathering import Gathering
from fedbandit.secure.member import Member

WHO = np.zeros(1, dtype=np.int64)  # the only client of a site


@dataclass
class SecureCohort:
    """What a site knows; each algorithm declares the type of what it knows of it."""

    within: Any
    member: Member
    has_called: bool = False  # it has asked for an aggregation, and heard of none since
    owes_call: bool = False  # it has more to contribute since it took part in the one under way


@dataclass
class SecureServerState:
    """What a coordinator knows; each algorithm declares the type of what it knows of it."""

    within: Any
    gathering: Gathering
    context: float = inf  # the limits of arms and rewards, by which sums are checked
    reward: float = inf


class Parts(Protocol):
    """The sums of one algorithm, as they are masked and added up."""

    cohort_kind: ClassVar[type[SecureCohort]] = SecureCohort  # what a site knows
    server_kind: ClassVar[type[SecureServerState]] = SecureServerState  # what the coordinator knows
    words: int  # how many numbers a part has
    waits_for_all: bool  # whether all are called only when all have something, or the deadline is over

    def opening(self, side: Server, state: Any) -> Download | None:  # noqa: ARG002
        """Return what the server side asks at the beginning of a round; None: for what each site has."""
        return None

    def is_question(self, message: Download) -> bool:  # noqa: ARG002
        """Tell whether the server side asks all something, and their answers are added up; else the round is over."""
        return False

    def keep(self, side: Clients, cohort: Any, upload: Upload) -> bool:
        """Let a site have what its side would upload; tell whether it is enough to ask for an aggregation."""

    def take(self, side: Clients, cohort: Any, question: Download | None) -> tuple[Floats, int]:
        """Return what a site has to contribute, or its answer, and of how many observations it is; none: nothing."""

    def put_back(self, side: Clients, cohort: Any, part: Floats, observations: int) -> None:
        """Let a site have again what it was to contribute; answers to questions are made anew where they are asked."""

    def hear(self, side: Clients, cohort: Any, message: Download) -> None:
        """Let a site take in what ends a round."""
        side.receive(cohort.within, WHO, message)

    def check_sum(
        self, side: Server, state: Any, total: Floats, observations: Mapping[int, int], bounds: Bounds
    ) -> None:  # fmt: skip
        """Raise ProtocolError if the sum over sites with so many observations each is none of honest ones.

        `bounds` are those that the server side returned.
        """

    def merge(
        self, side: Server, state: Any, total: Floats, observations: Mapping[int, int], empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Take in a sum over sites with so many observations each; others have said that they have nothing.

        Return the one thing that follows: the next question, or the end of the round.
        """

    def give_up(self, side: Server, state: Any) -> Sequence[Outgoing[Download]]:  # noqa: ARG002
        """End a round of which no sum comes; return what its sites should know, if anything."""
        return ()

    def cohort(self, within: Any, member: Member) -> SecureCohort:
        """Return the state of a site, with what it knows of the algorithm."""
        return self.cohort_kind(within, member)

    def server(self, within: Any, gathering: Gathering) -> SecureServerState:
        """Return the state of the coordinator, with what it knows of the algorithm."""
        return self.server_kind(within, gathering)


def padded(values: Floats, words: int) -> Floats:
    """Return numbers with zeros after them, up to so many in all.

    >>> padded(np.array([1.0, 2.0]), words=3)
    array([1., 2., 0.])
    """
    return np.concatenate([values, np.zeros(words - len(values))])


def in_first(total: Floats, sites: int) -> Floats:
    """Return a sum over sites as a row for each of so many: the first has all of it.

    >>> in_first(np.array([5.0, 6.0]), sites=2).tolist()
    [[5.0, 6.0], [0.0, 0.0]]
    """
    rows = np.zeros((sites, *total.shape))
    rows[0] = total
    return rows
