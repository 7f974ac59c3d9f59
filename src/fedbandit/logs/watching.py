"""Watching decisions, at a site and in its log: predictions against rewards, drift, and what was explored."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedbandit.core.errors import InvalidInput
from fedbandit.logs.comparison import Comparison
from fedbandit.logs.drift import ALARM, Calibration, Cusum
from fedbandit.logs.shares import Shares
from fedbandit.logs.site_rows import rows_of

if TYPE_CHECKING:
    from fedbandit.features.features import Features

REWARDS, VALUES = "rewards", "values"  # kinds of drift


class Watch:
    """What can be said of decisions without looking at any single one.

    >>> watch = Watch()
    >>> watch.chose(propensity=0.95, arms=4)
    ()
    >>> watch.learnt(predicted=0.5, reward=1.0)
    ()
    >>> watch.mean_reward, watch.explored
    (1.0, 0.0)
    """

    def __init__(self, features: Features | None = None) -> None:
        """Begin without a decision; with features, their values are watched, too."""
        self.cusum = Cusum()
        self.calibration = Calibration()
        self.shares = None if features is None else Shares(features)
        self.alarms: dict[str, int] = {}  # by kind
        self.rows = 0  # with a prediction and a reward
        self.predicted_sum = self.reward_sum = self.error_squares = 0.0  # over these rows
        self.known = 0  # decisions whose propensity is known
        self.less_likely = 0  # than not: those of them that explored
        self._strange: set[str] = set()
        self.comparison: Comparison | None = None  # of decisions with and without control, where there are both

    @property
    def mean_predicted(self) -> float:
        """Return the mean of what was predicted of choices; NaN before the first reward."""
        return self.predicted_sum / self.rows if self.rows else math.nan

    @property
    def mean_reward(self) -> float:
        """Return the mean reward of the same choices; NaN before the first."""
        return self.reward_sum / self.rows if self.rows else math.nan

    @property
    def explored(self) -> float:
        """Return the share of choices that were less likely than not, of those whose propensity is known."""
        return self.less_likely / self.known if self.known else math.nan

    def chose(self, propensity: float | None, arms: int) -> tuple[str, ...]:
        """Note a decision between so many arms; return what calls for attention from now on, a sentence each."""
        if propensity is not None:
            self.known += 1
            self.less_likely += propensity < 0.5
        if self.shares is None or not self.shares.chose(arms):
            return ()
        alarming = {each.feature: each for each in self.shares.found() if each.is_alarming}
        new = [alarming[name] for name in alarming.keys() - self._strange]
        self._strange = set(alarming)
        if new:
            self.alarms[VALUES] = self.alarms.get(VALUES, 0) + 1
        return tuple(
            f"{each.now:.1%} of the values of {each.feature} are clipped, unknown or missing, and {each.at_first:.1%} "
            "were at first: declare it anew, or look at where it comes from"
            for each in sorted(new)
        )

    def learnt(self, predicted: float | None, reward: float) -> tuple[str, ...]:
        """Note a reward, and what was predicted when it was chosen; return what calls for attention from now on."""
        if predicted is None:
            return ()
        self.rows += 1
        self.predicted_sum += predicted
        self.reward_sum += reward
        self.error_squares += (reward - predicted) ** 2
        self.calibration.add(predicted, reward)
        shift = self.cusum.add(reward - predicted)
        if not shift:
            return ()
        self.alarms[REWARDS] = self.alarms.get(REWARDS, 0) + 1
        return (
            f"rewards have been {shift} than predicted for some time (at row {self.rows} their cumulative sum passes "
            f"{ALARM:g} deviations): see what has changed, and whether the model can follow",
        )


def watched(folder: Path, features: Features | None = None) -> tuple[Watch, list[str]]:
    """Go through the log of a site, in the order in which its rewards came; return what was seen, and the alarms."""
    watch = Watch(features)
    told: list[str] = []
    for number, row in enumerate(rows_of(folder), start=1):
        arms = row["arms"] or row["ids"] or ()
        if features is not None:
            _encode(features, row, f"{folder}: row {number}")
        told += watch.chose(row.get("propensity"), len(arms))
        if row["reward"] is not None:
            told += watch.learnt(row.get("predicted"), row["reward"])
            _compare(watch, row)
    return watch, told


def _compare(watch: Watch, row: dict[str, Any]) -> None:
    """Add a row to the comparison of the present control group; another share begins another comparison."""
    share = row.get("control_share")
    if share is None:
        return
    if watch.comparison is None or watch.comparison.share != share:
        watch.comparison = Comparison(share)
    watch.comparison.add(row["control"], row["reward"])


def _encode(features: Features, row: dict[str, Any], place: str) -> None:
    """Let features count what is strange about the values of a row."""
    if isinstance(row["context"], list) or (row["arms"] and not isinstance(row["arms"][0], dict)):
        raise InvalidInput(f"{place} has vectors, of which features know nothing: leave features out")
    try:
        features.encode(row["context"], row["arms"])
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error}") from None
