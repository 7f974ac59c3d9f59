"""Drift of rewards and of values, found in what a site decides and in its log."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import fedbandit as fb
from fedbandit.cli.main import app, main
from fedbandit.logs.drift import Calibration, Cusum
from fedbandit.logs.shares import Shares
from fedbandit.logs.watching import Watch, watched

FEATURES = {
    "context": {"segment": {"kind": "category", "levels": ["new", "gold"]}},
    "arm": {"price": {"kind": "number", "range": [0, 500]}},
    "cross": {"taste": {"of": ["segment", "price"]}},
}


def literal(errors):
    """The sums as they are written, and the first row at which one passes 50."""
    scale = np.std(errors[:500], ddof=1)
    up = down = 0.0
    for row, error in enumerate(errors[500:], start=500):
        up, down = max(0.0, up + error / scale - 0.1), max(0.0, down - error / scale - 0.1)
        if max(up, down) >= 50:
            return row, "higher" if up >= 50 else "lower"
    return None


@pytest.mark.parametrize("shift", [-0.4, -0.2, 0.2, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_an_alarm_comes_where_the_literal_sums_pass_fifty(shift, seed):
    rng = np.random.default_rng([seed, 7])
    errors = 3.0 * rng.standard_normal(6000)
    errors[2000:] += 3.0 * shift
    cusum = Cusum()
    found = next((row, way) for row, error in enumerate(errors) if (way := cusum.add(float(error))))
    assert found == literal(errors)
    assert found[1] == ("higher" if shift > 0 else "lower")
    assert 2000 < found[0] < 2000 + 260 / abs(shift)  # about 50 / (shift - 0.1) rows


def test_without_a_shift_there_is_no_alarm():
    rng = np.random.default_rng(5)
    cusum = Cusum()
    assert not any(cusum.add(float(error)) for error in rng.standard_normal(50_000))


def test_a_drift_that_lasts_is_told_again_but_not_at_once():
    cusum, errors = Cusum(), np.resize([1.0, -1.0], 500).tolist() + [2.0] * 2000
    rows = [row for row, error in enumerate(errors) if cusum.add(error)]
    assert np.diff(rows).tolist() == [500 + rows[0] - 499] * (len(rows) - 1)
    assert len(rows) == 4


def test_errors_that_never_vary_raise_nothing_until_they_do():
    cusum = Cusum()
    assert not any(cusum.add(0.0) for _ in range(2000))
    assert any(cusum.add(1.0) for _ in range(60))


def test_groups_are_those_of_the_first_predictions():
    rng = np.random.default_rng(2)
    predicted, calibration = rng.random(3000), Calibration()
    reward = predicted + 0.1 * rng.standard_normal(3000)
    for each, earned in zip(predicted[:499], reward[:499], strict=True):
        calibration.add(float(each), float(earned))
    assert calibration.groups() == []
    for each, earned in zip(predicted[499:], reward[499:], strict=True):
        calibration.add(float(each), float(earned))
    place = np.searchsorted(np.quantile(predicted[:500], np.arange(1, 10) / 10), predicted, side="right")
    for number, group in enumerate(calibration.groups()):
        own = place == number
        assert group.rows == own.sum()
        expected = (predicted[own].mean(), reward[own].mean(), reward[own].std(ddof=1) / np.sqrt(own.sum()))
        assert group[1:] == pytest.approx(expected, rel=1e-9)


def decide(site, rng, turns, mean, price=(0, 500)):
    for _ in range(turns):
        arms = [{"price": float(rng.uniform(*price))} for _ in range(3)]
        decision = site.choose(arms, context={"segment": "gold"})
        site.learn(decision, mean + 0.2 * float(rng.standard_normal()))


def test_a_change_of_the_world_is_found_in_the_log_of_a_site_that_learns(tmp_path):
    rng = np.random.default_rng(4)
    site = fb.Site("async-linucb", features=fb.Features(FEATURES), log=tmp_path, explore=0.1)
    decide(site, rng, 1500, mean=0.5)
    quiet, alarms = watched(tmp_path, fb.Features(FEATURES))
    assert (alarms, quiet.alarms) == ([], {})
    assert quiet.mean_reward == pytest.approx(0.5, abs=0.03)
    assert quiet.mean_predicted == pytest.approx(0.5, abs=0.05)
    assert quiet.explored == pytest.approx(0.067, abs=0.03)  # a third of the uniform choices is the model's own
    decide(site, rng, 700, mean=0.2)
    found, alarms = watched(tmp_path)
    assert found.alarms == {"rewards": len(alarms)}
    assert alarms[0].startswith("rewards have been lower than predicted for some time (at row ")


def test_values_that_were_not_declared_are_found_by_feature(tmp_path):
    rng = np.random.default_rng(4)
    site = fb.Site("async-linucb", features=fb.Features(FEATURES), log=tmp_path)
    decide(site, rng, 700, mean=0.5, price=(-5, 500))
    decide(site, rng, 600, mean=0.5, price=(-5, 600))
    found, alarms = watched(tmp_path, fb.Features(FEATURES))
    assert found.alarms == {"values": 1}
    assert len(alarms) == 1
    assert "of the values of price are clipped, unknown or missing" in alarms[0]
    (share,) = found.shares.found()
    assert (share.feature, share.is_alarming) == ("price", True)
    assert share.at_first == pytest.approx(0.01, abs=0.01)
    assert share.now == pytest.approx(1 / 6, abs=0.05)
    one, other, size = share.at_first, share.now, 1500  # three arms a decision
    pooled = (one + other) / 2
    assert share.z == pytest.approx((other - one) / np.sqrt(pooled * (1 - pooled) * 2 / size))


def test_a_context_is_counted_once_a_decision():
    features = fb.Features(FEATURES)
    shares = Shares(features)
    for turn in range(1000):
        features.encode({"segment": "silver" if turn % 2 else "gold"}, [{"price": 1}, {"price": 2}])
        shares.chose(2)
    (share,) = shares.found()
    assert share == ("segment", 0.5, 0.5, 0.0)


def test_what_was_not_predicted_is_not_compared():
    watch = Watch()
    assert watch.learnt(None, 1.0) == ()
    assert (watch.rows, np.isnan(watch.mean_reward), np.isnan(watch.explored)) == (0, True, True)


def test_the_command_shows_groups_and_exits_with_1_after_an_alarm(tmp_path):
    rng = np.random.default_rng(4)
    site = fb.Site("async-linucb", features=fb.Features(FEATURES), log=tmp_path / "decisions")
    decide(site, rng, 700, mean=0.5)
    (tmp_path / "features.toml").write_text(fb.Features(FEATURES).toml)
    command = ["watch", str(tmp_path / "decisions"), "--features", str(tmp_path / "features.toml")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    decide(site, rng, 700, mean=-0.5)
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert "rewards have been lower than predicted" in result.stdout


@pytest.mark.parametrize("what", ["no folder", "vectors"])
def test_what_cannot_be_watched_is_refused_in_one_sentence(tmp_path, monkeypatch, capsys, what):
    folder = tmp_path / "decisions"
    if what == "vectors":
        site = fb.Site("async-linucb", dimension=2, log=folder)
        site.learn(site.choose(np.eye(2)), 1.0)
    (tmp_path / "features.toml").write_text(fb.Features(FEATURES).toml)
    monkeypatch.setattr("sys.argv", ["fedbandit", "watch", str(folder), "--features", str(tmp_path / "features.toml")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    words = {"no folder": "is no folder: give the folder of", "vectors": "row 1 has vectors, of which features know"}
    assert words[what] in capsys.readouterr().err
