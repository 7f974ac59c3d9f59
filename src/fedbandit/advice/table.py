"""The frontier as a table of texts, the same on the screen and on the page."""

from __future__ import annotations

import math

from fedbandit.advice.advice import Advice, described
from fedbandit.advice.frontier import Point
from fedbandit.experiments.intervals import plain
from fedbandit.files.amounts import shown_bytes

HEAD = ("setting", "gain", "5 to 95 %", "of pooled's", "bytes a day", "sure", "")


def lines_of(advice: Advice) -> list[tuple[str, ...]]:
    """Return a line for each setting, the one with the least regret first."""
    return [_line(advice, each) for each in sorted(advice.points, key=lambda point: point.regret)]


def _line(advice: Advice, point: Point) -> tuple[str, ...]:
    low, high = point.gain_band
    share = "" if math.isnan(point.share) else f"{point.share:.0%}"
    return (
        described(point), plain(point.gain), f"{plain(low)} to {plain(high)}", share,
        shown_bytes(advice.bytes_a_day(point)), "" if point.candidate.is_pooled else f"{point.sure:.0%}",
        _remark(advice, point),
    )  # fmt: skip


def _remark(advice: Advice, point: Point) -> str:
    if point.candidate == advice.choice.candidate:
        return "advised"
    if point.candidate.is_pooled:
        return "breaks privacy"
    return "over the budget" if advice.bytes_a_day(point) > advice.budget else ""
