"""What the numbers say of a claim: it holds, it does not, it is mixed, or it cannot be judged."""

import math

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.claims import CheaperAtEqual, Monotone, Ordered, verdict
from fedbandit.experiments.table import Measured, Row, Table


def table(**series):
    """A table of series, each a list of points: (settings, measured)."""
    return Table(
        tuple(
            Row(
                label,
                str(place),
                settings,
                settings.get("clients", 1),
                {name: Measured(value, 0.0, 1) for name, value in measured.items()},
            )
            for label, points in series.items()
            for place, (settings, measured) in enumerate(points)
        )
    )


def costs(*pairs, y="regret"):
    """Points by what they cost in messages and what they then have of y."""
    return [({}, {"messages": messages, y: value}) for messages, value in pairs]


def along(name, *pairs):
    return [({name: value}, {"regret": regret}) for value, regret in pairs]


@pytest.mark.parametrize(
    ("parts", "answer"),
    [([True, True], "holds"), ([False], "does not hold"), ([True, False], "mixed"), ([], "cannot be judged")],
)
def test_the_answer_follows_from_the_parts(parts, answer):
    assert verdict(parts, "why") == (answer, "why")


CHEAPER = CheaperAtEqual("cheap is cheaper", cheaper="cheap", dearer="dear")


@pytest.mark.parametrize(
    ("cheap", "dear", "answer"),
    [
        (costs((10, 5), (100, 3), (1000, 1)), costs((20, 5), (200, 3), (2000, 1)), "holds"),
        (costs((20, 5), (200, 3), (2000, 1)), costs((10, 5), (100, 3), (1000, 1)), "does not hold"),
        (costs((10, 5), (5000, 1)), costs((20, 5), (2000, 1)), "mixed"),
        (costs((10, 5), (1000, 1)), costs((10, 5), (1000, 1)), "does not hold"),
        (costs((10, 3), (1000, 1)), costs((10, 9), (1000, 5)), "cannot be judged"),
        (costs((10, 9), (1000, 5)), costs((10, 3), (1000, 1)), "cannot be judged"),
        (costs((10, 3)), costs((100, 5), (1000, 1)), "holds"),
        (costs((500, 3)), costs((100, 5), (1000, 1)), "does not hold"),
        (costs((0, 3)), costs((100, 5), (1000, 1)), "cannot be judged"),
        (costs((10, 3), (20, 2)), [], "cannot be judged"),
        (costs((10, math.nan), (20, math.nan)), costs((100, 5), (1000, 1)), "cannot be judged"),
    ],
    ids=[
        "cheaper at every level",
        "dearer at every level",
        "cheaper here and dearer there",
        "equal is not cheaper",
        "better everywhere at any cost",
        "worse everywhere at any cost",
        "one point that is cheaper",
        "one point that is dearer",
        "no communication at all",
        "no points",
        "regret not known",
    ],
)
def test_cheaper_at_equal_regret(cheap, dear, answer):
    found = CHEAPER.judge(table(cheap=cheap, dear=dear))
    assert found.answer == answer
    assert found.evidence


def test_costs_between_two_points_are_interpolated_on_a_logarithmic_scale():
    claim = CheaperAtEqual("", cheaper="cheap", dearer="dear", levels=3)
    found = claim.judge(table(cheap=costs((10, 5), (1000, 1)), dear=costs((20, 5), (2000, 1))))
    assert "regret 3: 100 against 200 messages" in found.evidence


def test_points_that_another_beats_in_both_are_left_out():
    wasteful = costs((10, 5), (900, 3), (50, 2), (1000, 1))
    assert CHEAPER.judge(table(cheap=wasteful, dear=costs((20, 5), (2000, 1)))).answer == "holds"


@pytest.mark.parametrize(
    ("cheap", "dear", "answer"),
    [
        (((10, 1), (100, 3)), ((20, 1), (200, 3)), "holds"),
        (((20, 1), (200, 3)), ((10, 1), (100, 3)), "does not hold"),
        (((10, 8), (100, 9)), ((10, 1), (100, 3)), "cannot be judged"),
    ],
)
def test_of_reward_more_is_better(cheap, dear, answer):
    claim = CheaperAtEqual("", cheaper="cheap", dearer="dear", y="reward")
    found = claim.judge(table(cheap=costs(*cheap, y="reward"), dear=costs(*dear, y="reward")))
    assert found.answer == answer
    assert "-" not in found.evidence, "levels are shown as they were measured"


@pytest.mark.parametrize(
    ("one", "other", "falls", "answer"),
    [
        (along("x", (1, 9), (2, 8), (3, 7)), along("x", (1, 5), (2, 4)), True, "holds"),
        (along("x", (1, 9), (2, 8), (3, 7)), along("x", (1, 4), (2, 5)), True, "mixed"),
        (along("x", (1, 9), (2, 8), (3, 8.5)), along("x", (1, 4), (2, 5)), True, "does not hold"),
        (along("x", (1, 7), (2, 8), (3, 9)), along("x", (1, 4), (2, 5)), False, "holds"),
        (along("x", (3, 7), (1, 9), (2, 8)), along("x", (2, 4), (1, 5)), True, "holds"),
        (along("x", (1, 5), (2, 5)), along("x", (1, 5), (2, 5)), True, "does not hold"),
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
        Monotone("", ("one",), along="mesages").judge(table(one=costs((1, 2), (2, 1))))


@pytest.mark.parametrize(
    ("low", "middle", "high", "answer"),
    [
        ((1, 2), (3, 4), (5, 6), "holds"),
        ((1, 9), (3, 4), (5, 6), "mixed"),
        ((9, 9), (3, 4), (5, 6), "does not hold"),
        ((1, 1), (1, 1), (5, 6), "does not hold"),
        ((1, 2), (3, 4), (9,), "holds"),
        ((1, 2), (3, 4), (3.5,), "mixed"),
        ((1, 2, 99), (3, 4), (5, 6), "holds"),
        ((1, 2), (), (5, 6), "cannot be judged"),
        ((math.nan,), (2,), (3,), "cannot be judged"),
        ((1,), (2,), (3,), "holds"),
    ],
    ids=[
        "in order at every point",
        "in order at one point",
        "in order nowhere",
        "equal is not less",
        "one point stands for all",
        "one point stands for all, between",
        "a point that is not shared does not count",
        "a series without points",
        "not known",
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


@pytest.mark.parametrize(
    ("claim", "about"),
    [(CHEAPER, ("cheap", "dear")), (Monotone("", ("a",), "x"), ("a",)), (Ordered("", ("a", "b")), ("a", "b"))],
)
def test_a_claim_says_which_series_it_is_about(claim, about):
    assert claim.about() == about
