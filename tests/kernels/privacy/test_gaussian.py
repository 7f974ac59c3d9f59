"""How much noise a promise needs: the specification's figures, and those of a maintained accountant."""

import pytest

from fedbandit.kernels.privacy.gaussian import deviation_for, epsilon_for, failure

SIGMA = {
    (0.1, 1e-6): 36.304690426, (0.5, 1e-6): 8.057618481, (1, 1e-6): 4.224678889,
    (1, 1e-5): 3.730631635, (4, 1e-6): 1.193518587, (8, 1e-6): 0.652935384,
}  # fmt: skip


@pytest.mark.parametrize(("promise", "expected"), SIGMA.items())
def test_the_deviation_is_the_one_that_was_published(promise, expected):
    assert deviation_for(*promise) == pytest.approx(expected, abs=5e-10)


@pytest.mark.parametrize("promise", [*SIGMA, (50, 1e-6), (1e-3, 1e-6), (300, 1e-9)])
def test_a_maintained_accountant_agrees(promise):
    dp_accounting = pytest.importorskip("dp_accounting", reason="dp-accounting is in the extra `dev`")
    epsilon, delta = promise
    assert deviation_for(epsilon, delta) == pytest.approx(dp_accounting.get_sigma_gaussian(epsilon, delta), rel=1e-9)


@pytest.mark.parametrize("promise", [(1, 1e-6), (4, 1e-6)])
def test_the_accountant_of_privacy_loss_agrees_on_what_many_releases_tell_together(promise):
    dp_accounting = pytest.importorskip("dp_accounting", reason="dp-accounting is in the extra `dev`")
    from dp_accounting import pld

    epsilon, delta = promise
    accountant = pld.PLDAccountant()
    event = dp_accounting.GaussianDpEvent(2 * deviation_for(epsilon, delta))  # four of mu / 2 are one of mu
    accountant.compose(event, count=4)
    assert accountant.get_epsilon(delta) == pytest.approx(epsilon, rel=1e-3)


@pytest.mark.parametrize("promise", [*SIGMA, (50, 1e-6), (1e-3, 1e-6)])
def test_what_was_spent_is_what_was_promised(promise):
    epsilon, delta = promise
    assert epsilon_for(1 / deviation_for(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-9)
    assert failure(deviation_for(epsilon, delta), epsilon) == pytest.approx(delta, rel=1e-6)
