"""What papers show: each panel of a figure and each table, what is said of it, and which experiment shows it again.

A panel names its experiment and that experiment's figures, the paper's own words with the claims that answer them, and
the numbers that were published, each with its source, beside the points of ours that they belong to.
"""

from __future__ import annotations

from dataclasses import dataclass

from fedbandit.core.registry import Registry
from fedbandit.experiments.claims import Claim
from fedbandit.experiments.experiment import Experiment, experiments


@dataclass(frozen=True)
class Quote:
    """A sentence of the paper, and how the claims of the experiment begin that answer it.

    What no claim can answer says why.
    """

    words: str
    answered_by: tuple[str, ...] = ()
    unanswered: str = ""


@dataclass(frozen=True)
class Published:
    """A number that was published, where it stands, and the point of ours that it belongs to."""

    value: float
    quantity: str
    series: str
    point: str
    source: str
    error: float | None = None  # a standard error, where one was published
    per_client: bool = False


@dataclass(frozen=True)
class Panel:
    """One panel of a figure, or one table: `place` is where it stands in the paper, as in "figure 2a"."""

    paper: str
    place: str
    title: str
    experiment: str
    figures: tuple[str, ...]
    said: tuple[Quote, ...] = ()
    published: tuple[Published, ...] = ()

    @property
    def id(self) -> str:
        """Return the name of the panel, as in "fldb/figure-1a"."""
        return f"{self.paper}/{self.place.replace(' ', '-')}"

    def register(self) -> Panel:
        """Make the panel known by its id."""
        panels.add(self.id, self)
        return self

    def made_by(self) -> Experiment:
        """Return the experiment that shows the panel again."""
        return experiments[self.experiment]

    def claims(self, said: Quote) -> list[Claim]:
        """Return the claims that answer a sentence of the paper."""
        return [claim for claim in self.made_by().claims if claim.sentence.startswith(said.answered_by or ("\0",))]


panels: Registry[Panel] = Registry("panel", "fedbandit.experiments")
