"""Which reasons are of one kind: those that differ in their numbers and in what they quote, and in nothing else."""

from __future__ import annotations

import re

LONGEST = 300  # characters of a reason that are told
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_NUMBER = re.compile(r"-?\d[\d.]*(?:e[-+]?\d+)?|\binf\b|\bnan\b")


def kind_of(reason: str) -> str:
    """Return a reason without its numbers and quotations, which are as many as there are messages.

    >>> kind_of("upload 17 has a field 'x1' of size 1e+120")
    'upload # has a field # of size #'
    """
    return _NUMBER.sub("#", _QUOTED.sub("#", reason[:LONGEST]))
