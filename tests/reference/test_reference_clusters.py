"""The transcription of Clustered-LinUCB keeps the invariants of its specification."""

import numpy as np
import pytest
from scipy.special import gammainccinv

from reference.clusters import clustered_linucb, grouped_turns, limit_of, statistic
from reference.linear import async_linucb
from reference.linear_ends import local_linucb

SIZES = {"turns": 300, "clients": 6, "arms": 5, "dimension": 3}


@pytest.fixture
def world():
    return grouped_turns(seed=2, groups=2, skew=0.5, **SIZES)


def test_nothing_is_lost_and_nothing_counts_twice(world):
    run = clustered_linucb(world)
    np.testing.assert_allclose(run["S"] + run["dV"], run["O"], atol=1e-10)
    np.testing.assert_allclose(run["s"] + run["db"], run["o"], atol=1e-10)
    np.testing.assert_allclose(run["V"] - run["dV"], run["C"], atol=1e-10)
    turns = np.arange(len(run["arm"]))
    chosen = world["arms"][turns, run["arm"]]
    np.testing.assert_allclose(run["O"].sum(axis=0), chosen.T @ chosen, atol=1e-10)


def test_after_each_upload_copies_are_of_peers_and_hold_no_more_than_those_have_told(world):
    seen = []

    def look(now):
        peers = [{k for k in range(6) if now["uploads"][k] and not now["apart"][j, k]} for j in range(6)]
        for j in range(6):
            assert now["holds"][j] <= peers[j]
            assert (j in peers[j]) == (now["uploads"][j] > 0)
            total = sum((now["told_v"][k] for k in peers[j]), np.zeros((3, 3)))
            assert np.linalg.eigvalsh(total - now["copy_v"][j]).min() > -1e-9
        assert (now["apart"] == now["apart"].T).all()
        seen.append(now["apart"].sum())

    clustered_linucb(world, look=look)
    assert max(seen) > 0, "somebody is told apart in this world"


def test_nobody_told_apart_and_every_turn_uploaded_is_async(world):
    for download in (1.0, 2.0, 30.0):
        thresholds = {"upload_threshold": 1.0, "download_threshold": download}
        ours, other = clustered_linucb(world, test_level=0, **thresholds), async_linucb(world, **thresholds)
        for name in ("arm", "messages", "scalars"):
            assert ours[name].tolist() == other[name].tolist()


def test_with_either_threshold_infinite_clients_are_alone(world):
    alone = local_linucb(world)["arm"].tolist()
    for thresholds in ({"upload_threshold": np.inf}, {"download_threshold": np.inf}):
        assert clustered_linucb(world, **thresholds)["arm"].tolist() == alone


def test_the_limit_is_that_of_the_specification():
    quantile = 2 * gammainccinv(10 / 2, 0.1 / 39)
    assert limit_of(0.1, 40, 10, 0.1, 0.5) == pytest.approx((0.5 * np.sqrt(quantile) + np.sqrt(1e-4)) ** 2)
    assert limit_of(0, 40, 10, 0.1, 0.5) == limit_of(0.1, 1, 10, 0.1, 0.5) == np.inf


def test_data_without_a_common_direction_say_nothing_against_each_other():
    rng = np.random.default_rng(0)
    first, second = np.zeros((2, 4, 4))
    first[:2, :2], second[2:, 2:] = np.diag([3.0, 9.0]), np.diag([5.0, 70.0])
    for _ in range(50):
        one, other = first @ rng.standard_normal(4), second @ rng.standard_normal(4)
        theta = [np.linalg.solve(gram + 1e-4 * np.eye(4), moment) for gram, moment in ((first, one), (second, other))]
        bound = 1e-4 * sum(each @ each for each in theta)
        assert statistic((first, one), (second, other), ridge=0.1) <= bound * (1 + 1e-9)
