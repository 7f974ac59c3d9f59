"""Choices mixed with uniform ones: what is drawn, what is said of it, and that all else is the side within."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.around import ClientsAround
from fedbandit.core.exploring import Exploring, exploring
from fedbandit.core.forgetting import Forgets
from fedbandit.core.interfaces import Clients
from fedbandit.core.lots import lot_of, propensity_without_lot
from fedbandit.simulation.in_process import simulate
from samples.members import members_of

SETTING = fb.Setting(clients=2, arms=4, dimension=3, horizon=10)
WHO = np.arange(2)
ARMS = np.random.default_rng(0).standard_normal((2, 4, 3))


def sides(name="async-linucb", **parameters):
    return fb.algorithm(name, **parameters).federation(SETTING)


def test_without_it_the_sides_are_as_they_were_built():
    built = fb.algorithm("async-linucb").build(SETTING)
    assert exploring(built, 0.0, arms=4) is built


@pytest.mark.parametrize(
    ("name", "parameters", "draws"),
    [
        ("async-linucb", {}, 0),
        ("async-linucb", {"explore": 0.1}, 1),
        ("async-linucb", {"exploration": "thompson"}, 3),
        ("sync-linucb", {"exploration": "perturbed", "explore": 0.1}, 1 + 3),
        ("random", {}, 1),
        ("random", {"explore": 0.1}, 1),
        ("fedglb-ucb", {"explore": 1.0}, 1),
        ("fedego-lasso", {"explore": 0.5}, 1),
    ],
)
def test_a_turn_draws_its_lot_and_what_its_sample_needs(name, parameters, draws):
    assert sides(name, **parameters).clients.draws == draws


def test_it_is_the_side_within_in_all_but_choices():
    within = fb.algorithm("async-linucb").build(SETTING).clients
    side = Exploring(within, 0.25, arms=4)
    own = {"draws", "draws_lot", "explore", "samples", "named", "chances", "decide", "choose", "play"}
    for name in members_of(Clients) - own:
        alike = name in vars(side) and getattr(side, name) == getattr(within, name)
        is_handed_on = getattr(Exploring, name, None) is getattr(ClientsAround, name, 0)
        assert alike or is_handed_on, f"{name} is not that of the side within"


def test_a_side_that_forgets_does_so_with_it_and_no_other():
    for name in ("async-linucb", "fedego-lasso"):
        within, around = sides(name).clients, sides(name, explore=0.1).clients
        assert isinstance(around, Forgets) == isinstance(within, Forgets) == (name == "async-linucb")


def test_chances_are_mixed_and_the_lot_is_the_first_normal():
    side = sides(explore=0.4).clients
    state = side.start(2)
    named = side.within.choose(state, WHO, ARMS, np.empty((2, 0)))
    chances = side.chances(state, WHO, ARMS, np.zeros((2, 1)))
    expected = np.full((2, 4), 0.1)
    expected[WHO, named] = 0.6 * 1.0 + 0.1
    np.testing.assert_array_equal(chances, expected)
    for normal in (-2.5, -0.3, 0.0, 0.8, 3.0):
        choices, propensity, _ = side.decide(state, WHO, ARMS, np.full((2, 1), normal))
        literal = [int(np.argmax(np.cumsum(each) > lot_of(normal))) for each in chances]
        assert choices.tolist() == literal
        assert propensity.tolist() == chances[WHO, literal].tolist()


def test_the_normals_of_a_sample_follow_the_lot():
    side = sides(exploration="thompson", explore=0.5).clients
    state, normals = side.start(2), np.random.default_rng(1).standard_normal((2, 4))
    sampled = side.within.choose(state, WHO, ARMS, normals[:, 1:])
    assert side.chances(state, WHO, ARMS, normals).argmax(axis=1).tolist() == sampled.tolist()


@pytest.mark.parametrize("explore", [0.02, 0.3, 0.9])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("async-linucb", {"smallest_upload": 3}),
        ("lean-linucb", {"delivery": "turn"}),  # asks before it chooses
        ("lean-linucb", {"delivery": "upload"}),
        ("sync-linucb", {"exploration": "thompson"}),
        ("local-linucb", {}),
    ],
)
def test_turns_that_a_lot_cannot_change_are_as_if_played_one_at_a_time(monkeypatch, name, parameters, explore):
    world, algorithm = fb.environment("linear", clients=4), fb.algorithm(name, explore=explore, **parameters)
    fast, _ = simulate(algorithm, world, 400, seed=5)
    monkeypatch.setattr(Exploring, "play", Exploring._one_at_a_time)
    slow, _ = simulate(algorithm, world, 400, seed=5)
    for what in ("choice", "propensity", "regret"):
        np.testing.assert_array_equal(getattr(fast, what), getattr(slow, what), err_msg=what)
    assert fast.ledger.totals == slow.ledger.totals
    assert len(np.unique(fast.propensity)) == 2, "some choices were the lot's"


def test_a_choice_without_a_lot_is_certain_or_of_unknown_chance():
    assert propensity_without_lot(sides().clients) == 1.0
    assert np.isnan(propensity_without_lot(sides(exploration="thompson").clients))


def test_a_side_that_draws_no_lot_knows_no_chances():
    with pytest.raises(TypeError, match="draws no lot"):
        sides().clients.chances(None, WHO, ARMS, np.empty((2, 0)))


def test_duels_have_no_such_parameter():
    with pytest.raises(fb.InvalidInput, match="has no parameter 'explore'"):
        fb.algorithm("ldb", explore=0.1)


def test_an_algorithm_of_ones_own_that_duels_is_refused_by_a_sentence():
    class Odd(fb.algorithms["async-linucb"]):
        duels = True

    with pytest.raises(fb.InvalidInput, match=r"explore=0.1 is for algorithms that choose one arm, and .* has two"):
        Odd(explore=0.1).federation(SETTING)


@pytest.mark.parametrize("explore", [-0.1, 1.1, "much"])
def test_shares_lie_between_nothing_and_all(explore):
    with pytest.raises(fb.InvalidInput, match="explore must be"):
        fb.algorithm("async-linucb", explore=explore)
