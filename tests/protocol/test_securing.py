"""What a federation with secure aggregation agrees on, and what it refuses."""

from __future__ import annotations

import sys

import pytest

import fedbandit as fb
from contract.small_worlds import NEEDS_JAX
from fedbandit.core.algorithm import Setting
from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.agreement import charter_of
from fedbandit.protocol.changing import changed
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.securing import AGGREGABLE

pytest.importorskip("cryptography", reason="needs the extra for deployments: pip install '.[deploy]'")

SIZES = {"clients": 5, "arms": 2, "dimension": 3, "horizon": 1, "epoch_seconds": None, "features": None}


def agreed(algorithm="sync-linucb", **parameters):
    return charter_of(algorithm, {"secure_aggregation": True, **parameters}, **SIZES)


def test_the_charter_tells_it_and_a_site_without_it_has_another():
    secure, plain = agreed(), charter_of("sync-linucb", {}, **SIZES)
    assert secure.smallest_cohort == 3
    assert Charter.from_text(secure.text) == secure
    assert "smallest_cohort" not in plain.text
    assert plain.differences(secure.fingerprint) == ["other parameters"]
    assert agreed(smallest_cohort=4).fingerprint != secure.fingerprint
    assert charter_of("sync-linucb", {"secure_aggregation": False}, **SIZES) == plain


@pytest.mark.parametrize(
    ("algorithm", "parameters", "said"),
    [
        (
            "async-linucb",
            {},
            "fldb-ogd, fn-ucb-less and fedego-lasso, not for async-linucb: choose one of these, or leave it out",
        ),
        ("lean-linucb", {}, "not for lean-linucb"),
        ("teamwork-lasso", {}, "not for teamwork-lasso"),
        ("n-ucb-glm", {}, "not for n-ucb-glm"),
        ("sync-linucb", {"discount": 0.5}, "discount=0.5 ages what sites have sent, which secure_aggregation hides"),
        ("fn-ucb", {}, "not for fn-ucb"),
        pytest.param(
            "fn-ucb-less",
            {"weight": "theory"},
            "weight='theory' is the least of the sites' ratios, which masks do not",
            marks=NEEDS_JAX,
        ),
        ("sync-linucb", {"precision": "float32"}, "precision='float32' sends factors, which masks do not add up"),
        ("sync-linucb", {"smallest_cohort": 2}, "smallest_cohort must be a whole number of at least 3, not 2: with 2"),
        ("sync-linucb", {"smallest_cohort": True}, "smallest_cohort must be a whole number of at least 3, not True"),
        (
            "sync-linucb",
            {"smallest_cohort": "many"},
            "smallest_cohort must be a whole number of at least 3, not 'many'",
        ),
        ("sync-linucb", {"smallest_cohort": 6}, "smallest_cohort=6 with clients=5: no sum would ever be made"),
        ("sync-linucb", {"secure_aggregation": "yes"}, "secure_aggregation must be true or false, not 'yes'"),
        ("sync-linucb", {"secure_aggregation": False, "smallest_cohort": 3}, "smallest_cohort=3 does nothing without"),
    ],
)
def test_what_cannot_be_aggregated_is_refused_in_a_sentence(algorithm, parameters, said):
    with pytest.raises(InvalidInput) as refused:
        agreed(algorithm, **parameters).build()
    assert said in str(refused.value)


def test_every_other_algorithm_refuses_it():
    for name in fb.algorithms:
        if name not in AGGREGABLE:
            with pytest.raises(InvalidInput, match=f"not for {name}: choose one of these"):
                Charter.named(name, Setting(5, 4, 6, 10), smallest_cohort=3)


def test_a_threshold_may_change_and_nothing_that_is_under_masks():
    secure = agreed()
    assert changed(secure, {"sync_threshold": "3"}).charter.smallest_cohort == 3
    for values in ({"ridge": "2"}, {"dimension": "4"}, {"drop": "1"}, {"smallest_cohort": "4"}):
        with pytest.raises(InvalidInput, match="can change only as a new federation where sums are aggregated"):
            changed(secure, values)


def test_a_cohort_of_many_is_refused():
    with pytest.raises(InvalidInput, match="secure_aggregation is for one site, not for a cohort of 2"):
        agreed().build().clients.start(2)


def test_without_the_library_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(InvalidInput, match=r"needs the library cryptography: install fedbandit with its extra deploy"):
        agreed().build()
