"""Worlds made of labelled rows: turns, passes, noise; Warfarin and Medical MNIST on made-up and official files."""

import os
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

import fedbandit as fb
from fedbandit.datasets.files import examples
from fedbandit.environments.labelled import Labelled, LabelledRows

ROWS = np.arange(14.0).reshape(7, 2) + 1.0
LABELS = np.array([0, 1, 2, 0, 1, 2, 0])


@dataclass(frozen=True)
class Dense(Labelled):
    def rows(self):
        return LabelledRows(ROWS, LABELS, 3)


@dataclass(frozen=True)
class Mostly(Labelled):
    def rows(self):
        return LabelledRows(sparse.csr_array(ROWS), LABELS, 3)


def whole(world, count, seed=0):
    return next(world.turns(count, seed, block=count))


def test_the_right_arm_pays_one_and_the_clients_take_turns():
    block = whole(Dense(clients=3, noise=0.0), 6)
    assert block.client.tolist() == [0, 1, 2, 0, 1, 2]
    shown = ((block.features[:, 0] - 1) / 2).astype(int)
    assert block.outcomes.mean.argmax(axis=1).tolist() == LABELS[shown].tolist()
    assert (block.outcomes.mean.sum(axis=1) == 1).all()
    assert np.array_equal(block.outcomes.payoff, block.outcomes.mean)


def test_every_row_comes_once_before_any_comes_again():
    shown = whole(Dense(clients=1), 21).features[:, 0].reshape(3, 7)
    assert (np.sort(shown, axis=1) == np.sort(ROWS[:, 0])).all()
    assert not np.array_equal(shown[0], shown[1])


def test_the_natural_length_shows_whole_rounds_of_a_pass():
    assert Dense(clients=3).setting() == fb.Setting(clients=3, arms=3, dimension=2, horizon=6)


def test_sparse_rows_show_what_dense_rows_show():
    dense, mostly = whole(Dense(), 10), whole(Mostly(), 10)
    assert np.array_equal(dense.features, mostly.features)
    assert np.array_equal(dense.outcomes.payoff, mostly.outcomes.payoff)


def test_blocks_do_not_change_the_world():
    parts = list(Dense(clients=2).turns(20, seed=3, block=6))
    together = whole(Dense(clients=2), 20, seed=3)
    assert np.array_equal(np.concatenate([part.features for part in parts]), together.features)
    assert np.array_equal(np.concatenate([part.client for part in parts]), together.client)
    assert np.array_equal(np.concatenate([part.outcomes.payoff for part in parts]), together.outcomes.payoff)


def test_warfarin_shows_the_patients_with_a_dose():
    with examples.folder("warfarin") as path:
        world = fb.environment("warfarin", clients=2, noise=0, path=str(path))
        block = whole(world, 2)
    assert world.setting().arms == 3
    by_height = np.argsort(block.features[:, 1])
    assert block.features[by_height, 1].tolist() == [150.0, 193.04]
    assert block.outcomes.mean.argmax(axis=1)[by_height].tolist() == [0, 1]


def test_warfarins_numbers_can_be_brought_to_unit_scale():
    with examples.folder("warfarin") as path:
        own, unit = (
            whole(fb.environment("warfarin", numbers=numbers, path=str(path)), 2).features
            for numbers in ("own-units", "unit-scale")
        )
    assert own[:, :4].max() > 100
    assert unit[:, :4].max(axis=0) == pytest.approx(1.0)
    assert np.array_equal(own[:, 4:], unit[:, 4:])


def test_medical_mnist_shows_learnt_features(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path))
    with examples.folder("medical-mnist") as path:
        world = fb.environment("medical-mnist", clients=3, path=str(path))
        assert world.setting() == fb.Setting(clients=3, arms=6, dimension=500, horizon=6)
        assert whole(world, 6).features.dtype == np.float64
    assert [entry.suffix for entry in (tmp_path / "features").iterdir()] == [".npz"]


@pytest.mark.parametrize("name", ["warfarin", "medical-mnist"])
def test_a_missing_set_is_told_in_one_sentence(monkeypatch, tmp_path, name):
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path))
    monkeypatch.delenv("FEDBANDIT_DATA", raising=False)
    with pytest.raises(fb.InvalidInput, match=f"fedbandit data fetch {name}"):
        fb.environment(name).setting()


@pytest.fixture
def official():
    if not os.environ.get("FEDBANDIT_DATA"):
        pytest.skip("FEDBANDIT_DATA is not set: it names the folder with the official files")


@pytest.mark.usefixtures("official")
def test_on_the_official_patients_federated_screening_beats_ones_own():
    world = fb.environment("warfarin")
    assert world.setting() == fb.Setting(clients=5, arms=3, dimension=745, horizon=5525)
    parameters = {"unit": 3, "gap": 0.5, "forced_penalty": 0.5, "private_penalty": 0.5}
    together, alone = (
        sum(fb.run(name, world, turns=5 * 300, seed=seed, **parameters).regret[-1] for seed in range(3))
        for name in ("fedego-lasso", "lasso-bandit")
    )
    assert together < alone


@pytest.mark.slow
@pytest.mark.usefixtures("official")
def test_on_the_official_images_the_features_tell_the_classes_and_clients_learn_together(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path))
    parameters = {"unit": 3, "gap": 0.5, "forced_penalty": 0.5, "private_penalty": 0.5}
    regret = [
        fb.run(name, fb.environment("medical-mnist", clients=clients), turns=clients * 300, **parameters).regret[-1]
        / clients
        for name, clients in (("fedego-lasso", 15), ("fedego-lasso", 5), ("lasso-bandit", 5))
    ]
    assert regret == sorted(regret)
