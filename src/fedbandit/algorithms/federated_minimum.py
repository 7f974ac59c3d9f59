"""Finding the minimum of a sum whose terms stay with the clients: a place goes down, gradients come up.

    F(theta) = sum over all clients' observations of a loss  +  ridge / 2 |theta|^2

The server side of such a search is a state machine over messages. It asks all clients about the place where the search
stands and waits for their answers (`Questions`); a `Solver` takes these in, and says where to look next or that the
search has arrived. What begins a search, what travels with its questions and what its end is good for, is the
algorithm's own: see `glm.shared.server`, `dueling.fldb_gd` and `dueling.fldb_ogd`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from fedbandit.algorithms.attendance import Attendance, nobody_yet
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.former_names import regrouped
from fedbandit.core.messages import Upload

Rows = TypeVar("Rows", bound=NamedTuple)
Place = TypeVar("Place", contravariant=True)
Answers = TypeVar("Answers", contravariant=True)


class Gradients(NamedTuple):
    """Answers that are gradients and nothing else, one row a client."""

    gradient: Floats  # (clients, d)


class Solver(Protocol[Place, Answers]):
    """How the place of a search moves. Where it is, and what the solver remembers, stands in a state of its own."""

    def begin(self, search: Place, gram: Floats, observations: int) -> None:
        """Begin, where the search stands, to minimise the loss of so many observations, whose sum x x^T is `gram`."""

    def advance(self, search: Place, answers: Answers) -> bool:
        """Take in what all clients say of the place where the search stands, move it, and tell if it has arrived."""


def _once_in_an_inbox(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record of 0.1, which had the answers, and how many they were, by sender."""
    answered = np.asarray(stored["answers"].counts > 0)
    return {
        "answered": answered,
        "late": np.zeros_like(answered),
        "missed": np.zeros(len(answered), dtype=np.int64),
        "is_called": stored["is_open"],
        "rows": Gradients(stored["answers"].rows),
    }


@regrouped(_once_in_an_inbox)
@dataclass(kw_only=True)
class Questions(Attendance, Generic[Rows]):
    """A part of the state of a server that asks all clients the same, one question after the other.

    >>> questions = no_questions(2, Gradients(np.zeros((2, 1))))
    >>> questions.ask()
    1
    >>> questions.fits(np.array([0, 1]), numbers=np.array([1, 0]))
    array([ True, False])

    Answers wait in their sender's row, so that no sum owes anything to the order of arrival.
    """

    number: int  # of the last question
    rows: Rows  # what clients have answered, each (clients, ...)

    def ask(self) -> int:
        """Ask the next question, and return its number."""
        self.open_next()
        self.number += 1
        return self.number

    def fits(self, senders: Ints, numbers: Ints) -> Bools:
        """Tell which answers are to the open question, and the first of their senders to it."""
        return np.asarray(self.silent[senders] & (numbers == self.number) & self.is_open)

    def take_in(self, senders: Ints, message: Upload, fits: Bools) -> bool:
        """Keep the answers that fit; tell whether the last missing one is among them."""
        if not fits.all():
            at = np.flatnonzero(fits)
            if not at.size:
                return False
            senders, message = senders[at], message.rows(at)
        names = message.layout()
        for name, rows in zip(self.rows._fields, self.rows, strict=True):
            if name in names:
                rows[senders] = getattr(message, name)
        self.answer(senders)
        return self.is_complete

    def forget_silent(self) -> None:
        """Let what the silent have answered before count in no sum."""
        silent = self.silent
        for each in self.rows:
            each[silent] = 0


def no_questions(clients: int, rows: Rows, number: int = 0) -> Questions[Rows]:
    """Return the state of a server that has asked nothing, with room for answers; questions count on from a number."""
    return Questions(**vars(nobody_yet(clients)), number=number, rows=rows)
