"""Claims that compare points."""

import pytest

from fedbandit.experiments.comparisons import Beats, MostOf
from fedbandit.experiments.table import Measured, Row, Table


def row(series, point, **means):
    return Row(series, point, {}, 10, {name: Measured(mean, 0.0, 1) for name, mean in means.items()})


TABLE = Table(
    (
        row("alone", "", normalised=3.0),
        row("shared", "often", normalised=2.0, a=1, b=5),
        row("shared", "seldom", normalised=4.0, a=2, b=6),
        row("shared", "hardly", normalised=1.0, a=9, b=9),
    )
)


@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        (Beats("s", "alone", "shared"), "mixed"),
        (Beats("s", "alone", "shared", share=0.5), "holds"),
        (Beats("s", "alone", "shared", loser_points=("often", "hardly")), "holds"),
        (Beats("s", "alone", "shared", loser_points=("seldom",)), "does not hold"),
        (Beats("s", "shared", "alone"), "holds"),  # its best point counts
        (Beats("s", "shared", "alone", winner_points=("often",)), "does not hold"),
        (Beats("s", "shared", "shared", ("seldom",), ("often",), ("a", "b")), "holds"),
        (Beats("s", "shared", "nobody"), "cannot be judged"),
        (MostOf("s", "shared", "often", ("b",), ("a", "b")), "holds"),
        (MostOf("s", "shared", "often", ("a",), ("a", "b")), "does not hold"),
        (MostOf("s", "shared", "never", ("a",), ("a", "b")), "cannot be judged"),
    ],
)
def test_the_numbers_answer(claim, answer):
    assert claim.judge(TABLE).answer == answer


def test_the_evidence_names_the_numbers():
    evidence = Beats("s", "alone", "shared").judge(TABLE).evidence
    assert evidence == "in 2 of 3 comparisons (alone 3 against often 2, seldom 4, hardly 1)"
