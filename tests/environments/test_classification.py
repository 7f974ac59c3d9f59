"""Classification as a bandit: an arm a class, each with the row in its own block."""

import os

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.datasets.files import examples
from fedbandit.environments.classification import SETS


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", SETS)
def test_every_arm_has_the_row_in_its_own_block_and_the_right_class_pays(name):
    with examples.folder(name) as path:
        world = fb.environment("classification", dataset=name, clients=1, path=str(path))
        setting = world.setting()
        block = next(world.turns(setting.horizon, 0, setting.horizon))
    width = setting.dimension // setting.arms
    blocks = block.features.reshape(len(block), setting.arms, setting.arms, width)
    for arm in range(setting.arms):
        np.testing.assert_array_equal(blocks[:, arm, arm], blocks[:, 0, 0])
        assert not np.delete(blocks[:, arm], arm, axis=1).any()
    np.testing.assert_array_equal(block.outcomes.payoff.sum(axis=1), 1.0)


def test_columns_are_standardised_over_the_whole_set():
    with examples.folder("magic") as path:
        world = fb.environment("classification", dataset="magic", clients=1, path=str(path))
        block = next(world.turns(3, 0, 3))
    rows = block.features[:, 0, :10]
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(rows.std(axis=0), 1.0)


def test_all_rows_are_shown_before_any_is_shown_again_and_blocks_do_not_matter():
    with examples.folder("magic") as path:
        world = fb.environment("classification", dataset="magic", clients=2, path=str(path))
        whole = next(world.turns(12, 5, 12))
        parts = list(world.turns(12, 5, 5))
    np.testing.assert_array_equal(np.concatenate([part.features for part in parts]), whole.features)
    for start in range(0, 12, 3):
        assert len(np.unique(whole.features[start : start + 3, 0], axis=0)) == 3
    np.testing.assert_array_equal(whole.client, np.tile([0, 1], 6))


@pytest.mark.skipif("FEDBANDIT_DATA" not in os.environ, reason="FEDBANDIT_DATA names no folder with the official files")
@pytest.mark.parametrize(
    ("name", "arms", "dimension", "rows"),
    [("shuttle", 7, 63, 58_000), ("magic", 2, 20, 19_020), ("mushroom", 2, 234, 8_124), ("adult", 2, 216, 48_842)],
)
def test_the_official_files_have_the_papers_sizes(name, arms, dimension, rows):
    setting = fb.environment("classification", dataset=name).setting()
    assert (setting.arms, setting.dimension, setting.horizon) == (arms, dimension, rows)


@pytest.mark.skipif("FEDBANDIT_DATA" not in os.environ, reason="FEDBANDIT_DATA names no folder with the official files")
def test_a_linear_model_learns_most_of_shuttle():
    world = fb.environment("classification", dataset="shuttle", clients=5)
    result = fb.run("async-linucb", world, turns=5000, alpha=0.1, upload_threshold=1.5, download_threshold=1.5)
    assert result.reward[-1] > 0.8 * 5000
