"""What the numbers say of a claim: it holds, it is level, it does not hold, it is mixed, or it cannot be judged."""

import math

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.claims import Monotone, Ordered, verdict
from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.intervals import Difference
from fedbandit.experiments.table import Table
from samples.tables import costs, row


def table(**series):
    """A table of series, each a list of points: (settings, measured)."""
    return Table(
        tuple(
            row(label, str(place), settings, settings.get("clients", 1), **measured)
            for label, points in series.items()
            for place, (settings, measured) in enumerate(points)
        )
    )


def along(name, *pairs):
    return [({name: value}, {"regret": regret}) for value, regret in pairs]


BELOW, ABOVE, EITHER, NOTHING = (
    Difference(-2.0, 1.0, 5), Difference(2.0, 1.0, 5), Difference(1.0, 2.0, 5), Difference(math.nan, math.nan, 0),
)  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        ([BELOW, BELOW], "holds"),
        ([BELOW, NOTHING], "holds"),
        ([EITHER, EITHER], "level"),
        ([ABOVE], "does not hold"),
        ([ABOVE, EITHER], "does not hold"),
        ([BELOW, ABOVE], "mixed"),
        ([BELOW, EITHER], "mixed"),
        ([NOTHING], "cannot be judged"),
        ([], "cannot be judged"),
    ],
)
def test_the_answer_follows_from_the_parts(parts, answer):
    assert verdict(parts, "why") == (answer, "why")


@pytest.mark.parametrize(
    ("parts", "answer"),
    [([BELOW, EITHER], "holds"), ([BELOW, EITHER, ABOVE], "mixed"), ([EITHER, ABOVE], "does not hold")],
)
def test_a_share_of_the_parts_may_be_enough(parts, answer):
    assert verdict(parts, "why", share=0.5).answer == answer


def test_a_claim_about_one_seed_says_that_it_has_no_interval():
    assert verdict([Difference(-1.0, 0.0, 1)], "why") == ("holds", "why (one seed: no interval)")


@pytest.mark.parametrize("name", sorted(experiments))
def test_every_claim_of_every_experiment_is_answered_also_where_there_is_nothing_to_compare(name):
    answers = {claim.judge(Table(())).answer for claim in experiments[name].claims}
    assert answers <= {"cannot be judged"}


@pytest.mark.parametrize(
    ("one", "other", "falls", "answer"),
    [
        (along("x", (1, 9), (2, 8), (3, 7)), along("x", (1, 5), (2, 4)), True, "holds"),
        (along("x", (1, 9), (2, 8), (3, 7)), along("x", (1, 4), (2, 5)), True, "mixed"),
        (along("x", (1, 9), (2, 8), (3, 8.5)), along("x", (1, 4), (2, 5)), True, "mixed"),
        (along("x", (1, 8), (2, 9), (3, 9.5)), along("x", (1, 4), (2, 5)), True, "does not hold"),
        (along("x", (1, 7), (2, 8), (3, 9)), along("x", (1, 4), (2, 5)), False, "holds"),
        (along("x", (3, 7), (1, 9), (2, 8)), along("x", (2, 4), (1, 5)), True, "holds"),
        (along("x", (1, 5), (2, 5)), along("x", (1, 5), (2, 5)), True, "level"),
        (along("x", (1, (5, 7)), (2, (3, 5.1))), [], True, "holds"),
        (along("x", (1, (5, 7)), (2, (3, 6.9))), [], True, "level"),
        (along("x", (1, 5)), [], True, "cannot be judged"),
        (along("x", (1, 5)), along("x", (1, 5), (2, 4)), True, "holds"),
        (along("x", (1, math.nan), (2, math.nan)), along("x", (1, math.nan)), True, "cannot be judged"),
    ],
)
def test_monotone(one, other, falls, answer):
    claim = Monotone("", ("one", "other"), along="x", falls=falls)
    assert claim.judge(table(one=one, other=other)).answer == answer


def test_monotone_along_a_measured_quantity_and_per_client():
    points = [
        ({"clients": clients}, {"messages": clients, "regret": regret}) for clients, regret in ((10, 10), (20, 15))
    ]
    rises = table(one=points)
    assert Monotone("", ("one",), along="messages").judge(rises).answer == "does not hold"
    assert Monotone("", ("one",), along="messages", per_client=True).judge(rises).answer == "holds"


def test_monotone_along_something_unknown_says_what_is_known():
    with pytest.raises(InvalidInput, match="unknown quantity 'mesages': did you mean 'messages'"):
        Monotone("", ("one",), along="mesages").judge(costs(one=((1, 2), (2, 1))))


@pytest.mark.parametrize(
    ("low", "middle", "high", "answer"),
    [
        ((1, 2), (3, 4), (5, 6), "holds"),
        ((1, 9), (3, 4), (5, 6), "mixed"),
        ((9, 9), (8, 7), (5, 6), "does not hold"),
        ((1, 1), (1, 1), (5, 6), "mixed"),
        ((1, 1), (1, 1), (1, 1), "level"),
        ((1, 2), (3, 4), (9,), "holds"),
        ((1, 2), (3, 4), (3.5,), "mixed"),
        ((1, 2, 99), (3, 4), (5, 6), "holds"),
        ((1, 2), (), (5, 6), "cannot be judged"),
        ((math.nan,), (2,), (3,), "holds"),
        ((1,), (math.nan,), (3,), "cannot be judged"),
        ((1,), (2,), (3,), "holds"),
    ],
    ids=[
        "in order at every point",
        "in order at one point",
        "in order nowhere",
        "two are equal",
        "all are equal",
        "one point stands for all",
        "one point stands for all, between",
        "a point that is not shared does not count",
        "a series without points",
        "one is not known",
        "the one between is not known",
        "one point each",
    ],
)
def test_ordered(low, middle, high, answer):
    made = table(
        **{name: along("x", *enumerate(values)) for name, values in zip("abc", (low, middle, high), strict=True)}
    )
    assert Ordered("", ("a", "b", "c")).judge(made).answer == answer


def test_ordered_per_client_divides_by_the_clients():
    made = table(a=[({"clients": 10}, {"regret": 10})], b=[({"clients": 2}, {"regret": 8})])
    assert Ordered("", ("b", "a")).judge(made).answer == "holds"
    assert Ordered("", ("b", "a"), per_client=True).judge(made).answer == "does not hold"


def test_the_evidence_has_each_step_with_its_interval():
    falls = Monotone("", ("one",), along="x").judge(table(one=along("x", (1, (5, 7)), (2, (3, 5.1)))))
    assert falls.evidence == "one (regret by x: 1: 6, 2: 4.05 (-1.95 ± 0.64))"
    order = Ordered("", ("a", "b")).judge(table(a=along("x", (1, 3)), b=along("x", (1, 5))))
    assert order.evidence == "a 3, b 5 (+2) (one seed: no interval)"


@pytest.mark.parametrize(
    ("claim", "about"), [(Monotone("", ("a",), "x"), ("a",)), (Ordered("", ("a", "b")), ("a", "b"))]
)
def test_a_claim_says_which_series_it_is_about(claim, about):
    assert claim.about() == about
