"""The simulator: one path or another, any block size, the same numbers; and every message on its turn."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.linear.pooled_linucb import PooledClients
from fedbandit.algorithms.linear.shared.clients import LinearClients
from fedbandit.core.algorithm import Algorithm
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Federation, Outgoing, TurnByTurn
from fedbandit.core.turns import Duels, Rewards, Turns
from fedbandit.simulation import in_process
from fedbandit.simulation.in_process import check_rounds, simulate
from fedbandit.wire import weigh
from reference.recorded import dueling_rounds, lasso_rounds, linear_turns
from samples.messages import FullUpload
from samples.rounds import InRounds, Mean, Sum
from samples.runs import assert_same_trace
from samples.sides import ListeningClients, ListeningServer
from samples.worlds import recorded

WORLD = {"clients": 9, "arms": 4, "dimension": 3, "pool": 50}
FAMILY = [
    ("async-linucb", {}),
    ("async-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0}),
    ("sync-linucb", {}),
    ("sync-linucb", {"sync_threshold": 0.01}),
    ("local-linucb", {}),
    ("pooled-linucb", {}),
]


@pytest.mark.parametrize("exploration", ["ucb", "thompson", "perturbed"])
@pytest.mark.parametrize(("name", "parameters"), FAMILY)
def test_one_turn_at_a_time_and_whole_blocks_give_the_same_bits(monkeypatch, name, parameters, exploration):
    algorithm = fb.algorithm(name, exploration=exploration, **parameters)
    world = fb.environment("linear", arrivals="skewed", **WORLD)
    compiled, _ = simulate(algorithm, world, turns=400, seed=2)
    monkeypatch.setattr(LinearClients, "play", TurnByTurn.play)
    monkeypatch.setattr(PooledClients, "play", TurnByTurn.play)
    plain, _ = simulate(algorithm, world, turns=400, seed=2)
    assert_same_trace(compiled, plain)
    assert len(set(compiled.choice.tolist())) > 1


@pytest.mark.parametrize("exploration", ["ucb", "thompson"])
@pytest.mark.parametrize("name", ["async-linucb", "sync-linucb", "pooled-linucb"])
def test_the_size_of_blocks_changes_nothing(monkeypatch, name, exploration):
    algorithm, world = fb.algorithm(name, exploration=exploration), fb.environment("linear", **WORLD)
    whole, _ = simulate(algorithm, world, turns=150, seed=1)
    monkeypatch.setattr(in_process, "BLOCK_BYTES", 8 * 4 * 3 * 7)
    done = []
    cut, _ = simulate(algorithm, world, turns=150, seed=1, progress=done.append)
    assert_same_trace(whole, cut)
    assert done == [*range(7, 150, 7), 150], "progress says how many turns are done after each block"


def test_the_size_of_blocks_changes_nothing_about_rounds(monkeypatch, tmp_path):
    arrays = linear_turns(seed=0, turns=30, clients=3, arms=4, dimension=2)
    arrays["client"] = np.concatenate([np.random.default_rng(each).permutation(3) for each in range(10)])
    world = recorded(tmp_path, arrays)
    whole, _ = simulate(InRounds(), world, turns=30)
    monkeypatch.setattr(in_process, "BLOCK_BYTES", 1)
    done = []
    cut, _ = simulate(InRounds(), world, turns=30, progress=done.append)
    assert_same_trace(whole, cut)
    assert done == list(range(3, 31, 3)), "a block holds whole rounds"


@pytest.mark.parametrize("exploration", ["ucb", "thompson"])
def test_a_seed_gives_the_same_run_and_another_seed_another(exploration):
    algorithm = fb.algorithm("async-linucb", exploration=exploration)
    world = fb.environment("linear", **WORLD)
    first, again, other = (simulate(algorithm, world, 200, seed)[0] for seed in (0, 0, 1))
    assert_same_trace(first, again)
    assert (first.choice != other.choice).any()


def test_the_seed_of_exploration_matters_on_a_fixed_world_only_to_those_who_draw(tmp_path):
    world = recorded(tmp_path, linear_turns(seed=0, turns=100, clients=3, arms=5, dimension=3))
    for exploration, differs in (("ucb", False), ("thompson", True), ("perturbed", True)):
        algorithm = fb.algorithm("async-linucb", exploration=exploration)
        one, other = (simulate(algorithm, world, 100, seed)[0].choice for seed in (0, 1))
        assert (one != other).any() == differs


def test_two_algorithms_on_one_seed_meet_the_same_world():
    world = fb.environment("linear", **WORLD)
    one, other = (simulate(fb.algorithm(name), world, 100, 5)[0] for name in ("async-linucb", "local-linucb"))
    assert (one.client == other.client).all()


class Sender(Algorithm):
    """Client c sends an upload of 1 + c numbers at each of its turns, except client 0, who is silent."""

    def build(self, setting):
        return Federation(ListeningClients(self.send), ListeningServer())

    @staticmethod
    def send(who):
        client = int(who[0])
        if client == 0:
            return ()
        upload = FullUpload(np.zeros((1, 1, 1)), np.ones((1, client)), np.zeros((1, 0)), np.array([7]))
        return (Outgoing(who, upload),)


def test_what_a_turn_sends_is_booked_on_that_turn(tmp_path):
    order = [0, 1, 0, 0, 2, 2, 1, 0]
    arrays = {"client": np.array(order), "arms": np.ones((8, 2, 1)), "reward": np.zeros((8, 2))}
    trace, wire = simulate(Sender(), recorded(tmp_path, arrays), 8)
    assert trace.messages.tolist() == [int(client > 0) for client in order]
    assert trace.scalars.tolist() == [1 + client if client else 0 for client in order]
    assert trace.bytes.sum() == trace.ledger.bytes
    assert trace.rounds == 4
    assert trace.ledger.uploads == 4
    assert trace.ledger.signals == 4, "each upload was answered by a signal"
    heard = [clients for what, clients, _ in wire.clients.state if what == "receive"]
    assert heard == [[1], [2], [2], [1]], "each answer reached its sender at once"


def test_what_ends_a_round_is_booked_on_the_rounds_last_turn(tmp_path):
    arrays = linear_turns(seed=0, turns=12, clients=3, arms=4, dimension=2)
    arrays["client"] = np.array([2, 0, 1, 0, 1, 2, 1, 2, 0, 0, 2, 1])
    trace, wire = simulate(InRounds(every=2), recorded(tmp_path, arrays), 12)
    assert trace.messages.tolist() == [0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 6]
    one_exchange = 3 * weigh(Sum(np.zeros(1))).scalars + 3 * weigh(Mean(np.asarray(0.0), 0)).scalars
    assert trace.scalars.tolist() == [one_exchange * (turn in (5, 11)) for turn in range(12)]
    assert (trace.ledger.uploads, trace.ledger.downloads, trace.rounds) == (6, 6, 2)
    assert wire.server.state["round"] == 2


def test_in_rounds_clients_act_together_sorted_and_choices_come_back_in_the_files_order(tmp_path):
    arrays = linear_turns(seed=0, turns=6, clients=3, arms=4, dimension=2)
    order = [2, 0, 1, 1, 2, 0]
    arrays["client"] = np.array(order)
    trace, wire = simulate(InRounds(), recorded(tmp_path, arrays), 6)
    assert trace.client.tolist() == order
    assert trace.reward.tolist() == [arrays["reward"][turn, arm] for turn, arm in enumerate(trace.choice)]
    total = [sum(trace.reward[[turn for turn in range(6) if order[turn] == client]]) for client in range(3)]
    np.testing.assert_allclose(wire.clients.state["total"], total)
    assert wire.clients.state["turns"].tolist() == [2, 2, 2]


def test_the_order_within_rounds_changes_no_clients_draws(tmp_path):
    arrays = linear_turns(seed=0, turns=9, clients=3, arms=4, dimension=2)
    by_client = []
    for order in ([0, 1, 2] * 3, [2, 1, 0, 1, 0, 2, 0, 2, 1]):
        arrays["client"] = np.array(order)
        trace, _ = simulate(InRounds(), recorded(tmp_path, arrays), 9)
        by_client.append([trace.choice[trace.client == client].tolist() for client in range(3)])
    assert by_client[0] == by_client[1]


def test_the_horizon_counts_rounds_where_the_algorithm_acts_in_rounds(tmp_path):
    horizons = []

    class Asks(InRounds):
        def build(self, setting):
            horizons.append(setting.horizon)
            return super().build(setting)

    class AsksTurns(Sender):
        def build(self, setting):
            horizons.append(setting.horizon)
            return super().build(setting)

    arrays = linear_turns(seed=0, turns=12, clients=3, arms=4, dimension=2)
    arrays["client"] = np.arange(12) % 3
    for algorithm in (Asks(), AsksTurns()):
        simulate(algorithm, recorded(tmp_path, arrays), 12)
    assert horizons == [4, 12]


def rounds_of(*clients):
    count = len(clients)
    return Turns(np.array(clients), np.zeros((count, 1, 1)), Rewards(np.zeros((count, 1))))


def test_check_rounds_lets_whole_rounds_pass_in_any_order():
    check_rounds(rounds_of(0, 1, 2, 2, 0, 1), 3)
    check_rounds(rounds_of(0, 0, 0), 1)


@pytest.mark.parametrize(
    ("clients", "first", "names"),
    [((0, 1, 1), 0, "client[2] is 1"), ((2, 1, 0, 1, 1, 1), 0, "client[4] is 1"), ((0, 0, 1), 30, "client[31] is 0")],
)
def test_check_rounds_names_the_first_turn_at_fault(clients, first, names):
    with pytest.raises(InvalidInput) as error:
        check_rounds(rounds_of(*clients), 3, first)
    assert str(error.value).startswith(names)


@pytest.mark.parametrize("turns", [0, -1, 2.5, "10", None])
def test_a_run_needs_a_whole_number_of_turns(turns):
    with pytest.raises(InvalidInput, match="turns must be a whole number of at least 1, not"):
        simulate(fb.algorithm("async-linucb"), fb.environment("linear"), turns)


@pytest.mark.parametrize("turns", [10**18, 10**30])
def test_more_turns_than_memory_are_refused(turns):
    with pytest.raises(InvalidInput, match="do not fit into memory: run fewer turns"):
        simulate(fb.algorithm("async-linucb"), fb.environment("linear"), turns)


@pytest.mark.parametrize(
    ("world", "has"),
    [
        (dueling_rounds(seed=0, rounds=2, clients=2, arms=3, dimension=2), "features of each arm and duels"),
        (lasso_rounds(seed=0, rounds=2, clients=2, arms=3, dimension=4), "one context for all arms and rewards"),
    ],
)
@pytest.mark.parametrize("name", ["async-linucb", "sync-linucb", "local-linucb", "pooled-linucb"])
def test_a_world_of_another_kind_is_refused_in_one_sentence(tmp_path, world, has, name):
    with pytest.raises(InvalidInput) as error:
        simulate(fb.algorithm(name), recorded(tmp_path, world), 4)
    assert str(error.value) == (
        f"{name} needs features of each arm and rewards, but recorded has {has}: choose another of the two"
    )


def test_a_trace_of_duels_has_pairs(tmp_path):
    class Pairs(InRounds):
        duels = True

        def build(self, setting):
            sides = super().build(setting)
            single = sides.clients.choose
            sides.clients.choose = lambda *turn: np.stack([single(*turn)] * 2, axis=1)
            return sides

    arrays = dueling_rounds(seed=0, rounds=4, clients=2, arms=3, dimension=2)
    trace, _ = simulate(Pairs(), recorded(tmp_path, arrays), 8)
    assert trace.choice.shape == (8, 2)
    world = Duels(arrays["utility"], arrays["coin"])
    np.testing.assert_array_equal(trace.regret, world.regret(slice(None), trace.choice))
    assert np.isnan(trace.reward).all()
