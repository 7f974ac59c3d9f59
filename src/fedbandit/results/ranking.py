"""Who is where on the leaderboard: settings chosen by the tuning runs, ranked by regret in the reported ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.experiments.intervals import Part, paired
from fedbandit.experiments.leaderboard import form_of
from fedbandit.experiments.table import Measured, Row, Table

FAMILIES = {"linear": "linear", "glm": "generalised linear", "dueling": "dueling", "lasso": "Lasso", "neural": "neural"}
BASELINE = "baseline"  # of no family


@dataclass(frozen=True)
class Entry:
    """An algorithm on the leaderboard: the setting that tuning chose, and all settings, in the reported worlds."""

    name: str
    chosen: Row
    settings: tuple[Row, ...]

    @property
    def algorithm(self) -> type[Algorithm]:
        """Return what the entry is about."""
        return algorithms[self.name]

    @property
    def family(self) -> str:
        """Return the family: the folder that the algorithm is in."""
        parts = self.algorithm.__module__.split(".")
        return FAMILIES.get(parts[2], parts[2]) if len(parts) > 3 else BASELINE

    @property
    def form(self) -> str:
        """Return the form in which it was shown the world."""
        return form_of(self.algorithm)

    @property
    def regret(self) -> Measured:
        """Return its regret, of all clients together."""
        return self.chosen.measured["regret"]

    @property
    def bytes(self) -> float:
        """Return how many bytes were sent in a run, in the mean."""
        return self.chosen.mean("bytes")

    @property
    def processor_seconds(self) -> float:
        """Return the processor time of a run: the median, which a first run that compiles does not move."""
        return median(self.chosen.measured["processor_seconds"].values)

    @property
    def leaves_sites(self) -> str:
        """Return what leaves a site."""
        if self.bytes == 0:
            return "nothing"
        if self.algorithm.shares_raw_data:
            return "raw data"
        return "noised sums" if self.algorithm.hides_releases else "sums or models"


def chosen_by(tuning: Table) -> dict[str, str]:
    """Return of each series the point with the least mean regret; of equal ones the first."""
    return {name: min(tuning.of(name), key=lambda row: row.mean("regret")).point for name in tuning.labels()}


def ranked(tuning: Table, reported: Table) -> list[Entry]:
    """Return the entries, the least regret first."""
    chosen = chosen_by(tuning)
    entries = []
    for name in reported.labels():
        rows = reported.of(name)
        entries.append(Entry(name, next(row for row in rows if row.point == chosen[name]), tuple(rows)))
    return sorted(entries, key=lambda entry: entry.regret.mean)


def places(entries: Sequence[Entry]) -> list[int]:
    """Return the place of each entry of a ranking: those that cannot be told from the first of them share its place.

    They are compared seed by seed, and a 95 % interval of the difference tells them apart.
    """
    found: list[int] = []
    first = 0
    for at, entry in enumerate(entries):
        ahead = paired(entries[first].chosen.values("regret"), entry.chosen.values("regret"))
        if ahead.below_zero() is Part.HOLDS:
            first = at
        found.append(first + 1)
    return found
