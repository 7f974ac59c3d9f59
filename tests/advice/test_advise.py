"""Advice from a log: what is tried, what is advised, and what is said of it."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.advice.advise import around, finals
from fedbandit.advice.checks import checks_of
from fedbandit.advice.families import families
from fedbandit.advice.model.fitted import Rows, fit
from fedbandit.advice.model.worlds import drawn_world, logged_world
from fedbandit.advice.thresholds import LOW
from fedbandit.advice.trials import Candidate, Tried, alone, pooled
from fedbandit.simulation.in_process import simulate
from samples.shop_logs import FEATURES, shop_files, shop_rows
from samples.small_logs import as_csv

BOTH_ENDS = ("local-linucb", "pooled-linucb")


def test_the_advised_setting_is_better_than_alone_and_within_the_budget(advice):
    assert advice.choice.helps
    assert advice.bytes_a_day(advice.point) <= advice.budget
    assert advice.point.gain > 0.8 * max(each.gain for each in advice.points if each.candidate.name not in BOTH_ENDS)


def test_its_regret_is_that_of_20_drawn_worlds_and_its_bytes_are_those_of_40(advice):
    rows = advice.log.rows
    model = fit(rows)
    runs = [
        simulate(advice.choice.candidate.algorithm, drawn_world(rows, model, k), len(rows.site))[0] for k in range(40)
    ]
    spent = [each.ledger.bytes for each in runs]
    assert advice.point.regret == pytest.approx(np.mean([each.regret.sum() for each in runs[:20]]))
    assert advice.point.bytes == pytest.approx(np.mean(spent))
    assert advice.bytes_band == pytest.approx(np.percentile(spent, [5, 95]))


class Dearer:
    """Worlds in which settings send more than in the first ones: 7 of the 8 are over a budget of 100 bytes."""

    def __init__(self, settings):
        self.bytes = {each: 101.0 if place < 7 else 60.0 for place, each in enumerate(settings)}

    def try_all(self, candidates, count):
        spent = np.array([[self.bytes.get(each, 0.0)] * count for each in candidates])
        return Tried(list(candidates), np.ones_like(spent), spent)


def test_where_the_best_few_are_over_the_budget_in_all_worlds_the_next_ones_are_tried():
    settings = [Candidate(each.name, each.setting, each.at(1.0)) for each in families(0.1, smallest_upload=10)]
    ends = alone(0.1), pooled(0.1)
    spent = np.array([[99.0]] * 8 + [[0.0]] * 2)
    first = Tried([*settings, *ends], np.arange(10.0)[:, np.newaxis], spent)
    assert finals(Dearer(settings), first, ends, spendable=100).candidates == [*settings, *ends]
    assert finals(Dearer(settings), first, ends, spendable=101).candidates == [*settings[:5], *ends]
    assert finals(Dearer(settings), first, ends, spendable=50).candidates == [*settings, *ends]  # none is


def test_all_families_are_tried_at_two_budgets_beside_both_ends(advice):
    names = [each.candidate.name for each in advice.screened]
    assert {"lean-linucb", "sync-linucb", "async-linucb", "local-linucb", "pooled-linucb"} == set(names)
    assert len({(each.candidate.name, each.candidate.setting) for each in advice.screened}) == 8 + 2
    assert len(advice.points) == 5 + 2
    assert {each.draws for each in advice.points} == {20}
    assert {each.draws for each in advice.screened} == {4}


def test_the_best_families_are_tried_at_other_thresholds_near_the_best_of_each():
    one, two, three, four, five, six, seven, _ = families(0.1, smallest_upload=10)
    places = {
        (one, 1.0): (9, 90), (one, 8.0): (8, 80), (two, 1.0): (2, 90), (two, 8.0): (3, 50), (three, 1.0): (4, 120),
        (three, 8.0): (5, 60), (four, 1.0): (1, 151), (five, 8.0): (2, 90), (six, 1.0): (7, 90), (seven, 1.0): (10, 1),
    }  # fmt: skip
    field = {Candidate(each.name, each.setting, each.at(at)): (each, at) for each, at in places}
    regret, spent = np.array(list(places.values()), dtype=float).T[:, :, np.newaxis]
    near = around(field, Tried(list(field), regret, spent), spendable=100)
    # `three` is over the budget, `four` by too much; `five` did the same as `two`
    around_these = [(two, 1.0), (three, 1.0), (six, 1.0), (one, 8.0), (seven, 1.0)]
    assert [each.algorithm for each in near] == [
        family.at(threshold * step)
        for family, threshold in around_these
        for step in ((1.33, 1.77) if family is three else (0.5, 0.75, 1.33))
    ]
    assert len(around(field, Tried(list(field), regret, spent), spendable=1e3)) == 5 * 3


def test_thresholds_are_fitted_to_about_the_budget_and_about_half_of_it(advice):
    spendable = min((advice.budget - advice.idle) * advice.log.days, advice.log.raw_bytes)
    for family in families(0.2, smallest_upload=10):
        tried = [
            each for each in advice.screened
            if (each.candidate.name, each.candidate.setting) == (family.name, family.setting)
        ]  # fmt: skip
        parts = [each.bytes / spendable for each in tried]
        if family.name == "sync-linucb":
            continue  # its bytes are those of whole synchronisations
        for low, high in ((0.4, 0.55), (0.8, 1.0)):  # else uploads are as many as their smallest size allows
            is_least = any(each.candidate.algorithm.upload_threshold == 1 + LOW for each in tried)
            assert any(low <= part <= high for part in parts) or (max(parts) < low and is_least), (family, parts)
    assert len(advice.screened) > 16 + len(BOTH_ENDS)  # and what is near the best of them


def test_the_noise_of_the_log_is_told_to_the_algorithms(advice):
    assert advice.algorithm.noise == pytest.approx(advice.checks.noise, rel=1e-3) == pytest.approx(0.2, rel=0.1)
    assert advice.algorithm.explore == 0.02
    assert advice.choice.candidate.algorithm.explore == 0


def test_a_budget_beyond_raw_data_buys_no_more_than_raw_data(shops):
    log, features = shops
    advice = fb.advise(log.take(np.arange(300)), features, budget="1 GB/day", algorithms=["async-linucb"])
    assert any("raw data would take" in note for note in advice.notes)
    raw = fb.run("pooled-linucb", fb.environment("linear", dimension=advice.log.dimension), turns=300)
    assert advice.log.raw_bytes == raw.bytes[-1]
    assert all(each.bytes <= raw.bytes[-1] for each in advice.points)


def test_sites_that_differ_are_told_by_the_feature(tmp_path):
    log, features = shop_files(tmp_path, differ=1.5)
    advice = fb.advise(fb.Log.read(log), fb.Features.read(features), budget="20 kB/day", algorithms=["async-linucb"])
    assert not advice.choice.helps
    assert advice.algorithm.id == "local-linucb"
    assert advice.sentence.startswith("Federation would not have helped")
    assert advice.checks.differing[0].name in ("price", "taste")
    assert any("differs between sites" in each and "`personal`" in each for each in advice.checks.findings)


@pytest.mark.slow
def test_personal_features_bring_their_algorithm(tmp_path):
    declared = tmp_path / "features.toml"
    declared.write_text(FEATURES + '[features]\npersonal = ["price"]\n')
    features = fb.Features.read(declared)
    log = fb.Log.read(as_csv(shop_rows(differ=1.0), tmp_path / "log.csv"))
    advice = fb.advise(log, features, budget="20 kB/day", algorithms=["async-linucb-am"])
    one = next(each.candidate.algorithm for each in advice.points if each.candidate.name == "async-linucb-am")
    assert one.global_dimension == features.global_dimension == features.dimension - 1
    assert one.alpha == pytest.approx(3 * advice.checks.noise, rel=1e-3)
    assert not any("`personal`" in each for each in advice.checks.findings if "'price'" in each)


@pytest.mark.slow
def test_rewards_that_change_with_time_are_simulated_so_and_warned_of(tmp_path):
    rows = shop_rows(count=3000)
    for row in rows[1500:]:
        row["reward"] = 1.0 - row["reward"]  # what was dear is cheap now
    (tmp_path / "features.toml").write_text(FEATURES)
    log = fb.Log.read(as_csv(rows, tmp_path / "log.csv"))
    advice = fb.advise(
        log, fb.Features.read(tmp_path / "features.toml"), budget="20 kB/day", algorithms=["async-linucb"]
    )
    assert advice.checks.changes
    assert "in doubt, see the warnings" in advice.sentence
    assert advice.warm_start_sentence.endswith("so what is old may be worth less than that")
    assert any(each.startswith("rewards change with time") for each in advice.checks.warnings)
    assert any(each.startswith("time: rewards change with it (F(") for each in advice.checks.findings)


@pytest.mark.slow
def test_bent_rewards_make_what_is_earned_doubtful(tmp_path):
    rows = shop_rows(count=3000, noise=0.05)
    for row in rows:
        price = next(arm["price"] for arm in row["arms"] if arm["id"] == row["choice"])
        row["reward"] = float(abs(price - 250) < 60)
    (tmp_path / "features.toml").write_text(FEATURES)
    log = fb.Log.read(as_csv(rows, tmp_path / "log.csv"))
    features = fb.Features.read(tmp_path / "features.toml")
    advice = fb.advise(log, features, budget="20 kB/day", algorithms=["async-linucb"])
    assert "in doubt, see the warnings" in advice.sentence
    assert any("not linear in these features" in each for each in advice.checks.warnings)


def test_a_direction_that_was_hardly_tried_is_warned_of(shops):
    log, features = shops
    small = np.random.default_rng(0).uniform(-0.02, 0.02, (len(log), 3, 1))
    rows = Rows(log.site, np.concatenate([log.encode(features), small], axis=2), log.choice, log.reward)
    warnings = checks_of(rows, fit(rows), None).warnings
    assert any("some direction of the features was hardly tried" in each for each in warnings)


def test_one_site_has_nobody_to_learn_with(shops):
    log, features = shops
    alone = log.take(np.flatnonzero(log.site == 0))
    with pytest.raises(
        fb.InvalidInput, match=f"all {len(alone)} rows of the log are of one site, 'shop 0': a federation"
    ):
        fb.advise(alone, features, budget="20 kB/day")


def test_a_log_without_times_cannot_tell_bytes_a_day():
    given = {"site": [0, 1], "arms": np.ones((2, 2, 1)), "choice": [0, 0], "reward": [1.0, 0.0]}
    with pytest.raises(fb.InvalidInput, match="the log has no times, so bytes a day cannot be told"):
        fb.advise(fb.Log.from_arrays(**given), budget="1 MB/day")
    with pytest.raises(fb.InvalidInput, match="all decisions of the log have one time"):
        fb.advise(fb.Log.from_arrays(**given, time=[5.0, 5.0]), budget="1 MB/day")


def test_features_whose_arms_share_a_context_are_refused(shops):
    shared = fb.Features(
        {"context": {"segment": {"kind": "category", "levels": ["new"]}}, "features": {"main": ["segment"]}}
    )
    with pytest.raises(fb.InvalidInput, match=r"features have no \[arm\]"):
        fb.advise(shops[0], shared, budget="1 MB/day")


def test_every_family_is_a_curve_with_fewer_bytes_at_larger_thresholds(advice):
    world = logged_world(advice.log.rows)
    assert families(0.2, smallest_upload=1)[0].at(0.0316).upload_threshold == 1.0316  # as people would write it
    for family in families(0.2, smallest_upload=10):
        spent = [simulate(family.at(each), world, len(world.whole))[0].ledger.bytes for each in (0.1, 1.0, 10.0)]
        assert spent == sorted(spent, reverse=True)
        assert spent[0] > spent[-1]
