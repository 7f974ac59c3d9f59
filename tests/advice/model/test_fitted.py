"""The fitted model against its literal version: all rows, and all parameters of all sites in one Gaussian."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import f as f_distribution

import fedbandit as fb
from fedbandit.advice.model.difference import difference_of
from fedbandit.advice.model.effects import MOST_STEPS, Scales, improved, posterior_of, scales_of
from fedbandit.advice.model.fitted import LIKELY, Rows, fit
from fedbandit.advice.model.sums import sums_of

VECTORS = Path(__file__).parents[2] / "vectors"


def small_log():
    given = np.load(VECTORS / "small-log.npz")
    return Rows(given["site"].astype(np.int64), given["x"], given["choice"].astype(np.int64), given["reward"])


def made(seed=0, sites=4, count=300, dimension=3, between=(0.0, 0.3, 0.0), noise=0.2):
    """Rows whose sites differ in the second coordinate."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=dimension) + rng.normal(size=(sites, dimension)) * np.array(between)
    site, vectors = rng.integers(sites, size=count), rng.normal(size=(count, 2, dimension)) / 2
    choice = rng.integers(2, size=count)
    mean = (vectors[np.arange(count), choice] * theta[site]).sum(axis=1)
    return Rows(site, vectors, choice, mean + noise * rng.standard_normal(count))


def literal_f(rows):
    """Fit by least squares on rows: one model for all, then one for each site."""
    design = np.column_stack([np.ones(len(rows.reward)), rows.chosen])

    def residual(some):
        theta, *_ = np.linalg.lstsq(design[some], rows.reward[some], rcond=None)
        return ((rows.reward[some] - design[some] @ theta) ** 2).sum(), np.linalg.matrix_rank(design[some])

    shared, rank = residual(np.ones(len(rows.reward), bool))
    own, ranks = np.sum([residual(rows.site == each) for each in range(rows.sites)], axis=0)
    freedom = ranks - rank, len(rows.reward) - ranks
    f = (shared - own) / freedom[0] / (own / freedom[1])
    return f, freedom, f_distribution.sf(f, *freedom)


def literal_posterior(rows, scales):
    """Regress on one parameter for all and one more for each site, in one design with a Gaussian prior."""
    dimension = rows.vectors.shape[2]
    size = dimension * (rows.sites + 1)
    design = np.zeros((len(rows.reward), size))
    for t, x in enumerate(rows.chosen):
        own = dimension * (rows.site[t] + 1)
        design[t, :dimension] = design[t, own : own + dimension] = x
    prior = np.diag(np.concatenate([np.full(dimension, scales.prior), np.tile(scales.between, rows.sites)]))
    gain = prior @ design.T @ np.linalg.inv(design @ prior @ design.T + scales.noise * np.eye(len(rows.reward)))
    return gain @ rows.reward, prior - gain @ design @ prior, design


def literal_step(rows, scales):
    """Improve the scales by the expected squares of what the literal posterior says."""
    mean, variance, design = literal_posterior(rows, scales)
    squares = (mean**2 + np.diag(variance)).reshape(rows.sites + 1, -1)
    missed = (rows.reward - design @ mean) ** 2 + np.einsum("ti,ij,tj->t", design, variance, design)
    return squares[1:].mean(axis=0), missed.mean()


def sums(rows):
    return sums_of(rows.site, rows.chosen, rows.reward, rows.sites)


def test_the_f_test_of_the_specification():
    rows = small_log()
    wanted = json.loads((VECTORS / "small-log.json").read_text(encoding="utf-8"))
    found = fit(rows).difference
    assert found.f == pytest.approx(0.7217646291252431, rel=1e-9)
    assert found.f == pytest.approx(wanted["heterogeneity_F"], rel=1e-9)
    assert list(found.freedom) == wanted["degrees"] == [12, 382]
    assert found.p == pytest.approx(literal_f(rows)[2])


@pytest.mark.parametrize("seed", range(3))
def test_the_f_test_is_that_of_least_squares_on_rows(seed):
    rows = made(seed)
    rows.vectors[:, :, 2] = 0.5  # a constant, beside the one that the test adds
    rows.vectors[rows.site == 1, :, 1] = 0.0  # a site that never tried a coordinate
    found = fit(rows).difference
    f, freedom, p = literal_f(rows)
    assert found.freedom == tuple(freedom)
    assert (found.f, found.p) == pytest.approx((f, p), rel=1e-8)


def test_too_few_rows_to_tell_sites_apart_are_said_to_be_alike():
    found = difference_of(sums(made(sites=4, count=6)))
    assert not found.is_known
    assert found.p == 1.0


def test_one_site_does_not_differ_from_itself():
    found = fit(made(sites=1))
    assert not found.difference.is_known
    assert not found.differs


def test_alike_sites_share_one_parameter():
    rows = made(between=(0.0, 0.0, 0.0))
    found = fit(rows)
    design = rows.chosen
    theta, *_ = np.linalg.lstsq(design, rows.reward, rcond=None)
    noise = ((rows.reward - design @ theta) ** 2).sum() / (len(design) - 3)
    assert found.noise**2 == pytest.approx(noise)
    precision = design.T @ design / noise + 3 / (theta @ theta) * np.eye(3)
    assert np.linalg.inv(found.posterior.middle_variance) == pytest.approx(precision)
    assert found.posterior.middle == pytest.approx(np.linalg.solve(precision, design.T @ rows.reward / noise))
    assert (found.posterior.expected() == found.posterior.middle).all()
    assert (found.draw(np.random.default_rng(0)) == found.draw(np.random.default_rng(0))[0]).all()


