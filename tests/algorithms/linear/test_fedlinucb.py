"""FedLinUCB chooses and communicates as the literal transcription does, and keeps its invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from algorithms.linear.played import assert_same, play
from fedbandit.core.randomness import ClientStreams
from reference.fedlinucb import fedlinucb, paper_width
from reference.linear_ends import pooled_linucb
from reference.recorded import linear_turns
from samples.bag import Bag, steps

SKEWED = {"seed": 1, "turns": 400, "clients": 70, "arms": 4, "dimension": 3, "skew": 1.0}  # more than first rows


@pytest.mark.parametrize("use_own", [False, True])
@pytest.mark.parametrize("upload_threshold", [1.0, 1.2, 2.0, 11.0, np.inf])
def test_it_equals_the_transcription(tmp_path, upload_threshold, use_own):
    world = linear_turns(**SKEWED)
    parameters = {"upload_threshold": upload_threshold, "use_own": use_own}
    assert_same(*play(tmp_path, world, "fedlinucb", **parameters), fedlinucb(world, **parameters))


@pytest.mark.parametrize("exploration", ["thompson", "perturbed"])
@pytest.mark.parametrize("use_own", [False, True])
def test_sampling_equals_the_transcription(tmp_path, exploration, use_own):
    world = linear_turns(seed=6, turns=400, clients=8, arms=6, dimension=5, skew=1.0)
    draws = ClientStreams(seed=0).normals(world["client"], 5)
    literal = fedlinucb(world, exploration=exploration, draws=draws, use_own=use_own)
    assert_same(*play(tmp_path, world, "fedlinucb", exploration=exploration, use_own=use_own), literal)


@pytest.mark.parametrize(
    "parameters",
    [
        {"ridge": 5.0},
        {"alpha": 0.3},
        {"bound": "paper"},
        {"bound": "paper", "horizon": 7, "use_own": True},
        {"bound": "paper", "upload_threshold": np.linspace(1.0, 3.0, 8)},
        {"bound": "paper", "alpha": 0.2, "upload_threshold": 1.0},
    ],
)
def test_every_parameter_of_the_width_does_what_it_says(tmp_path, parameters):
    world = linear_turns(seed=7, turns=300, clients=8, arms=6, dimension=5)
    assert_same(*play(tmp_path, world, "fedlinucb", **parameters), fedlinucb(world, **parameters))


def test_a_site_has_the_width_of_the_largest_threshold_of_all():
    thresholds = (1.1, 3.0, 2.0)
    sizes = {"clients": 3, "arms": 2, "dimension": 4, "horizon": 100}
    algorithm = fb.algorithm("fedlinucb", bound="paper", upload_threshold=thresholds)
    sides = [algorithm.for_client(each).build(fb.Setting(**sizes)).clients for each in range(3)]
    expected = paper_width(3, 4, 100, ridge=0.1, noise=0.1, delta=0.1, upload_threshold=thresholds)
    assert [side.rule.width.base for side in sides] == pytest.approx([expected] * 3)
    assert [side.thresholds[0] for side in sides] == pytest.approx(np.log(thresholds))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"upload_threshold": 1}, "upload_threshold=1 has no width with bound=paper: give a greater threshold"),
        ({"upload_threshold": np.inf}, "upload_threshold=inf has no width with bound=paper: give a finite threshold"),
        ({}, "bound=paper needs the number of turns of all clients: give horizon"),
    ],
)
def test_a_width_that_cannot_be_is_refused_in_one_sentence(parameters, sentence):
    with pytest.raises(fb.InvalidInput, match=sentence):
        fb.Site("fedlinucb", dimension=3, bound="paper", horizon=2 if parameters else 1, **parameters)


@pytest.mark.parametrize("use_own", [False, True])
def test_one_client_that_uploads_every_turn_is_the_pooled_bandit(tmp_path, use_own):
    world = linear_turns(seed=3, turns=150, clients=1, arms=3, dimension=2)
    trace, _ = play(tmp_path, world, "fedlinucb", upload_threshold=1, use_own=use_own)
    assert trace.choice.tolist() == pooled_linucb(world)["arm"].tolist()


def test_choices_do_not_depend_on_others_that_never_upload(tmp_path):
    world = linear_turns(seed=4, turns=300, clients=4, arms=5, dimension=3)
    thresholds = [1.1, np.inf, np.inf, np.inf]
    together, _ = play(tmp_path, world, "fedlinucb", upload_threshold=thresholds)
    mine = world["client"] == 0
    alone = {name: array[mine] for name, array in world.items()}
    apart, _ = play(tmp_path, alone, "fedlinucb", upload_threshold=1.1)
    assert together.choice[mine].tolist() == apart.choice.tolist()


class Network(Bag):
    """What each client has seen, exactly: multiples of 1/16."""

    def __init__(self, clients, seed, **parameters):
        super().__init__(fb.algorithm("fedlinucb", **parameters), fb.Setting(clients, 3, 3, 1), seed)
        self.gram, self.moment = np.zeros((3, 3)), np.zeros(3)

    def world(self):
        return self.rng.integers(-16, 17, (1, 3, 3)) / 16, self.rng.integers(-16, 17, 1) / 16

    def seen(self, chosen, reward):
        self.gram += np.outer(chosen, chosen)
        self.moment += reward * chosen


@settings(max_examples=60)
@given(actions=steps(4, most=60), seed=st.integers(0, 2**16), use_own=st.booleans())
def test_however_late_messages_are_nothing_is_lost_or_doubled(actions, seed, use_own):
    network = Network(4, seed, upload_threshold=1.2, use_own=use_own)
    network.run(actions)
    on_the_way = [each.message.gram[0] for each in network.bag if each.is_upload]
    uploads_sent = int(network.clients.sent.sum())
    network.drain()
    state, server = network.clients.state, network.server.state
    assert (server.gram + state.rows.new_gram[: state.used[0]].sum(axis=0) == network.gram).all()
    assert (server.moment + state.rows.new_moment[: state.used[0]].sum(axis=0) == network.moment).all()
    assert server.version == uploads_sent
    assert network.server.sent == uploads_sent, "messages = 2 * uploads"
    assert len(on_the_way) <= 60


def test_while_its_upload_is_on_the_way_a_client_sends_no_other_and_loses_nothing():
    network = Network(2, seed=0, upload_threshold=1.0)
    network.turn(1)
    network.turn(1)
    network.turn(1)
    assert len(network.bag) == 1
    network.drain()
    network.turn(1)
    (second,) = network.bag
    assert second.message.observations.tolist() == [3]
    network.drain()
    assert (network.server.state.gram == network.gram).all()
