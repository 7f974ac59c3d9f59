"""Arrays of a recorded file that make no sense are refused: one sentence with the array and the place."""

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.environments.recorded import read_turns
from samples.recorded_arrays import contexts, duels, rewards
from samples.worlds import recorded


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
