"""With `smallest_upload` the linear family waits, and otherwise does what the literal transcription does."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from algorithms.linear import test_async_linucb_am as am
from algorithms.linear import test_clustered_linucb as clustered
from algorithms.linear.played import assert_same, play
from fedbandit.simulation.in_process import simulate
from reference import linear
from reference.am import async_linucb_am
from reference.clusters import clustered_linucb, grouped_turns
from reference.fedlinucb import fedlinucb
from reference.lean import lean_linucb
from reference.recorded import linear_turns, personal_turns
from samples.worlds import recorded

SIZES = {"turns": 400, "clients": 6, "arms": 5, "dimension": 4}
EXACT = {"precision": "float64", "upload_threshold": 1.2, "download_threshold": 1.5}
LITERAL = {
    "async-linucb": (linear.async_linucb, {"upload_threshold": 1.2, "download_threshold": 1.3}),
    "sync-linucb": (linear.sync_linucb, {"sync_threshold": 0.3}),
    "fedlinucb": (fedlinucb, {"upload_threshold": 1.2}),
    "lean-linucb": (lean_linucb, EXACT),
}
SUMS = ("async-linucb", "async-linucb-am", "clustered-linucb", "fedlinucb", "lean-linucb", "sync-linucb")


def with_zero_arms(world, every=3):
    """The same turns, of which some offer nothing but zero arms."""
    world["arms"][::every] = 0.0
    return world


@pytest.mark.parametrize("smallest_upload", [2, 9])
@pytest.mark.parametrize("name", LITERAL)
def test_it_equals_the_transcription(tmp_path, name, smallest_upload):
    literal, chosen = LITERAL[name]
    world = with_zero_arms(linear_turns(seed=3, skew=0.7, **SIZES))
    parameters = {**chosen, "smallest_upload": smallest_upload}
    played = play(tmp_path, world, name, **parameters)
    parameters.pop("precision", None)
    assert_same(*played, literal(world, **parameters))


@pytest.mark.parametrize("global_dimension", [2, 4])
def test_so_does_the_global_part_where_clients_differ(tmp_path, global_dimension):
    world = personal_turns(seed=2, skew=0.7, **SIZES, global_dimension=global_dimension)
    world["arms"][::3, :, :global_dimension] = 0.0  # of the shared features alone: the personal ones tell something
    chosen = {"upload_threshold": 1.2, "global_dimension": global_dimension, "smallest_upload": 12}
    am.agree(recorded(tmp_path, world), async_linucb_am(world, **chosen), chosen)


@pytest.mark.parametrize("smallest_upload", [2, 9])
def test_so_do_clients_in_groups(tmp_path, smallest_upload):
    world = with_zero_arms(grouped_turns(seed=1, groups=2, **SIZES))
    chosen = {"upload_threshold": 1.3, "download_threshold": 2.0, "smallest_upload": smallest_upload}
    clustered.assert_same(*clustered.play(tmp_path, world, **chosen), clustered_linucb(world, **chosen))


@pytest.mark.parametrize("name", SUMS)
def test_no_upload_rests_on_fewer_and_all_that_is_learnt_is_somewhere(name):
    """Conservation is exact: features and rewards are multiples of 1/16, whose sums round nowhere."""
    observations, sums = exchanged(name, smallest_upload=7)
    told = [each for each in observations if each]
    assert len(told) > 5
    assert min(told) >= 7
    assert (sums["server"] + sums["kept"] == sums["seen"]).all()


def exchanged(name, **parameters):
    """How many observations each upload of a run by hand rests on, and where x x^T of all that was seen is."""
    rng = np.random.default_rng(0)
    shape = {"dimension": 3, "clients": 3, **parameters}
    if name in ("async-linucb", "async-linucb-am", "lean-linucb", "fedlinucb", "clustered-linucb"):
        shape["upload_threshold"] = 1.0
    if name == "lean-linucb":
        shape["precision"] = "float64"
    if name == "async-linucb-am":
        shape["shared_features"] = True
    clients = [fb.Client(name, number=number, **shape) for number in range(3)]
    server = fb.Server(name, **shape)
    observations, seen = [], np.zeros((3, 3))
    waiting = []
    for turn in range(150):
        client = clients[turn % 3]
        waiting += client.ask()
        arms = rng.integers(-8, 9, (4, 3)) / 16
        arm = client.choose(arms)
        seen += np.outer(arms[arm], arms[arm])
        waiting += client.learn(float(rng.integers(0, 17)) / 16)
        while waiting:
            envelope = waiting.pop(0)
            if hasattr(envelope.message, "observations"):
                observations.append(int(envelope.message.observations[0]))
            for answer in server.receive(envelope):
                waiting += [more for each in clients for more in each.receive(answer)]
    kept = sum(each.node.state.rows.new_gram.sum(axis=0) for each in clients)
    gram = server.node.state.told.gram.sum(axis=0) if name == "clustered-linucb" else server.node.state.gram
    return observations, {"server": gram, "kept": kept, "seen": seen}


def test_a_trigger_that_a_download_has_made_false_is_owed_nobody():
    """The site has passed its threshold, but not its number; then a download makes its own part small beside it."""
    site = fb.Client("async-linucb", dimension=1, smallest_upload=3, upload_threshold=2.0)
    other = fb.Client("async-linucb", number=1, clients=2, dimension=1, upload_threshold=1.0)
    server = fb.Server("async-linucb", dimension=1, clients=2, download_threshold=1.0)
    for _ in range(2):
        site.choose(np.ones((1, 1)))
        for envelope in site.learn(1.0):
            server.receive(envelope)
    downloads = []
    for _ in range(9):
        other.choose(np.ones((1, 1)))
        for envelope in other.learn(1.0):
            downloads += server.receive(envelope)
    for answer in downloads:
        site.receive(answer)
    site.choose(np.ones((1, 1)))
    assert not site.learn(1.0)
    assert site.node.state.rows.fresh[0] == 3


@pytest.mark.parametrize("name", ["async-linucb", "lean-linucb", "fedlinucb"])
def test_what_a_restart_has_made_nothing_of_counts_no_more(name):
    algorithm = fb.algorithm(name, smallest_upload=5, restart_quorum=1)
    clients = algorithm.federation(fb.Setting(clients=1, arms=2, dimension=2, horizon=9)).clients
    state = clients.start(1)
    clients.settle(state, 0)
    state.rows.fresh[0] = state.rows.telling[0] = 4
    clients.age(state, 0.0)
    assert state.rows.telling[0] == 0


def test_messages_and_choices_without_it_are_those_of_one(tmp_path):
    world = recorded(tmp_path, linear_turns(seed=5, **SIZES))
    for name in SUMS:
        plain, _ = simulate(fb.algorithm(name), world, 400)
        one, _ = simulate(fb.algorithm(name, smallest_upload=1), world, 400)
        assert (plain.choice == one.choice).all()
        assert (plain.bytes == one.bytes).all()


@pytest.mark.parametrize("value", [0, -3, 2.5, "many"])
def test_a_number_that_is_none_is_refused_in_one_sentence(value):
    with pytest.raises(fb.InvalidInput, match="smallest_upload must be"):
        fb.algorithm("async-linucb", smallest_upload=value)


@pytest.mark.parametrize("name", ["pooled-linucb", "local-linucb", "fedego-lasso"])
def test_where_no_sums_travel_there_is_no_such_parameter(name):
    with pytest.raises(fb.InvalidInput, match="has no parameter 'smallest_upload'"):
        fb.algorithm(name, smallest_upload=2)
