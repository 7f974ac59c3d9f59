"""Evaluation at many sites: sums that each tells of its own rows add up to the same estimates."""

import json

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.evaluation.estimates import estimates_of
from fedbandit.evaluation.federated import SiteSums, merged, site_sums
from fedbandit.evaluation.sums import Sums, sums_of, total
from fedbandit.evaluation.terms import Terms


@pytest.fixture(scope="module")
def policy():
    with fb.Site("local-linucb", dimension=2, explore=0.5, seed=1, fresh=1) as site:
        rng = np.random.default_rng(0)
        for x in rng.uniform(-1, 1, (50, 3, 2)):
            decision = site.choose(x)
            site.learn(decision, float(x[decision.arm] @ [0.5, -0.2]))
        return site.policy()


def log_of(site, rows, seed=0):
    rng = np.random.default_rng([seed, site])
    arms, choice = rng.uniform(-1, 1, (rows, 3, 2)), rng.integers(3, size=rows)
    reward = arms[np.arange(rows), choice] @ [0.5, -0.2] + 0.1 * rng.standard_normal(rows)
    return fb.Log.from_arrays(
        site=np.full(rows, site), arms=arms, choice=choice, reward=reward, propensity=np.full(rows, 1 / 3)
    )


def literal(terms):
    """The estimates by the terms of all rows, without sums."""
    w, r, d = terms.weight, terms.reward, terms.doubly_robust
    snips = (w * r).sum() / w.sum()
    return {
        "ips": (w * r).mean(), "ips_error": (w * r).std(ddof=1) / np.sqrt(len(r)), "snips": snips,
        "snips_error": np.sqrt((w**2 * (r - snips) ** 2).sum()) / w.sum(), "dm": terms.model.mean(), "dr": d.mean(),
        "dr_error": d.std(ddof=1) / np.sqrt(len(r)), "effective": w.sum() ** 2 / (w**2).sum(),
        "mean_weight": w.mean(), "mean_weight_error": w.std(ddof=1) / np.sqrt(len(r)), "largest_weight": w.max(),
        "matched": (w > 0).mean(), "logged": r.mean(),
    }  # fmt: skip


def test_sums_of_parts_give_the_estimates_of_the_whole():
    rng = np.random.default_rng(0)
    weight = rng.exponential(size=300) * (rng.random(300) < 0.7)
    terms = Terms(weight, rng.normal(2, 1, 300), rng.normal(2, 0.1, 300), rng.normal(2, 1, 300))
    parts = [sums_of(terms.take(np.arange(300) % 3 == part)) for part in range(3)]
    found = estimates_of(total(parts))
    for name, wanted in literal(terms).items():
        assert getattr(found, name) == pytest.approx(wanted, rel=1e-9), name
    assert found.rows == 300


def test_merged_sums_are_the_mean_over_the_rows_of_all_sites(policy):
    told = [site_sums(log_of(site, rows), policy) for site, rows in ((0, 200), (1, 300), (2, 120))]
    found = merged(told)
    assert found.rows == 620
    alone = [fb.evaluate(log_of(site, rows), policy, anyway=True) for site, rows in ((0, 200), (1, 300), (2, 120))]
    assert found.dr == pytest.approx(np.average([each.dr for each in alone], weights=[200, 300, 120]))
    assert found.largest_weight == max(each.largest_weight for each in alone)
    assert [each.dr for each in found.by_site.values()] == pytest.approx([each.dr for each in alone])
    assert list(found.by_site) == ["0", "1", "2"]


def test_what_is_told_is_thirteen_sums_and_a_maximum_and_no_row(policy, tmp_path):
    told = site_sums(log_of(3, 100), policy)
    path = tmp_path / "site-3.json"
    path.write_text(told.text)
    assert SiteSums.read(path) == told
    said = json.loads(told.text)
    assert set(said) == {"kind", "sites", "policy", "sums"}
    assert len(said["sums"]) == 13 + 1
    assert said["sites"] == ["3"]


def test_a_site_with_few_rows_tells_nothing(policy):
    with pytest.raises(fb.InvalidInput, match="the log has 19 rows for this policy, and sums over fewer than 20"):
        site_sums(log_of(0, 19), policy)
    assert site_sums(log_of(0, 20), policy).sums.rows == 20


def test_an_answer_is_repeated_until_there_are_twenty_rows_more(policy):
    first = site_sums(log_of(0, 100), policy)
    assert site_sums(log_of(0, 119), policy, last=first) == first
    again = site_sums(log_of(0, 120), policy, last=first)
    assert again.sums.rows == 120
    with fb.Site("local-linucb", dimension=2, explore=0.2, fresh=1) as site:
        other = site.policy()
    assert site_sums(log_of(0, 101), other, last=first).sums.rows == 101  # nothing was told of it


def test_few_effective_rows_are_judged_when_all_are_together(policy):
    told = [site_sums(log_of(site, 30), policy) for site in range(2)]
    with pytest.raises(fb.InvalidInput, match="effective rows"):
        merged(told)
    assert merged(told, anyway=True).rows == 60
    assert merged([site_sums(log_of(site, 30), policy) for site in range(12)]).rows == 360


def test_sums_that_do_not_belong_together_are_refused(policy):
    one = site_sums(log_of(0, 100), policy)
    with pytest.raises(fb.InvalidInput, match="the sums of 0 are there twice"):
        merged([one, one])
    with pytest.raises(fb.InvalidInput, match="different policies"):
        merged([one, SiteSums(("1",), "another", Sums(rows=20))])


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"kind": "fedbandit sums of an evaluation", "policy": "a", "sites": [], "sums": {"rows": 3}}'],
)
def test_a_file_without_sums_is_refused(tmp_path, text):
    path = tmp_path / "site.json"
    path.write_text(text)
    with pytest.raises(
        fb.InvalidInput, match=r"site\.json has no sums of an evaluation: give a file of evaluate --sums"
    ):
        SiteSums.read(path)


def test_sums_over_few_rows_are_refused_where_they_arrive(tmp_path):
    path = tmp_path / "site.json"
    path.write_text(SiteSums(("1",), "a", Sums(rows=5)).text)
    with pytest.raises(fb.InvalidInput, match="has sums over 5 rows, at least 20 are told"):
        SiteSums.read(path)
    with pytest.raises(fb.InvalidInput, match="cannot read"):
        SiteSums.read(tmp_path / "none.json")


def test_an_algorithm_that_learns_is_sent_to_advice():
    for policy in ("lean-linucb", fb.algorithm("lean-linucb")):
        with pytest.raises(fb.InvalidInput, match=r"policy is lean-linucb, an algorithm, which learns.*use fb.advise"):
            fb.evaluate(log_of(0, 100), policy)
