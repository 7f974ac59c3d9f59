"""A recorded file that cannot be run on is refused in one line, and no file is made."""

import numpy as np
import pytest

from reference.recorded import dueling_rounds, linear_turns
from samples.refusals import refused


def save(path, arrays):
    np.savez(path, **arrays)


def test_a_bad_recorded_file_is_refused_at_its_array_and_place(fedbandit, tmp_path):
    arrays = linear_turns(seed=0, turns=10, clients=2, arms=3, dimension=2)
    arrays["reward"][4, 1] = np.nan
    save(tmp_path / "turns.npz", arrays)
    refused(
        fedbandit("run", "async-linucb", "--recorded", "turns.npz", "--trace", "trace.csv"),
        "reward[4, 1] is nan: every value must be finite",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["turns.npz"]


def test_more_turns_than_recorded_are_refused(fedbandit, tmp_path):
    save(tmp_path / "turns.npz", linear_turns(seed=0, turns=10, clients=2, arms=3, dimension=2))
    refused(
        fedbandit("run", "async-linucb", "--recorded", "turns.npz", "--turns", "11", "--save", "result.npz"),
        "turns=11, but turns.npz has 10: ask for no more than that",
    )
    assert not (tmp_path / "result.npz").exists()


def test_a_file_of_duels_is_refused_by_an_algorithm_of_rewards(fedbandit, tmp_path):
    save(tmp_path / "duels.npz", dueling_rounds(seed=0, rounds=3, clients=2, arms=3, dimension=2))
    refused(
        fedbandit("run", "async-linucb", "--recorded", "duels.npz"),
        "async-linucb needs features of each arm and rewards, but recorded has features of each arm and duels",
    )


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", b"\x80\x04N."])
def test_a_file_that_is_no_npz_is_refused(fedbandit, tmp_path, content):
    (tmp_path / "turns.npz").write_bytes(content)
    refused(fedbandit("run", "async-linucb", "--recorded", "turns.npz"), "turns.npz is not a readable .npz")


def test_a_recorded_file_of_another_kind_is_called_by_its_name(fedbandit, tmp_path):
    (tmp_path / "log.parquet").write_bytes(b"PAR1 and so on")
    said = fedbandit("run", "async-linucb", "--recorded", "log.parquet")
    refused(said, "log.parquet is not a readable .npz of plain arrays (it is a Parquet file)")
    assert "pickle" not in said.err
