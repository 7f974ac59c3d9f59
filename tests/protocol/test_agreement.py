"""Charters of federations with features."""

import pytest

import fedbandit as fb
from fedbandit.protocol.agreement import charter_of
from fedbandit.protocol.charter import Charter

PRICE = {"kind": "number", "range": [0, 500]}
ARMS = fb.Features({"arm": {"price": PRICE, "cost": PRICE}, "features": {"personal": ["cost"]}})
SHARED = fb.Features({"context": {"age": PRICE}, "features": {"arms": ["low", "high"]}})
SIZES = {"clients": 3, "arms": 1, "dimension": None, "horizon": 1, "epoch_seconds": None}


def test_the_dimension_and_the_arms_follow_from_features():
    charter = charter_of("async-linucb", {}, **SIZES, features=ARMS)
    assert charter.setting.dimension == ARMS.dimension == 3
    assert charter.features == ARMS.fingerprint
    assert charter_of("lasso-bandit", {}, **{**SIZES, "clients": 1}, features=SHARED).setting.arms == 2


def test_a_charter_with_features_is_read_from_its_text_and_one_without_says_nothing_of_them():
    charter = charter_of("async-linucb", {}, **SIZES, features=ARMS)
    assert Charter.from_text(charter.text) == charter
    without = charter_of("async-linucb", {}, **{**SIZES, "dimension": 3}, features=None)
    assert "features" not in without.text
    assert Charter.from_text(without.text) == without != charter
    with pytest.raises(fb.InvalidInput, match="belongs to another federation"):
        charter.require(without.text, "site.db")


def test_personal_features_are_told_to_the_algorithm_that_keeps_them_at_the_site():
    told = charter_of("async-linucb-am", {}, **SIZES, features=ARMS).algorithm
    assert told.global_dimension == ARMS.global_dimension == 2
    assert (
        charter_of("async-linucb-am", {"global_dimension": 1}, **SIZES, features=ARMS).algorithm.global_dimension == 1
    )


@pytest.mark.parametrize(
    ("algorithm", "features", "change", "reason"),
    [
        ("async-linucb", ARMS, {"dimension": 4}, "dimension=4, but the features have 3: leave dimension out"),
        ("async-linucb", None, {}, "dimension is missing: give the number of features of an arm, or features"),
        ("fldb-gd", ARMS, {}, "fldb-gd chooses two arms, which features are not for"),
        ("lasso-bandit", ARMS, {"clients": 1}, "lasso-bandit decides by one context that arms share, but these"),
        ("lasso-bandit", SHARED, {"clients": 1, "arms": 3}, "arms=3, but the features name 2 arms: leave arms out"),
        ("async-linucb", SHARED, {}, "async-linucb compares arms by their features, but there is no"),
    ],
)
def test_what_does_not_fit_is_refused(algorithm, features, change, reason):
    with pytest.raises(fb.InvalidInput, match=reason):
        charter_of(algorithm, {}, **{**SIZES, **change}, features=features)
