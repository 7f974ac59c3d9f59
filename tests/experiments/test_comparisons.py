"""Claims that compare points."""

import math

import pytest

from fedbandit.experiments.comparisons import AtMost, Beats, Below, Level, MostOf, NearBest, Similar
from fedbandit.experiments.table import Table
from samples.tables import row

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


NOISY = Table(
    (
        row("lower", "here", regret=(100, 110, 120), bytes=5),
        row("lower", "there", regret=(100, 110, 120), bytes=5),
        row("higher", "here", regret=(101, 112, 121), bytes=6),
        row("higher", "there", regret=(31, 300, 250), bytes=6),
        row("empty", "here", regret=(math.nan, math.nan, math.nan)),
        row(
            "parts", "here", much=(6, 8, 7), little=(3, 2, 3), either=(3, 9, 4), nothing=(math.nan,) * 3, none=(0,) * 3
        ),
    )
)


@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        (Beats("s", "higher", "lower", ("here",), ("here",), ("regret",)), "level"),
        (AtMost("s", "lower", 1.0, "lower"), "holds"),
        (AtMost("s", "lower", 1.0, "higher"), "level"),
        (AtMost("s", "higher", 2.0, "lower", ("here",)), "holds"),
        (AtMost("s", "higher", 0.5, "lower", ("here",)), "does not hold"),
        (NearBest("s", "higher", 2.0, ("lower",)), "mixed"),
        (NearBest("s", "higher", 2.0, ("lower",), share=0.5), "holds"),
        (Level("s", "lower", "higher"), "holds"),
        (Level("s", "lower", "lower"), "holds"),
        (Level("s", "lower", "higher", y="bytes"), "cannot be judged"),
        (Level("s", "empty", "lower"), "cannot be judged"),
        (Similar("s", "lower", "higher", factor=2.0), "mixed"),
        (MostOf("s", "parts", "here", ("much",), ("much", "little")), "holds"),
        (MostOf("s", "parts", "here", ("little",), ("much", "little")), "does not hold"),
        (MostOf("s", "parts", "here", ("much",), ("much", "either")), "level"),
        (MostOf("s", "parts", "here", ("much", "nothing"), ("much", "little", "nothing")), "holds"),
        (MostOf("s", "parts", "here", ("none",), ("none", "nothing")), "cannot be judged"),
        (Below("s", "parts", "here", ("little",), ("much", "unknown")), "holds"),
        (Below("s", "parts", "here", ("much",), ("little",)), "does not hold"),
        (Below("s", "parts", "here", ("little",), ("much", "none")), "mixed"),
        (Below("s", "parts", "here", ("nothing",), ("much",)), "cannot be judged"),
        (Below("s", "parts", "there", ("little",), ("much",)), "cannot be judged"),
        (Beats("s", "parts", "parts", quantities=("nothing",)), "cannot be judged"),
        (Beats("s", "empty", "lower", loser_points=("here",), quantities=("regret",)), "cannot be judged"),
        (AtMost("s", "empty", 1.0, "lower"), "cannot be judged"),
        (NearBest("s", "empty", 1.0, ("lower",)), "cannot be judged"),
        (Similar("s", "empty", "lower"), "cannot be judged"),
    ],
)
def test_several_seeds_answer_with_their_intervals(claim, answer):
    assert claim.judge(NOISY).answer == answer


def test_at_most_compares_what_each_client_has_where_numbers_of_clients_differ():
    few, many = (
        row(name, "", clients=clients, regret=regret)
        for name, clients, regret in (("few", 10, 30.0), ("many", 40, 100.0))
    )
    verdict = AtMost("s", "many", 1.0, "few", per_client=True).judge(Table((few, many)))
    said = "many: 2.5 against 3, 0.833 times (-0.5 from 1 times) (one seed: no interval)"
    assert verdict == ("holds", said)
    assert AtMost("s", "many", 1.0, "few").judge(Table((few, many))).answer == "does not hold"


def test_the_evidence_names_the_numbers():
    evidence = Beats("s", "alone", "shared").judge(TABLE).evidence
    assert evidence == (
        "in 2 of 3 comparisons (alone 3 against often 2 (-1), seldom 4 (+1), hardly 1 (-2)) (one seed: no interval)"
    )
    seen = Beats("s", "higher", "lower", ("here",), ("here",), ("regret",)).judge(NOISY).evidence
    assert seen == "in 0 of 1 comparisons (higher here 111.3 against here 110 (-1.333 ± 1.4))"


@pytest.mark.parametrize(("right", "answer"), [(140.0, "holds"), (160.0, "does not hold"), (60.0, "does not hold")])
def test_similar_means_within_a_factor_either_way(right, answer):
    made = Table((row("left", "", regret=100.0), row("right", "", regret=right)))
    assert Similar("alike", "left", "right", factor=1.5).judge(made).answer == answer


@pytest.mark.parametrize(
    ("seeds", "answer"), [((10.0, 20.5), "does not hold"), ((9.0, 20.5), "holds")], ids=["apart", "not told apart"]
)
def test_level_is_what_cannot_be_told_apart_seed_by_seed(seeds, answer):
    made = Table(
        (row("one", "here", regret=seeds), row("other", "here", regret=tuple(each - 1 for each in (10.0, 20.5))))
    )
    verdict = Level("s", "one", "other").judge(made)
    assert verdict.answer == answer
    assert Level("s", "one", "elsewhere").judge(made).answer == "cannot be judged"