@pytest.mark.parametrize("between", [(0.0, 0.1, 0.0), (0.04, 0.1, 0.02)])
def test_the_posterior_is_that_of_one_gaussian_over_all_parameters(between):
    rows = made()
    scales = Scales(np.array(between), noise=0.05, prior=0.7)
    found = posterior_of(sums(rows), scales)
    mean, variance, _ = literal_posterior(rows, scales)
    assert found.middle == pytest.approx(mean[:3])
    assert found.middle_variance == pytest.approx(variance[:3, :3])
    assert found.effects(found.middle).ravel() == pytest.approx(mean[3:])
    to_sites = np.hstack([np.tile(np.eye(3), (4, 1)), np.eye(12)])
    assert found.expected().ravel() == pytest.approx(to_sites @ mean)
    origin = found.draw(np.zeros((5, 3)))
    assert origin == pytest.approx(found.expected())
    along = [(found.draw(each.reshape(5, 3)) - origin).ravel() for each in np.eye(15)]  # a draw is linear in its lots
    assert np.transpose(along) @ along == pytest.approx(to_sites @ variance @ to_sites.T, abs=1e-12)


def test_the_scales_are_improved_as_by_the_literal_posterior():
    rows = made()
    scales = Scales(np.array([0.04, 0.1, 0.02]), noise=0.05, prior=0.7)
    for _ in range(3):
        found = improved(sums(rows), scales)
        between, noise = literal_step(rows, scales)
        assert found.between == pytest.approx(between)
        assert found.noise == pytest.approx(noise)
        scales = found


def test_the_scales_are_where_steps_lead_and_small_ones_are_none():
    rows = made(sites=12, count=3000)
    start = Scales(np.full(3, 0.5), 0.1, 0.7)
    found, steps = scales_of(sums(rows), start), start
    for _ in range(MOST_STEPS):
        steps = improved(sums(rows), steps)
    assert found.between[2] == 0 < steps.between[2]
    assert found.between[1] == pytest.approx(steps.between[1], rel=1e-3)
    assert np.sqrt(found.between[1]) == pytest.approx(0.3, rel=0.5)
    assert np.sqrt(found.noise) == pytest.approx(0.2, rel=0.1)


def test_sites_that_differ_have_parameters_of_their_own():
    found = fit(made(sites=12, count=3000))
    assert found.difference.p < 1e-9
    assert found.differs
    drawn = found.draw(np.random.default_rng(0))
    assert np.ptp(drawn[:, 2]) < 1e-12 < np.ptp(drawn[:, 1])


def test_parts_of_the_time_that_differ_have_parameters_of_their_own():
    rows = made(between=(0.0, 0.0, 0.0), count=1200)
    changed = Rows(rows.site, rows.vectors, rows.choice, np.where(np.arange(1200) < 600, 1, -1) * rows.reward)
    found = fit(changed)
    assert found.change.p < 1e-9
    assert found.change.p <= LIKELY
    assert not found.differs
    assert (found.group == np.arange(1200) // 120).all()
    theta = found.posterior.expected()
    assert theta[:5] == pytest.approx(-theta[5:], abs=0.3)
    assert found.predicted(changed) == pytest.approx((changed.chosen * theta[found.group]).sum(axis=1))
    assert fit(changed, may_change=False).change.p > LIKELY


def test_where_sites_and_times_differ_each_site_has_parameters_of_each_part():
    rows = made(sites=3, count=3000, between=(0.0, 1.0, 0.0))
    changed = Rows(rows.site, rows.vectors, rows.choice, np.where(np.arange(3000) < 2400, 1, -1) * rows.reward)
    found = fit(changed)
    assert found.differs
    assert found.change.p <= LIKELY
    assert len(found.posterior.expected()) == 3 * 10
    pairs = np.unique(np.column_stack([rows.site, np.arange(3000) // 300, found.group]), axis=0)
    assert len(pairs) == 30


def test_the_change_is_the_f_test_between_tenths_of_the_rows():
    rows = made(count=1000)
    by_time = Rows(np.arange(1000) // 100, rows.vectors, rows.choice, rows.reward)
    f, freedom, p = literal_f(by_time)
    found = fit(rows).change
    assert (found.f, found.p) == pytest.approx((f, p), rel=1e-8)
    assert found.freedom == tuple(freedom)


@pytest.mark.parametrize("count", [20, 30])
def test_too_few_rows_tell_nothing_of_changes(count):
    assert not fit(made(count=count)).change.is_known


@pytest.mark.parametrize(
    ("rewards", "sentence"), [(np.zeros(300), "the rewards of the log are all alike"), (None, "the log has 3 rows")]
)
def test_what_no_model_can_be_fitted_to_is_refused(rewards, sentence):
    rows = made(count=300 if rewards is not None else 3)
    with pytest.raises(fb.InvalidInput, match=sentence):
        fit(rows if rewards is None else Rows(rows.site, rows.vectors, rows.choice, rewards))
