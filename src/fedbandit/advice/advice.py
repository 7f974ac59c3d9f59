"""Advice: the settings that were compared, the one to take, how sure that is, and in one sentence what it buys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedbandit.advice.checks import Checks
from fedbandit.advice.described_log import DescribedLog
from fedbandit.advice.frontier import STEADY, Choice, Point
from fedbandit.advice.warm_start import WarmStart
from fedbandit.core.algorithm import Algorithm
from fedbandit.core.parameters import Described
from fedbandit.core.smallest_upload import has_smallest_upload, usual_smallest_upload
from fedbandit.experiments.intervals import plain
from fedbandit.files.amounts import shown_bytes
from fedbandit.transport.link import RESEND

SAME_FOR_ALL = ("noise", "smallest_upload")  # parameters that all settings have alike, and are told apart


@dataclass(frozen=True)
class ExploringCost:
    """What it costs that a share of the choices is uniform, over the time of the log."""

    share: float
    algorithm: Algorithm  # the advised setting with it
    regret: float
    bytes: float


@dataclass(frozen=True)
class UploadCost:
    """What `smallest_upload` costs the best federation, compared with 1, over the time of the log."""

    observations: int  # `smallest_upload`, with which all settings were tried
    regret: float
    bytes: float


@dataclass(frozen=True)
class Advice:
    """What a federation would have bought: `advice.sentence`; `advice.write("advice")` makes it ready to serve."""

    log: DescribedLog
    budget: float  # bytes a day
    every: float  # seconds between the questions of a site that has no news
    idle: float  # bytes a day that these take
    choice: Choice
    points: tuple[Point, ...]  # the finalists, every site alone, and all raw data in one place
    screened: tuple[Point, ...]  # all that were tried, in fewer worlds
    checks: Checks
    exploring: ExploringCost
    uploads: UploadCost
    warm_start: WarmStart
    bytes_band: tuple[float, float]  # of the advised setting, in nine of ten draws of this time and of another one
    logged_bytes: float  # of the advised setting, had sites made the choices of the log: no model is in this

    @property
    def algorithm(self) -> Algorithm:
        """Return the advised algorithm with its parameters, as it is to be deployed."""
        return self.exploring.algorithm

    @property
    def point(self) -> Point:
        """Return what the advised setting had."""
        return next(each for each in self.points if each.candidate == self.choice.candidate)

    @property
    def is_sure(self) -> bool:
        """Tell whether draws agree on the setting and on its bytes."""
        return not self.doubts

    @property
    def doubts(self) -> dict[str, str]:
        """Return of what advice is unsure, the "setting" or the "bytes", and in a few words why."""
        found, of_setting = {}, []
        if self.choice.rivals:
            rival = next(each for each in self.points if each.candidate == self.choice.rivals[0])
            of_setting.append(f"its regret may be more than 10 % above that of {described(rival)}")
        if self.checks.warnings:
            of_setting.append("what it would have earned is in doubt, see the warnings")
        if of_setting:
            found["setting"] = ", and ".join(of_setting)
        low, high = (each / max(self.point.bytes, 1.0) for each in self.bytes_band)
        if self.point.bytes and (low < 1 - STEADY or high > 1 + STEADY):
            less, more = max(1 - low, 0.0), max(high - 1, 0.0)
            found["bytes"] = f"in nine of ten draws messages take {less:.0%} less to {more:.0%} more than predicted"
        return found

    def bytes_a_day(self, point: Point) -> float:
        """Return what a setting sends in a day; with idle talk, where sites talk at all."""
        return point.bytes / self.log.days + (self.idle if point.bytes else 0.0)

    @property
    def bytes_a_day_band(self) -> tuple[float, float]:
        """Return the least and the most bytes a day in nine of ten draws of the advised setting, with idle talk."""
        low, high = (each / self.log.days + (self.idle if self.point.bytes else 0.0) for each in self.bytes_band)
        return low, high

    @property
    def sentence(self) -> str:
        """Return the advice in one sentence."""
        point = self.point
        doubt = "".join(f" Unsure of the {what}: {why}." for what, why in self.doubts.items())
        low, high = (plain(each) for each in self.choice.gain_interval)
        if not self.choice.helps:
            return (
                "Federation would not have helped: the best setting within the budget would have earned "
                f"{plain(self.choice.gain)} more than every site alone (95 % interval {low} to {high}), so let every "
                f"site learn alone (local-linucb).{doubt}"
            )
        band = " to ".join(plain(each) for each in point.gain_band)
        share = "" if math.isnan(point.share) else f", {point.share:.0%} of what all raw data in one place would bring"
        return (
            f"Take {described(point)}: it would have earned {plain(point.gain)} more than every site alone (in nine of "
            f"ten draws {band}){share}, at {shown_bytes(self.bytes_a_day(point))} a day ({self._spread()}).{doubt}"
        )

    def _spread(self) -> str:
        """Return the range of the advised setting's bytes a day, in words."""
        low, high = (shown_bytes(each) for each in self.bytes_a_day_band)
        return f"{low} in nine of ten draws" if low == high else f"in nine of ten draws {low} to {high}"

    @property
    def warm_start_sentence(self) -> str:
        """Return in one sentence what a warm start changes."""
        doubt = "; rewards change with time, so what is old may be worth less than that" if self.checks.changes else ""
        return self.warm_start.sentence(self.choice.helps) + doubt

    @property
    def notes(self) -> list[str]:
        """Return what else is to be known, a sentence each."""
        notes = [
            self._uploads_in_words(),
            f"explore = {self.exploring.share:g}, so that the next log can be evaluated, {self._costs(self.exploring)}",
            f"idle talk of {len(self.log.sites)} sites that ask every {self.every:g} s takes {shown_bytes(self.idle)} "
            "a day, which is counted; what TLS and NATS put around a message is not",
        ]
        if self.every > RESEND:
            notes.append(
                f"every = {self.every:g}, since idle talk at {RESEND:g} s would be over a tenth of the budget: "
                "messages go at once all the same, only one that was lost comes again later"
            )
        if self.choice.helps:
            notes.insert(1, self._logged_in_words())
        raw = self.log.raw_bytes / self.log.days
        if self.budget - self.idle > raw:
            notes.append(
                f"the budget is more than the {shown_bytes(raw)} a day that raw data would take, beyond which sums buy "
                "nothing: thresholds were fitted to that"
            )
        used = self.log.whole_rounds
        notes.append(
            "algorithms that act in rounds (the Lasso, GLB, dueling and neural families) are left out: a round takes "
            f"one decision of every site, and {used:,} of the {len(self.log):,} in the log would fit into rounds"
        )
        return notes

    def _logged_in_words(self) -> str:
        spent = shown_bytes(self.logged_bytes / self.log.days + self.idle)
        return (
            f"had sites made the choices of the log, this setting would have sent {spent} a day, which needs no model; "
            "learnt choices are more alike, and send less"
        )

    def _uploads_in_words(self) -> str:
        least = self.uploads.observations
        if least == 1:
            return (
                "smallest_upload = 1: an upload may rest on a single decision, which can be computed from it; without "
                f"--smallest-upload a federation has {usual_smallest_upload(self.log.dimension)}"
            )
        which = "" if self.choice.helps else " the best federation"
        return (
            f"smallest_upload = {least}, so that no upload tells of fewer decisions,{which} "
            f"{self._costs(self.uploads)}, compared with smallest_upload = 1"
        )

    def _costs(self, cost: ExploringCost | UploadCost) -> str:
        reward = f"costs {plain(cost.regret)} of the reward" if cost.regret >= 0 else f"earns {plain(-cost.regret)}"
        spent = shown_bytes(abs(cost.bytes) / self.log.days)
        return f"{reward} and {'saves' if cost.bytes < 0 else 'adds'} {spent} a day"

    def summary(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        from fedbandit.advice.writing import summary_of

        return summary_of(self)

    def write(self, folder: str | Path) -> Path:
        """Write the report, the figure and the files of the advised federation into a folder; return it."""
        from fedbandit.advice.writing import write_advice  # matplotlib and jinja2 are imported only by those who write

        return write_advice(self, Path(folder))


def described(point: Point) -> str:
    """Return a setting as people write it: the algorithm, and its parameters that set it apart from the others."""
    changed = parameters_of(point.candidate.algorithm)
    if point.candidate.is_pooled:
        return point.candidate.name
    told = ", ".join(f"{name} {_short(value)}" for name, value in changed.items() if name not in SAME_FOR_ALL)
    return f"{point.candidate.name} ({told})" if told else point.candidate.name


def parameters_of(algorithm: Algorithm) -> dict[str, Any]:
    """Return the parameters of an algorithm that are not the default."""
    defaults: list[Described] = type(algorithm).describe()
    values = algorithm.values()
    return {each.name: values[each.name] for each in defaults if values[each.name] != each.default}


def parameters_to_deploy(algorithm: Algorithm) -> dict[str, Any]:
    """Return what a file that deploys it must say: `smallest_upload` too, whose default is another one there."""
    least = {"smallest_upload": algorithm.smallest_upload} if has_smallest_upload(type(algorithm)) else {}
    return {**parameters_of(algorithm), **least}


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
