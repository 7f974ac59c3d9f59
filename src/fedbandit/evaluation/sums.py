"""Thirteen sums and a maximum over rows: all that the estimates need, and all that a site has to tell of its rows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import reduce

from fedbandit.evaluation.terms import Terms


@dataclass(frozen=True)
class Sums:
    """Sums over rows with weight w, reward r, the model's term m and the doubly robust term d. They add up.

    >>> Sums(rows=1, w=2.0, largest=2.0) + Sums(rows=2, w=1.0, largest=0.5)
    Sums(rows=3, w=3.0, ww=0.0, wr=0.0, wwr=0.0, wwrr=0.0, m=0.0, mm=0.0, d=0.0, dd=0.0, r=0.0, rr=0.0, matched=0, \
largest=2.0)
    """

    rows: int = 0
    w: float = 0.0
    ww: float = 0.0
    wr: float = 0.0
    wwr: float = 0.0
    wwrr: float = 0.0
    m: float = 0.0
    mm: float = 0.0
    d: float = 0.0
    dd: float = 0.0
    r: float = 0.0
    rr: float = 0.0
    matched: int = 0  # rows with w > 0
    largest: float = 0.0  # the largest w

    def __add__(self, other: Sums) -> Sums:
        """Return the sums over the rows of both."""
        both = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        return Sums(**{**both, "largest": max(self.largest, other.largest)})


def sums_of(terms: Terms) -> Sums:
    """Return the sums of rows by their terms."""
    w, r, m, d = terms.weight, terms.reward, terms.model, terms.doubly_robust
    return Sums(
        rows=len(r), w=float(w.sum()), ww=float(w @ w), wr=float(w @ r), wwr=float(w**2 @ r),
        wwrr=float(w**2 @ r**2), m=float(m.sum()), mm=float(m @ m), d=float(d.sum()), dd=float(d @ d),
        r=float(r.sum()), rr=float(r @ r), matched=int((w > 0).sum()), largest=float(w.max()),
    )  # fmt: skip


def total(some: list[Sums]) -> Sums:
    """Return the sums over the rows of all."""
    return reduce(Sums.__add__, some, Sums())
