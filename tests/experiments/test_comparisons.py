"""Claims that compare points."""

import pytest

from fedbandit.experiments.comparisons import AtMost, Beats, Level, MostOf, NearBest
from fedbandit.experiments.table import Measured, Row, Table


def row(series, point, **means):
    return Row(series, point, {}, 10, {name: Measured(mean, 0.0, 1) for name, mean in means.items()})


TABLE = Table(
    (
        row("alone", "", normalised=3.0),
        row("shared", "often", normalised=2.0, a=1, b=5),
        row("shared", "seldom", normalised=4.0, a=2, b=6),
        row("shared", "hardly", normalised=1.0, a=9, b=9),
        row("half", "often", a=0.5),
        row("half", "seldom", a=2),
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
        (NearBest("s", "shared", 1.0, ("shared",), y="a"), "holds"),
        (NearBest("s", "shared", 1.0, ("shared", "half"), y="a"), "mixed"),
        (NearBest("s", "shared", 2.0, ("half",), y="a"), "holds"),
        (NearBest("s", "shared", 0.5, ("half",), y="a"), "does not hold"),
        (NearBest("s", "shared", 1.0, ("half",), share=0.5, y="a"), "holds"),
        (NearBest("s", "shared", 1.0, ("alone",), y="a"), "cannot be judged"),
        (AtMost("s", "shared", 2.0, "alone", y="normalised"), "holds"),
        (AtMost("s", "shared", 1.0, "alone", y="normalised"), "mixed"),
        (AtMost("s", "shared", 1.0, "alone", points=("seldom",), y="normalised"), "does not hold"),
        (AtMost("s", "shared", 1.0, "shared", y="normalised"), "holds"),  # point by point
        (AtMost("s", "shared", 1.0, "shared", of_point="seldom", y="normalised"), "holds"),
        (AtMost("s", "shared", 1.0, "shared", of_point="often", y="normalised"), "mixed"),
        (AtMost("s", "alone", 1.0, "shared", y="normalised"), "cannot be judged"),
        (MostOf("s", "shared", "never", ("a",), ("a", "b")), "cannot be judged"),
    ],
)
def test_the_numbers_answer(claim, answer):
    assert claim.judge(TABLE).answer == answer


def test_at_most_compares_what_each_client_has_where_numbers_of_clients_differ():
    few, many = (
        Row(name, "", {}, clients, {"regret": Measured(regret, 0.0, 1)})
        for name, clients, regret in (("few", 10, 30.0), ("many", 40, 100.0))
    )
    verdict = AtMost("s", "many", 1.0, "few", per_client=True).judge(Table((few, many)))
    assert verdict == ("holds", "many: 2.5 against 3, 0.833 times")
    assert AtMost("s", "many", 1.0, "few").judge(Table((few, many))).answer == "does not hold"


def test_the_evidence_names_the_numbers():
    evidence = Beats("s", "alone", "shared").judge(TABLE).evidence
    assert evidence == "in 2 of 3 comparisons (alone 3 against often 2, seldom 4, hardly 1)"


@pytest.mark.parametrize(("mean", "answer"), [(10.49, "holds"), (9.51, "holds"), (10.51, "does not hold")])
def test_level_is_what_differs_by_no_more_than_the_standard_errors_together(mean, answer):
    one, other = Measured(mean, 0.6, 4), Measured(10.0, 0.8, 4)  # errors of 0.3 and 0.4: 0.5 together
    table = Table((Row("one", "here", {}, 10, {"regret": one}), Row("other", "here", {}, 10, {"regret": other})))
    verdict = Level("s", "one", "other").judge(table)
    assert verdict == (answer, f"here: {mean:.4g} ± 0.3, 10 ± 0.4")
    assert Level("s", "one", "elsewhere").judge(table).answer == "cannot be judged"
