"""What the linear family sends: sums and questions one way, snapshots and answers the other.

Sums travel as they are, in double precision, or as factors in a lower one: see `shared.encoding`. Whoever takes one in
asks it for its sums and need not know how they travelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from fedbandit.algorithms.linear.shared.questions import AsksByLevel, AsksBySpectrum
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import SLACK, Bounds, check_counts
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Download, Layout, Upload, array, header, held
from fedbandit.kernels.linear.factors import multiplied_out
from fedbandit.kernels.linear.many_uploads import are_all_plausible
from fedbandit.kernels.linear.plausible import excess_of


class Counted(Upload):
    """Sums since the last upload, and over how many observations they are: all of them are new."""

    observations: Ints

    def new_observations(self, before: int) -> int:  # noqa: ARG002
        """Return the number that the sums are over."""
        return int(self.observations.sum())

    def rests_on(self, told: int) -> int:  # noqa: ARG002
        """Return the number that the sums are over."""
        return int(self.observations.sum())


@dataclass(frozen=True)
class Statistics(Counted, kind="linear.statistics"):
    """A client's own sums since its last upload: dV = sum x x^T, db = sum x y."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    observations: Ints = header()

    def sums(self) -> tuple[Floats, Floats]:
        """Return dV and db of each sender."""
        return self.gram, self.moment

    def check(self, bounds: Bounds) -> None:
        """Refuse sums that so many observations cannot have: see `Bounds.check_sums`."""
        check_counts(observations=self.observations)
        sums = self.gram, self.moment, self.observations
        if not are_all_plausible(*sums, bounds.context, bounds.reward, 0.5 * SLACK):
            for gram, moment, observations in zip(self.gram, self.moment, self.observations.tolist(), strict=True):
                bounds.check_sums(gram, moment, observations)


@dataclass(frozen=True)
class Factors(Counted, kind="lean.sums"):
    """A client's own sums since its last upload, rounded: R with R^T R = dV, and db."""

    factor: Floats = array(Layout.FACTOR, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    observations: Ints = header()

    def sums(self) -> tuple[Floats, Floats]:
        """Return dV and db of each sender, as they were rounded."""
        return self._sums

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        return multiplied_out(self.factor), self.moment.astype(np.float64)

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse impossible counts, sums of no observations that are not zero, and more rows than observations."""
        check_counts(observations=self.observations)
        rows = np.count_nonzero(self.factor.any(axis=-1), axis=-1)
        if (rows > self.observations).any():
            first = int((rows > self.observations).argmax())
            raise ProtocolError(
                f"a factor of {rows[first]} rows over {self.observations[first]} observations: it has at most as many"
            )
        if self.moment[self.observations == 0].any():
            raise ProtocolError("sums that are not zero, of no observations")

    def excess(self, bounds: Bounds) -> float:
        """Return by how many observations the sums are beyond those that they name: see `excess_of`."""
        counts = self.observations.tolist()
        return sum(
            excess_of(gram, moment, count, bounds.context, bounds.reward, SLACK)
            for gram, moment, count in zip(*self.sums(), counts, strict=True)
        )


@dataclass(frozen=True)
class AskingStatistics(AsksByLevel, Statistics, kind="linear.asking-statistics"):
    """An upload that is also a question."""

    includes: Ints = header()
    level: Floats = header(Layout.NUMBER)


@dataclass(frozen=True)
class AskingFactors(AsksByLevel, Factors, kind="lean.asking-sums"):
    """A rounded upload that is also a question."""

    includes: Ints = header()
    level: Floats = header(Layout.NUMBER)


@dataclass(frozen=True)
class Question(AsksByLevel, Upload, kind="lean.ask"):
    """A client asks for what it lacks; it is answered if that is enough."""

    includes: Ints = header()
    level: Floats = header(Layout.NUMBER)


@dataclass(frozen=True)
class FadingStatistics(AsksBySpectrum, Statistics, kind="linear.fading-statistics"):
    """An upload that is also a question, where sums fade."""

    includes: Ints = header()
    spectrum: Floats = array(Layout.NUMBERS, shape=("d",))


@dataclass(frozen=True)
class FadingFactors(AsksBySpectrum, Factors, kind="lean.fading-sums"):
    """A rounded upload that is also a question, where sums fade."""

    includes: Ints = header()
    spectrum: Floats = array(Layout.NUMBERS, shape=("d",))


@dataclass(frozen=True)
class FadingQuestion(AsksBySpectrum, Upload, kind="lean.fading-ask"):
    """A client asks for what it lacks, where sums fade."""

    includes: Ints = header()
    spectrum: Floats = array(Layout.NUMBERS, shape=("d",))


@dataclass(frozen=True)
class Welcome(Upload, kind="lean.welcome"):
    """The question of a client that knows nothing yet, before its first turn: it is answered if there is anything."""


@dataclass(frozen=True)
class Hello(Upload, kind="linear.hello"):
    """A client had its first turn: from now on the server checks whether it is owed a download."""


class Exact:
    """The server's sums as they are."""

    gram: Floats
    moment: Floats

    def sums(self, ridge: float) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Return V_g and b_g."""
        return self.gram, self.moment


@dataclass(frozen=True)
class Snapshot(Exact, Download, kind="linear.snapshot"):
    """The server's sums V_g, b_g."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    holds: int | Ints = held()


@dataclass(frozen=True)
class Answer(Exact, Download, kind="linear.answer"):
    """The server's sums, and how many uploads are in them: the answer to a question."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    version: int = header()
    holds: int | Ints = held()


class Rounded:
    """A snapshot as U with U^T U = V_g + ridge I, and theta_g = (V_g + ridge I)^-1 b_g, both rounded.

    A rounded factor still is one of a positive definite matrix; a rounded matrix need not be one.
    """

    factor: Floats
    estimate: Floats

    def sums(self, ridge: float) -> tuple[Floats, Floats]:
        """Return V := A - ridge I and b := A theta_g, with A = U^T U."""
        regular = multiplied_out(self.factor)
        moment = regular @ self.estimate.astype(np.float64)
        regular.reshape(-1)[:: len(regular) + 1] -= ridge
        return regular, moment


@dataclass(frozen=True)
class FactorSnapshot(Rounded, Download, kind="lean.snapshot"):
    """The server's sums, rounded."""

    factor: Floats = array(Layout.FACTOR, shape=("d", "d"))
    estimate: Floats = array(shape=("d",))
    holds: int | Ints = held()


@dataclass(frozen=True)
class FactorAnswer(Rounded, Download, kind="lean.answer"):
    """The server's sums, rounded, and how many uploads are in them: the answer to a question."""

    factor: Floats = array(Layout.FACTOR, shape=("d", "d"))
    estimate: Floats = array(shape=("d",))
    version: int = header()
    holds: int | Ints = held()


Sums: TypeAlias = Statistics | Factors
Shared: TypeAlias = Snapshot | Answer | FactorSnapshot | FactorAnswer
