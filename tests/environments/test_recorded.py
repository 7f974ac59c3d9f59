"""A recorded file is read exactly, or refused in one sentence that names the array and the place."""

import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.core.turns import Duels, Rewards
from fedbandit.environments.recorded import Recorded, read_turns
from reference.recorded import dueling_rounds, lasso_rounds, linear_turns
from samples.rounds import InRounds
from samples.worlds import recorded


def rewards():
    return linear_turns(seed=0, turns=6, clients=3, arms=4, dimension=2)


def duels():
    return dueling_rounds(seed=0, rounds=2, clients=3, arms=4, dimension=2)


def contexts():
    return lasso_rounds(seed=0, rounds=2, clients=3, arms=4, dimension=5)


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


def changed(make=rewards, **changes):
    """The arrays of a good file with some replaced; None takes one out."""
    arrays = {**make(), **changes}
    return {name: array for name, array in arrays.items() if array is not None}


def spoilt(name, place, value, make=rewards):
    array = np.array(make()[name])
    array[place] = value
    return changed(make, **{name: array})


BAD = {
    "no client": (changed(client=None), "the file has no array 'client' (it has arms, mean, reward): add it"),
    "no arms": (changed(arms=None), "the file has no array 'arms' (it has client, mean, reward): add it"),
    "no reward": (changed(reward=None), "the file has no array 'reward' (it has arms, client, mean): add it"),
    "no coin": (changed(duels, coin=None), "the file has no array 'coin' (it has arms, client, utility): add it"),
    "no arrays": ({}, "the file has no array 'client' (it has none): add it"),
    "no turns": (
        {"client": np.zeros(0, int), "arms": np.zeros((0, 4, 2)), "reward": np.zeros((0, 4))},
        "client in the file is empty: a recorded file needs at least one turn",
    ),
    "clients in a table": (
        changed(client=np.zeros((6, 1), int)),
        "client has shape (6, 1), but (n,) with n at least 1 is needed: reshape it",
    ),
    "one client as a number": (
        changed(client=np.array(3)),
        "client has shape (), but (n,) with n at least 1 is needed: reshape it",
    ),
    "clients with fractions": (
        changed(client=np.zeros(6)),
        "client must hold whole numbers, not float64: store it as integers",
    ),
    "clients that are true or false": (
        changed(client=np.zeros(6, dtype=bool)),
        "client must hold whole numbers, not bool: store it as integers",
    ),
    "a negative client": (spoilt("client", 4, -2), "client[4] is -2: clients are numbered from 0"),
    "a client that never appears": (
        changed(client=np.array([0, 1, 3, 3, 0, 1])),
        "client never names 2 although it names 3: number clients 0 to N-1",
    ),
    "a client far beyond": (
        spoilt("client", 5, 10**12),
        "client[5] is 1000000000000, but with 6 turns not every client below it can appear: "
        "number the clients 0 to N-1",
    ),
    "features without arms": (
        changed(arms=np.ones((6, 4))),
        "arms has shape (6, 4), but (6, 4, n) with n at least 1 is needed: reshape it",
    ),
    "features of too few turns": (
        changed(arms=np.ones((5, 4, 2))),
        "arms has shape (5, 4, 2), but (6, 4, n) with n at least 1 is needed: reshape it",
    ),
    "features of too many arms": (
        changed(arms=np.ones((6, 5, 2))),
        "arms has shape (6, 5, 2), but (6, 4, n) with n at least 1 is needed: reshape it",
    ),
    "arms without features": (
        changed(arms=np.ones((6, 4, 0))),
        "arms has shape (6, 4, 0), but (6, 4, n) with n at least 1 is needed: reshape it",
    ),
    "rewards of too few turns": (
        changed(reward=np.ones((5, 4))),
        "reward has shape (5, 4), but (6, n) with n at least 1 is needed: reshape it",
    ),
    "rewards of no arms": (
        changed(reward=np.ones((6, 0))),
        "reward has shape (6, 0), but (6, n) with n at least 1 is needed: reshape it",
    ),
    "rewards in a row": (
        changed(reward=np.ones(6)),
        "reward has shape (6,), but (6, n) with n at least 1 is needed: reshape it",
    ),
    "means of other arms": (
        changed(mean=np.ones((6, 3))),
        "mean has shape (6, 3), but (6, 4) with n at least 1 is needed: reshape it",
    ),
    "contexts for each arm": (
        changed(contexts, context=np.ones((6, 4, 5))),
        "context has shape (6, 4, 5), but (6, n) with n at least 1 is needed: reshape it",
    ),
    "coins in a table": (
        changed(duels, coin=np.zeros((6, 1))),
        "coin has shape (6, 1), but (6,) with n at least 1 is needed: reshape it",
    ),
    "a feature that is not a number": (
        spoilt("arms", (2, 3, 1), np.nan),
        "arms[2, 3, 1] is nan: every value must be finite",
    ),
    "an infinite reward": (spoilt("reward", (5, 0), np.inf), "reward[5, 0] is inf: every value must be finite"),
    "an infinite mean": (spoilt("mean", (0, 3), -np.inf), "mean[0, 3] is -inf: every value must be finite"),
    "a utility that is not a number": (
        spoilt("utility", (1, 2), np.nan, duels),
        "utility[1, 2] is nan: every value must be finite",
    ),
    "a context that is not a number": (
        spoilt("context", (1, 2), np.nan, contexts),
        "context[1, 2] is nan: every value must be finite",
    ),
    "a coin of one": (spoilt("coin", 3, 1.0, duels), "coin[3] is 1.0: coins lie in [0, 1)"),
    "a negative coin": (spoilt("coin", 0, -0.25, duels), "coin[0] is -0.25: coins lie in [0, 1)"),
    "a coin that is not a number": (spoilt("coin", 2, np.nan, duels), "coin[2] is nan: every value must be finite"),
    "rewards in words": (
        changed(reward=np.full((6, 4), "much")),
        "reward must hold numbers, not <U4: store it as floats",
    ),
    "complex features": (
        changed(arms=np.ones((6, 4, 2), dtype=complex)),
        "arms must hold numbers, not complex128: store it as floats",
    ),
    "dates as clients": (
        changed(client=np.zeros(6, dtype="M8[D]")),
        "client must hold whole numbers, not datetime64[D]: store it as integers",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arrays_are_refused_in_one_sentence(case):
    arrays, sentence = BAD[case]
    with pytest.raises(InvalidInput) as error:
        read_turns(arrays)
    assert str(error.value) == sentence


@pytest.mark.parametrize("case", BAD)
def test_a_file_of_bad_arrays_is_refused_with_its_name_or_its_array(case, tmp_path):
    arrays, sentence = BAD[case]
    with pytest.raises(InvalidInput) as error:
        recorded(tmp_path, arrays)
    assert str(error.value) == sentence.replace("the file", str(tmp_path / "turns.npz"))


def refusal(path):
    with pytest.raises(InvalidInput) as error:
        Recorded(path=str(path))
    text = str(error.value)
    assert len(text.splitlines()) == 1
    return text


def test_a_missing_file_a_folder_and_no_name_are_refused(tmp_path):
    assert refusal(tmp_path / "nowhere.npz").startswith(f"no recorded file at '{tmp_path / 'nowhere.npz'}'")
    assert refusal(tmp_path).startswith("no recorded file at")
    assert refusal("").startswith("no recorded file at ''")
    assert refusal("a\0b").startswith("no recorded file at")


@pytest.mark.parametrize(
    "content", [b"", b"client,arm\n0,1\n", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x93NUMPY", b"\x80\x04N."]
)
def test_a_file_that_is_no_npz_is_refused(tmp_path, content):
    path = tmp_path / "turns.npz"
    path.write_bytes(content)
    text = refusal(path)
    assert str(path) in text
    assert "npz" in text or "no array 'client'" in text


def test_a_single_array_is_refused(tmp_path):
    path = tmp_path / "turns.npy"
    np.save(path, np.ones(3))
    assert refusal(path) == f"{path} is a single array, not an .npz: save named arrays with numpy.savez"


def test_a_pickle_inside_is_refused_and_never_loaded(tmp_path):
    path = tmp_path / "turns.npz"
    np.savez(path, **changed(reward=np.full((6, 4), None)))
    assert "is not a readable .npz of plain arrays" in refusal(path)


def test_a_pickled_single_array_is_refused(tmp_path):
    path = tmp_path / "turns.npy"
    np.save(path, np.array([None, 1]))
    assert "is not a readable .npz of plain arrays" in refusal(path)


def test_something_else_in_the_zip_is_refused(tmp_path):
    path = tmp_path / "turns.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("client.npy", b"not an array")
        archive.writestr("readme.txt", b"hello")
    refusal(path)


@pytest.fixture(scope="module", params=[np.savez, np.savez_compressed], ids=["plain", "compressed"])
def good(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "turns.npz"
    request.param(path, **rewards())
    return path


def is_read_or_refused(path):
    """The file is read, or refused in one line; any other error goes through."""
    try:
        return len(list(Recorded(path=str(path)).turns(1, 0, 1))) == 1
    except InvalidInput as error:
        return len(str(error).splitlines()) == 1


def test_a_file_cut_short_anywhere_is_refused(good, tmp_path):
    data = good.read_bytes()
    path = tmp_path / "cut.npz"
    for end in range(0, len(data), 13):
        path.write_bytes(data[:end])
        refusal(path)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_garbled_file_is_read_or_refused_in_one_line(good, data):
    content = bytearray(good.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = good.parent / "garbled.npz"
    path.write_bytes(content)
    assert is_read_or_refused(path)


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
    assert recorded(tmp_path, rewards()).values() == {"path": str(tmp_path / "turns.npz")}
