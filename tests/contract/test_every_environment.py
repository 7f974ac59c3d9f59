"""What every registered environment keeps to, whoever wrote it."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.core.turns import Duels
from fedbandit.datasets.files.errors import MissingData
from reference.recorded import linear_turns
from samples.worlds import recorded

SMALL = {"clients": 4, "arms": 3, "dimension": 5, "pool": 30}
SLOW_AT_FIRST = {"medical-mnist"}  # which learns its features from 58,000 pictures
KINDS = [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW_AT_FIRST)) for each in fb.environments]


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    """A small world of each registered kind; one whose data set is not on this machine is skipped."""
    if request.param == "recorded":
        return recorded(tmp_path, linear_turns(seed=0, turns=40, clients=4, arms=3, dimension=5))
    cls = fb.environments[request.param]
    known = {each.name for each in cls.describe()}
    small = {name: value for name, value in SMALL.items() if name in known}
    for sizes in (small, {"clients": 4} if "clients" in known else {}):
        try:
            made = cls.from_values(sizes)
            next(made.turns(made.setting().clients, 0, 10_000))
        except MissingData as error:
            pytest.skip(str(error))
        except InvalidInput:
            continue
        return made
    return cls()


def count_for(world):
    """As many turns as are easily made: whole rounds, and no more than there are."""
    setting = world.setting()
    rounds = max(1, min(setting.horizon, 40) // setting.clients)
    return rounds * setting.clients


def joined(world, seed=0, block=10_000, count=None):
    blocks = list(world.turns(count or count_for(world), seed, block))
    outcomes = [each.outcomes for each in blocks]
    tables = ("utility", "coin") if isinstance(outcomes[0], Duels) else ("payoff", "mean")
    arrays = {
        "client": np.concatenate([each.client for each in blocks]),
        "features": np.concatenate([each.features for each in blocks]),
    }
    for name in tables:
        if getattr(outcomes[0], name) is not None:
            arrays[name] = np.concatenate([getattr(each, name) for each in outcomes])
    return arrays, [len(each) for each in blocks]


def assert_same_world(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


def test_it_says_what_it_is(world):
    assert world.id
    assert world.title
    assert type(world).__doc__
    for each in world.describe():
        assert each.meaning, f"{each.name} does not say what it means"


def test_its_parameters_survive_their_own_values(world):
    assert type(world).from_values(world.values()) == world


def test_its_turns_are_as_its_setting_says(world):
    setting, count = world.setting(), count_for(world)
    arrays, sizes = joined(world)
    assert sum(sizes) == count
    assert len(arrays["client"]) == count
    assert arrays["client"].dtype == np.int64
    assert arrays["client"].min() >= 0
    assert arrays["client"].max() < setting.clients
    table = arrays["utility"] if "utility" in arrays else arrays["payoff"]
    assert table.shape == (count, setting.arms)
    features = arrays["features"]
    assert features.shape in {(count, setting.arms, setting.dimension), (count, setting.dimension)}
    assert features.dtype == np.float64
    for name, array in arrays.items():
        assert np.isfinite(array).all(), name
    if "coin" in arrays:
        assert ((arrays["coin"] >= 0) & (arrays["coin"] < 1)).all()


@pytest.mark.parametrize("block", [1, 7])
def test_blocks_of_any_size_make_the_same_world(world, block):
    whole, _ = joined(world)
    cut, sizes = joined(world, block=block)
    assert max(sizes) <= block
    assert_same_world(whole, cut)


def test_a_seed_gives_the_same_world_every_time(world):
    again = type(world).from_values(world.values())
    assert_same_world(joined(world, seed=3)[0], joined(again, seed=3)[0])


def test_another_seed_gives_another_world_unless_it_is_recorded(world):
    one, other = (joined(world, seed=seed)[0] for seed in (0, 1))
    same = all((one[name] == other[name]).all() for name in one)
    assert same == (world.id == "recorded")


def test_fewer_turns_are_the_first_of_more(world):
    clients = world.setting().clients
    whole, _ = joined(world)
    part, _ = joined(world, count=clients)
    assert_same_world(part, {name: array[:clients] for name, array in whole.items()})


def test_no_choice_has_negative_regret(world):
    block = next(world.turns(count_for(world), 0, 10_000))
    for arm in range(world.setting().arms):
        choice = np.full(len(block), arm)
        pair = np.stack([choice, choice], axis=1) if isinstance(block.outcomes, Duels) else choice
        regret = block.outcomes.regret(slice(None), pair)
        assert (np.isnan(regret) | (regret >= 0)).all()


def test_its_horizon_can_be_run(world):
    setting = world.setting()
    assert setting.horizon >= 1
    assert next(world.turns(min(setting.horizon, setting.clients), 0, 10_000)).client.size
