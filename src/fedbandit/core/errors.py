"""What can go wrong, and whose mistake it is.

FedbanditError
├── InvalidInput      the caller's mistake: one sentence with the argument, the value and the remedy
└── ProtocolError     the peer's mistake: a message that must not touch any state
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class FedbanditError(Exception):
    """Every error that fedbandit raises on purpose."""


class InvalidInput(FedbanditError, ValueError):
    """The caller passed something that cannot be used; nothing was changed.

    >>> raise InvalidInput("ridge must be greater than 0, not -1.0: give a positive number")
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: ridge must be greater than 0, not -1.0: give a positive number
    """


class ProtocolError(FedbanditError):
    """A peer sent something that breaks the protocol; the message was refused and no state changed."""


MOST_NAMED = 20  # names that one sentence can list
ALIKE = 0.75  # of 1: what a name must have of another to be offered in its place; below, guesses are silly
ALIKE_SHORT = 0.65  # of names of three letters, which differ in one


def unknown(kind: str, name: str, known: Iterable[str]) -> InvalidInput:
    """Return the error for a name that is not known, with the nearest known name, or some, as the remedy.

    >>> str(unknown("algorithm", "async-linucv", ["async-linucb", "sync-linucb"]))
    "unknown algorithm 'async-linucv': did you mean 'async-linucb'?"
    >>> str(unknown("algorithm", "async", ["async-linucb", "sync-linucb"]))
    "unknown algorithm 'async': did you mean 'async-linucb'?"
    >>> str(unknown("number", "one", map(str, range(99))))
    "unknown number 'one': there are 99; `fedbandit list` shows the algorithms, environments and experiments"
    """
    known = sorted(known)
    near = nearest(name, known)
    if near:
        remedy = f"did you mean {near!r}?"
    elif len(known) <= MOST_NAMED:
        remedy = "known: " + ", ".join(known)
    else:
        remedy = f"there are {len(known)}; `fedbandit list` shows the algorithms, environments and experiments"
    return InvalidInput(f"unknown {kind} {name!r}: {remedy}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was meant, if one can be guessed: it begins so, is nearly so, or has that in it.

    >>> nearest("rigde", ["ridge", "noise"]), nearest("lam", ["delta"]), nearest("--env", ["--set", "--environment"])
    ('ridge', None, '--environment')
    """
    known = sorted(known)
    whole = len(name.strip("-")) > 2
    begin = [each for each in known if whole and each.startswith(name)]
    within = [each for each in known if whole and name in each]
    alike = get_close_matches(name, known, n=1, cutoff=ALIKE if len(name) > 3 else ALIKE_SHORT)
    return next(iter([*begin, *alike, *within]), None)
