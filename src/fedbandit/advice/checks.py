"""What is to be known before advice is trusted: does the model fit, do sites differ, was enough tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.advice.model.difference import Difference
from fedbandit.advice.model.fit_check import FitCheck, check_fit
from fedbandit.advice.model.fitted import LIKELY, FittedModel, Rows
from fedbandit.features.features import Features

LEAST_EIGENVALUE = 5.0
MOST_NAMED = 3


@dataclass(frozen=True)
class Differing:
    """A feature whose effect differs between sites."""

    name: str  # of the feature or cross; of a log of vectors the coordinate
    deviation: float  # between sites, the largest of its coordinates
    is_personal: bool


@dataclass(frozen=True)
class Checks:
    """What was checked, and sentences on what is wrong."""

    fit: FitCheck
    difference: Difference  # between sites
    change: Difference  # between parts of the time
    differing: tuple[Differing, ...]  # the largest first
    least_eigenvalue: float
    noise: float

    @property
    def warnings(self) -> list[str]:
        """Return a sentence for each thing that makes the advice doubtful."""
        found = []
        if self.fit.is_bad:
            found.append(
                f"rewards are not linear in these features: a tenth of the later rows earned {self.fit.gap:.2f} "
                f"standard deviations more or less than expected (p = {self.fit.p:.1g}); add crosses or bins, and a "
                "constant; or they have changed with time"
            )
        if np.isnan(self.fit.p):
            found.append("the log is too short to tell whether rewards are linear in these features")
        if self.changes:
            found.append(
                "rewards change with time, in the worlds that were drawn too, and how they go on is not in the log: a "
                "discount below 1 lets sites forget"
            )
        if self.least_eigenvalue < LEAST_EIGENVALUE:
            found.append(
                f"some direction of the features was hardly tried (least eigenvalue {self.least_eigenvalue:.2g}, and "
                f"{LEAST_EIGENVALUE:g} is little): what arms in it earn is a guess; leave features out that never "
                "vary, or log choices that explore"
            )
        return found

    @property
    def findings(self) -> list[str]:
        """Return in words what was found, be it good or bad."""
        return [
            self._fit_in_words(), self._change_in_words(), *self._difference_in_words(),
            f"noise of a reward: {self.noise:.3g}",
        ]  # fmt: skip

    @property
    def changes(self) -> bool:
        """Tell whether rewards change with time."""
        return self.change.p <= LIKELY

    def _change_in_words(self) -> str:
        if not self.change.is_known:
            return "time: the rows are too few to tell whether rewards change with it"
        answer = "rewards change with it" if self.changes else "rewards do not change with it, as far as it can be told"
        above, below = self.change.freedom
        return f"time: {answer} (F({above}, {below}) = {self.change.f:.3g}, p = {self.change.p:.2g})"

    def _fit_in_words(self) -> str:
        if np.isnan(self.fit.p):
            return "fit: not checked, the log is too short"
        answer = "not linear" if self.fit.is_bad else "linear, as far as it can be told"
        return f"fit: {answer} (p = {self.fit.p:.2g}, largest gap {self.fit.gap:.2g} standard deviations of the reward)"

    def _difference_in_words(self) -> list[str]:
        f, (above, below), p = self.difference.f, self.difference.freedom, self.difference.p
        if not self.difference.is_known:
            return ["sites: the rows are too few to tell whether they differ, so they are taken to be alike"]
        answer = "differ" if self.differing else "alike, as far as it can be told"
        said = [f"sites: {answer} (F({above}, {below}) = {f:.3g}, p = {p:.2g})"]
        for each in self.differing[:MOST_NAMED]:
            what = f"{each.name!r} differs between sites" if each.name else "the level of rewards differs between sites"
            is_open = each.name and not each.is_personal
            remedy = ": name it in `personal` to let async-linucb-am keep it apart" if is_open else ""
            said.append(f"{what} (standard deviation {each.deviation:.2g}){remedy}")
        return said


def checks_of(rows: Rows, model: FittedModel, features: Features | None) -> Checks:
    """Check rows and the model that was fitted to them."""
    return Checks(
        check_fit(rows), model.difference, model.change, _differing(model, features), model.least_eigenvalue,
        model.noise,
    )  # fmt: skip


def _differing(model: FittedModel, features: Features | None) -> tuple[Differing, ...]:
    deviation = np.sqrt(model.scales.between) if model.differs else np.zeros_like(model.scales.between)
    names: Sequence[str] = [f"x[{place}]" for place in range(len(deviation))]
    shared = len(deviation)
    if features is not None:
        hashed = features.declaration.hash_to is not None
        names, shared = features.names if hashed else features.blocks, features.global_dimension
    largest: dict[str, Differing] = {}
    for place, (name, each) in enumerate(zip(names, deviation.tolist(), strict=True)):
        if each > 0 and (name not in largest or largest[name].deviation < each):
            largest[name] = Differing(name, each, is_personal=place >= shared)
    return tuple(sorted(largest.values(), key=lambda one: -one.deviation))
