"""Whether an experiment's parts fit together: points that can be told apart, figures and claims of what there is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.experiments.claims import Claim
from fedbandit.experiments.figures import SPREADS, Against, Figure, OverTime, TradeOff
from fedbandit.experiments.table import CURVES, QUANTITIES

if TYPE_CHECKING:
    from fedbandit.experiments.experiment import Series


def check_points(series: Sequence[Series]) -> None:
    """Refuse two points under one label, and one run under two labels: the table could not tell them apart."""
    labels: set[tuple[str, str]] = set()
    for each in series:
        if not each.points:
            raise InvalidInput(f"series {each.label!r} has no points: give each parameter of its grid a value")
        runs: dict[str, str] = {}
        for point in each.points:
            name = (each.label, point.label)
            if name in labels:
                raise InvalidInput(
                    f"series {each.label!r} has two points {point.label!r}: give each a label of its own"
                )
            labels.add(name)
            run = repr((sorted(point.parameters.items()), sorted(point.world.items())))
            if run in runs:
                raise InvalidInput(
                    f"points {runs[run]!r} and {point.label!r} of series {each.label!r} are the same run: drop one, or "
                    "take what they sweep out of the world of `quick`"
                )
            runs[run] = point.label


def check_shown(
    series: Sequence[Series], figures: Sequence[Figure], claims: Sequence[Claim], derived: Sequence[str] = ()
) -> None:
    """Refuse figures and claims of series or quantities that there are not, and two figures of one name.

    `derived` names what is computed from the measured quantities.
    """
    labels = [each.label for each in series]
    names: set[str] = set()
    for figure in figures:
        if figure.file_name in names or PurePath(figure.file_name).name != figure.file_name:
            raise InvalidInput(
                f"a figure's name must be its own and name a file, not {figure.file_name!r}: choose another"
            )
        names.add(figure.file_name)
        _check_labels(figure.series, labels)
        known = CURVES if isinstance(figure, OverTime) else (*QUANTITIES, *derived)
        if figure.y not in known:
            raise unknown("quantity", figure.y, known)
        if isinstance(figure, OverTime) and figure.spread not in SPREADS:
            raise unknown("spread", figure.spread, SPREADS)
        if isinstance(figure, TradeOff | Against) and figure.x not in QUANTITIES:
            _check_swept(figure.x, [each for each in series if not figure.series or each.label in figure.series])
    for claim in claims:
        _check_labels(claim.about(), labels)


def _check_labels(wanted: Sequence[str], labels: Sequence[str]) -> None:
    for label in wanted:
        if label not in labels:
            raise unknown("series", label, labels)


def _check_swept(name: str, shown: Sequence[Series]) -> None:
    for each in shown:
        for point in each.points:
            swept = {**point.world, **point.parameters}
            if name not in swept:
                raise unknown("quantity", name, [*QUANTITIES, *swept])
            if isinstance(swept[name], bool) or not isinstance(swept[name], int | float):
                raise InvalidInput(f"{name} is {swept[name]!r} in series {each.label!r}: an axis needs numbers")
