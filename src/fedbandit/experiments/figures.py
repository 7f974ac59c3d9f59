"""Figures as data: what is drawn against what. How it is drawn is in `fedbandit.results.plots`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

SPREADS = ("standard error", "standard deviation")


@dataclass(frozen=True)
class Figure:
    """What every figure has: the measured quantity, a title, the series shown (all, if none are named)."""

    kind: ClassVar[str] = "figure"

    y: str = "regret"
    title: str = ""
    series: tuple[str, ...] = ()
    per_client: bool = False  # divide y by the number of clients
    log_x: bool = False
    log_y: bool = False
    name: str = ""  # of the file; the kind of figure if empty

    @property
    def file_name(self) -> str:
        """Return the name of the figure's file, without its ending.

        >>> TradeOff().file_name
        'trade-off'
        """
        return self.name or self.kind

    def shows(self, label: str) -> bool:
        """Tell whether a series is shown.

        >>> TradeOff().shows("Sync"), TradeOff(series=("Async",)).shows("Sync")
        (True, False)
        """
        return not self.series or label in self.series


@dataclass(frozen=True)
class TradeOff(Figure):
    """A dot per point: y against what it cost to communicate, with labels and standard errors."""

    kind: ClassVar[str] = "trade-off"

    x: str = "messages"
    log_x: bool = True


@dataclass(frozen=True)
class OverTime(Figure):
    """y over the turns (or rounds), a line per point: mean and a band over seeds."""

    kind: ClassVar[str] = "over-time"

    band: float = 1.0  # half width of the band, in units of `spread`
    spread: str = "standard error"  # one of SPREADS
    labels: tuple[str, ...] = ()  # show only the points with these labels
    by_round: bool = False  # count rounds (turns of each client) on the x axis
    rate: bool = False  # divide y by the turns so far: an error rate, where regret counts errors


@dataclass(frozen=True)
class Groups(Figure):
    """What groups of clients, by how many turns they had, sent and earned at each point: a table, and a bar each.

    Group k has the clients with k * width to (k + 1) * width - 1 turns; the last group has no upper end.

    >>> Groups(width=10, count=3).labels()
    ['0-9', '10-19', '20 and more']
    """

    kind: ClassVar[str] = "groups"

    y: str = "reward"
    width: int = 10
    count: int = 10

    def labels(self) -> list[str]:
        """Return the names of the groups, in order."""
        closed = [f"{k * self.width}-{(k + 1) * self.width - 1}" for k in range(self.count - 1)]
        return [*closed, f"{(self.count - 1) * self.width} and more"]


@dataclass(frozen=True)
class Map(Groups):
    """Users in the plane of the two principal components of the means of what they had, coloured by group."""

    kind: ClassVar[str] = "map"


@dataclass(frozen=True)
class Against(Figure):
    """Final y against a parameter, a size of the world, or a measured quantity such as "rounds"."""

    kind: ClassVar[str] = "against"

    x: str = ""
