"""What every registered algorithm keeps to, whoever wrote it."""

import dataclasses
import math

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Cadence, TurnByTurn
from fedbandit.simulation import in_process
from reference.recorded import dueling_rounds, glm_rounds, lasso_rounds
from samples.runs import assert_same_trace
from samples.worlds import arrays_for, recorded, step_by_hand


def test_it_says_what_it_is(declared):
    assert declared.id
    assert declared.title
    assert declared.__doc__
    assert dataclasses.is_dataclass(declared)


def test_every_parameter_has_a_meaning_and_a_good_default(declared):
    declared()
    for each in declared.describe():
        assert each.meaning, f"{each.name} does not say what it means"
        assert each.name.isidentifier()
        assert each.name == each.name.lower()
    names = {each.name for each in declared.describe()}
    assert {each.name for each in dataclasses.fields(declared)} == names, "every field is a declared parameter"


def test_its_parameters_survive_their_own_values(declared):
    assert declared.from_values(declared().values()) == declared()


def test_every_limit_of_every_parameter_is_enforced(declared):
    for each in dataclasses.fields(declared):
        limits = each.metadata["limits"]
        wrong = [] if isinstance(each.default, str | bool) else [math.nan]
        wrong += [value for value in (limits.above, limits.below) if value is not None]
        wrong += [limits.at_least - 1] if limits.at_least is not None else []
        wrong += [limits.at_most + 1] if limits.at_most is not None else []
        wrong += ["no such choice"] if limits.choices else []
        for value in wrong:
            with pytest.raises(InvalidInput) as error:
                declared(**{each.name: value})
            assert each.name in str(error.value)


def test_it_chooses_what_is_on_offer(kind, usual):
    trace, _ = usual
    arms = arrays_for(kind)["utility" if kind.duels else "reward"].shape[1]
    assert trace.choice.shape == ((len(trace.client), 2) if kind.duels else (len(trace.client),))
    assert trace.choice.min() >= 0
    assert trace.choice.max() < arms
    assert np.isfinite(trace.regret).all()
    assert (trace.regret >= 0).all()
    assert len(np.unique(trace.choice)) > 1, "it does not always choose the same arm"


def test_one_seed_gives_one_run(play):
    assert_same_trace(play(seed=4).trace, play(seed=4).trace)


def test_the_size_of_blocks_changes_nothing(play, usual, monkeypatch):
    monkeypatch.setattr(in_process, "BLOCK_BYTES", 1)
    assert_same_trace(usual.trace, play().trace)


def test_playing_blocks_gives_what_one_turn_at_a_time_gives(play, usual, monkeypatch):
    side = usual.wire.clients.side
    assert isinstance(side.cadence, Cadence)
    assert side.draws >= 0
    monkeypatch.setattr(type(side), "play", TurnByTurn.play)
    assert_same_trace(usual.trace, play().trace)


def test_clients_on_their_own_by_hand_choose_what_they_choose_in_a_run(kind, play):
    if kind.shares_raw_data:
        pytest.skip("a baseline for simulations, whose clients share what they know")
    trace, _ = play(seed=5)
    choices, counted = step_by_hand(arrays_for(kind), kind(), seed=5)
    assert np.array(choices).tolist() == trace.choice.tolist()
    totals = np.cumsum([trace.messages, trace.scalars, trace.bytes], axis=1).T
    assert counted == [tuple(row) for row in totals.tolist()]


def plain(value):
    """Whether a state holds nothing but arrays, numbers, texts, and dataclasses, tuples, lists and dicts of these."""
    if dataclasses.is_dataclass(value):
        return all(plain(getattr(value, each.name)) for each in dataclasses.fields(value))
    if isinstance(value, dict):
        return all(isinstance(key, int | str) and plain(each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return all(map(plain, value))
    if isinstance(value, np.ndarray) or hasattr(value, "__array__"):  # a device's array is one when it is saved
        return value.dtype.kind in "biuf"
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def test_its_state_is_plain_arrays(usual):
    _, wire = usual
    for node in (wire.clients, wire.server):
        assert plain(node.state), f"{type(node.state).__name__} holds something that cannot be saved without pickles"


def test_its_state_stays_finite(play):
    def walk(value):
        if dataclasses.is_dataclass(value):
            value = [getattr(value, each.name) for each in dataclasses.fields(value)]
        if isinstance(value, list | tuple):
            for each in value:
                walk(each)
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert not np.isnan(value).any()

    _, wire = play()
    walk(wire.clients.state)
    walk(wire.server.state)


@pytest.mark.parametrize(
    "arrays",
    [
        dueling_rounds(seed=0, rounds=3, clients=2, arms=3, dimension=4),
        lasso_rounds(seed=0, rounds=3, clients=2, arms=3, dimension=4),
        glm_rounds(seed=0, rounds=3, clients=2, arms=3, dimension=4),
    ],
    ids=["duels", "contexts", "rewards"],
)
def test_a_world_of_another_kind_is_refused_in_one_sentence(kind, tmp_path, arrays):
    suits = kind.duels == ("utility" in arrays) and kind.shares_context == ("context" in arrays)
    world = recorded(tmp_path, arrays)
    if suits:
        assert fb.run(kind(), world).turns == 6
        return
    with pytest.raises(InvalidInput, match=f"{kind.id} needs .* but recorded has"):
        fb.run(kind(), world)
