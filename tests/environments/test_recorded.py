"""A recorded file is read exactly, or refused in one sentence that names the array and the place."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.core.turns import Duels, Rewards
from fedbandit.environments.recorded import read_turns
from samples.recorded_arrays import contexts, duels, rewards
from samples.rounds import InRounds
from samples.worlds import recorded


@pytest.mark.parametrize("block", [1, 4, 100])
def test_the_turns_are_those_of_the_file_in_blocks_of_any_size(tmp_path, block):
    arrays = rewards()
    world = recorded(tmp_path, arrays)
    blocks = list(world.turns(6, 0, block))
    assert all(len(each) <= block for each in blocks)
    assert np.concatenate([each.client for each in blocks]).tolist() == arrays["client"].tolist()
    np.testing.assert_array_equal(np.concatenate([each.features for each in blocks]), arrays["arms"])
    np.testing.assert_array_equal(np.concatenate([each.outcomes.payoff for each in blocks]), arrays["reward"])
    np.testing.assert_array_equal(np.concatenate([each.outcomes.mean for each in blocks]), arrays["mean"])


def test_the_seed_changes_nothing(tmp_path):
    world = recorded(tmp_path, rewards())
    one, other = (next(world.turns(6, seed, 100)) for seed in (0, 1))
    np.testing.assert_array_equal(one.features, other.features)


def test_draws_are_those_of_the_file(tmp_path):
    arrays = {**rewards(), "draws": np.random.default_rng(0).standard_normal((6, 3))}
    blocks = list(recorded(tmp_path, arrays).turns(6, 0, 4))
    np.testing.assert_array_equal(np.concatenate([each.draws for each in blocks]), arrays["draws"])
    assert next(recorded(tmp_path, rewards()).turns(6, 0, 4)).draws is None


@pytest.mark.parametrize(
    ("draws", "reason"),
    [
        (np.zeros((5, 3)), r"draws has shape \(5, 3\), but \(6, n\)"),
        (np.zeros(6), r"draws has shape \(6,\), but \(6, n\)"),
        (np.zeros((6, 0)), r"draws has shape \(6, 0\)"),
        (np.full((6, 2), np.nan), r"draws\[0, 0\] is nan: every value must be finite"),
        (np.full((6, 2), "a"), "draws must hold numbers"),
    ],
)
def test_draws_that_are_not_numbers_of_each_turn_are_refused(draws, reason):
    with pytest.raises(InvalidInput, match=reason):
        read_turns({**rewards(), "draws": draws})


def test_epochs_are_those_of_the_file(tmp_path):
    arrays = {**rewards(), "epoch": np.array([3, 3, 4, 4, 9, 9], dtype=np.uint8)}
    blocks = list(recorded(tmp_path, arrays).turns(6, 0, 4))
    assert np.concatenate([each.epoch for each in blocks]).tolist() == [3, 3, 4, 4, 9, 9]
    assert next(recorded(tmp_path, rewards()).turns(6, 0, 4)).epoch is None


@pytest.mark.parametrize(
    ("epoch", "reason"),
    [
        (np.zeros(5, dtype=int), r"epoch has shape \(5,\), but \(6,\)"),
        (np.zeros(6), "epoch must hold whole numbers, not float64"),
        (np.array([0, 1, 1, 0, 2, 2]), r"epoch\[3\] is 0: epochs do not decrease from turn to turn"),
    ],
)
def test_epochs_that_are_none_are_refused(epoch, reason):
    with pytest.raises(InvalidInput, match=reason):
        read_turns({**rewards(), "epoch": epoch})


def test_epochs_are_said_once(tmp_path):
    recorded(tmp_path, {**rewards(), "epoch": np.zeros(6, dtype=int)})
    with pytest.raises(InvalidInput, match=r"epoch_length=3, but .* has the epoch of each turn: leave one of them out"):
        fb.environment("recorded", path=str(tmp_path / "turns.npz"), epoch_length=3)


def test_the_sizes_are_those_of_the_arrays(tmp_path):
    for make, dimension in ((rewards, 2), (duels, 2), (contexts, 5)):
        setting = recorded(tmp_path, make()).setting()
        assert (setting.clients, setting.arms, setting.dimension, setting.horizon) == (3, 4, dimension, 6)


def test_duels_have_utilities_and_coins():
    block = read_turns(duels())
    assert isinstance(block.outcomes, Duels)
    np.testing.assert_array_equal(block.outcomes.utility, duels()["utility"])
    np.testing.assert_array_equal(block.outcomes.coin, duels()["coin"])


def test_contexts_are_shared_by_the_arms_of_a_turn():
    block = read_turns(contexts())
    assert block.features.shape == (6, 5)
    assert isinstance(block.outcomes, Rewards)


def test_without_means_regret_is_not_known():
    arrays = rewards()
    del arrays["mean"]
    assert read_turns(arrays).outcomes.mean is None


def test_whole_numbers_and_booleans_are_good_rewards_and_features():
    arrays = {"client": np.array([0], dtype=np.uint8), "arms": np.ones((1, 2, 1), dtype=int)}
    block = read_turns({**arrays, "reward": np.array([[True, False]])})
    assert block.outcomes.payoff.dtype == np.float64
    assert block.outcomes.payoff.tolist() == [[1.0, 0.0]]


def test_more_turns_than_the_file_has_are_refused(tmp_path):
    world = recorded(tmp_path, rewards())
    with pytest.raises(InvalidInput) as error:
        fb.run("async-linucb", world, turns=7)
    assert str(error.value) == f"turns=7, but {tmp_path / 'turns.npz'} has 6: ask for no more than that"


def in_rounds(order, clients=3):
    """A world whose clients act in this order, whatever they see."""
    turns = len(order)
    return {"client": np.array(order), "arms": np.ones((turns, 2, 1)), "reward": np.zeros((turns, 2))}


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1, 0, 1, 2], [1, 0, 2] * 4])
def test_rounds_in_any_order_are_good_for_an_algorithm_that_acts_in_rounds(tmp_path, order):
    result = fb.run(InRounds(), recorded(tmp_path, in_rounds(order)))
    assert result.turns == len(order)


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ([0, 1, 2, 0, 1], "the last round, from turn 3 on, is incomplete"),
        ([2, 1, 0, 0, 2, 1, 0], "the last round, from turn 6 on, is incomplete"),
        ([0, 1, 2, 0, 0, 2, 1], "client[4] is 0, which already had its turn in round 2"),
        ([0, 1, 2, 1, 1, 2, 0, 1, 2], "client[4] is 1, which already had its turn in round 2"),
        ([0, 0, 1, 2, 1, 2], "client[1] is 0, which already had its turn in round 1"),
        ([0, 1, 2, 0, 1, 2, 2, 1, 2], "client[8] is 2, which already had its turn in round 3"),
    ],
)
def test_a_file_that_does_not_divide_into_rounds_is_refused_at_the_first_turn_at_fault(tmp_path, order, sentence):
    world = recorded(tmp_path, in_rounds(order))
    with pytest.raises(InvalidInput) as error:
        fb.run(InRounds(), world)
    assert str(error.value).startswith(sentence)
    assert len(str(error.value).splitlines()) == 1


def test_a_part_of_a_round_is_refused_though_the_file_has_more(tmp_path):
    world = recorded(tmp_path, in_rounds([0, 1, 2, 0, 1, 2]))
    with pytest.raises(InvalidInput, match="give a multiple of 3 turns, not 4"):
        fb.run(InRounds(), world, turns=4)
    assert fb.run(InRounds(), world, turns=3).turns == 3


def test_files_are_the_same_world_if_their_names_are_the_same(tmp_path):
    assert recorded(tmp_path, rewards()) == recorded(tmp_path, rewards())
    assert recorded(tmp_path, rewards()).values() == {"path": str(tmp_path / "turns.npz"), "epoch_length": 0}
