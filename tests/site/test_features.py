"""Sites that are handed values and make vectors of them."""

import numpy as np
import pytest

import fedbandit as fb

FEATURES = fb.Features(
    {
        "context": {"segment": {"kind": "category", "levels": ["new", "gold"]}},
        "arm": {"price": {"kind": "number", "range": [0, 500]}, "sku": {"kind": "hashed", "size": 4}},
        "cross": {"taste": {"of": ["segment", "price"]}},
    }
)
OTHER = fb.Features({"arm": {"price": {"kind": "number", "range": [0, 100]}}})
SHARED = fb.Features({"context": {"age": {"kind": "number", "range": [0, 99]}}, "features": {"arms": ["low", "high"]}})


def offers(count, seed=0):
    """Contexts and arms, of which there are now more and now fewer."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        arms = [{"price": float(rng.uniform(0, 600)), "sku": f"A-{rng.integers(9)}"} for _ in range(rng.integers(1, 6))]
        yield {"segment": str(rng.choice(["new", "gold", "silver"]))}, arms


def test_a_site_with_features_decides_as_one_that_is_handed_their_vectors():
    by_values = fb.Site("async-linucb", features=FEATURES)
    by_vectors = fb.Site("async-linucb", dimension=FEATURES.dimension)
    for context, arms in offers(40):
        ids = [arm["sku"] for arm in arms]
        decision = by_values.choose(context=context, arms=arms, ids=ids)
        expected = by_vectors.choose(FEATURES.encode(context, arms), ids=ids)
        assert (decision.arm, decision.propensity) == (expected.arm, expected.propensity)
        by_values.learn(decision, 0.5)
        by_vectors.learn(expected, 0.5)


def test_arms_that_share_a_context_are_known_by_their_declared_names():
    site = fb.Site("lasso-bandit", features=SHARED, horizon=100)
    assert site.choose(context={"age": 40}).arm in ("low", "high")
    assert site.choose(context={"age": 40}, ids=["a", "b"]).arm in ("a", "b")


@pytest.mark.parametrize(
    ("context", "arms", "ids", "reason"),
    [
        ({"segment": "new"}, [{"sku": "A"}], None, r"arms\[0\]: price is missing"),
        ({"segment": "new"}, [{"price": 1}], ["a", "b"], "ids has 2 entries for 1 arms"),
        ({"segment": "new"}, None, None, "arms were not given"),
        (None, np.ones((2, 9)), None, "arms must be a list of at least one table"),
    ],
)
def test_bad_values_are_refused_and_no_decision_is_made(context, arms, ids, reason):
    site = fb.Site("async-linucb", features=FEATURES)
    with pytest.raises(fb.InvalidInput, match=reason):
        site.choose(arms, ids, context=context)
    assert site.pending == 0


def test_limits_that_vectors_of_features_may_exceed_are_refused():
    with pytest.raises(fb.InvalidInput, match=r"limits\['context'\] is 0.5, but vectors of features have lengths"):
        fb.Site("async-linucb", features=FEATURES, limits={"context": 0.5})


def test_a_site_without_features_takes_no_context():
    with pytest.raises(fb.InvalidInput, match="context is for sites with features"):
        fb.Site("async-linucb", dimension=2).choose([[1.0, 0.0]], context={"segment": "new"})


def test_a_store_is_opened_with_the_features_that_it_was_made_with(tmp_path):
    with fb.Site("async-linucb", features=FEATURES, store=tmp_path / "site.db") as site:
        for context, arms in offers(5):
            site.learn(site.choose(arms, context=context), 1.0)
    for change in ({"features": OTHER}, {"dimension": FEATURES.dimension}):
        with pytest.raises(fb.InvalidInput, match="belongs to another federation"):
            fb.Site("async-linucb", store=tmp_path / "site.db", **change)
    with fb.Site("async-linucb", features=FEATURES, store=tmp_path / "site.db") as again:
        assert again.pending == 0


def test_a_policy_of_a_site_with_features_decides_by_their_vectors():
    site = fb.Site("async-linucb", features=FEATURES)
    policy = fb.Policy.from_bytes(site.policy().to_bytes())
    context, arms = next(offers(1))
    assert policy.choose(FEATURES.encode(context, arms)) == site.choose(arms, context=context).arm
    assert policy.charter.features == FEATURES.fingerprint
