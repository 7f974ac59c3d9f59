"""With `smallest_upload` clients of the dueling family send sums of enough duels, as the transcription does."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from algorithms.dueling.test_dueling_family import assert_same, inner_steps, play, world_of
from reference import dueling as reference


def with_equal_arms(world, every=4):
    """The same rounds, in some turns of which all arms are the same: such duels tell nothing."""
    world["arms"][::every] = world["arms"][::every, :1]
    return world


@pytest.mark.parametrize("average", [False, True])
def test_ogd_equals_the_transcription(tmp_path, average):
    world = with_equal_arms(world_of(clients=4))
    chosen = {"period": 6, "average_gradient": average, "smallest_upload": 5, "step_scale": 2.0}
    literal = reference.fldb_ogd(world, **chosen)
    trace, wire = play(tmp_path, world, "fldb-ogd", **chosen)
    assert_same(trace, literal)
    np.testing.assert_allclose(wire.clients.state.estimate[0], literal["theta_sync"], atol=1e-9)
    np.testing.assert_allclose(wire.server.state.information, literal["W_sync"], atol=1e-9)
    assert not inner_steps(trace, literal, 4).any()


@pytest.mark.parametrize("smallest_upload", [2, 7])
def test_gd_equals_the_transcription(tmp_path, smallest_upload):
    world = with_equal_arms(world_of(clients=4))
    literal = reference.fldb_gd(world, smallest_upload=smallest_upload)
    trace, wire = play(tmp_path, world, "fldb-gd", smallest_upload=smallest_upload)
    assert_same(trace, literal)
    np.testing.assert_allclose(wire.server.state.information, literal["W_sync"], atol=1e-9)
    np.testing.assert_allclose(wire.clients.state.estimate[0], literal["theta_sync"], atol=1e-7)


def test_all_gradients_of_a_search_are_over_the_same_duels():
    """A client that has another duel between two probes answers as if it had not."""
    clients, server, rng = [], None, np.random.default_rng(2)
    shape = {"dimension": 2, "clients": 2, "smallest_upload": 3}
    told = []
    for learns in (False, True):
        rng = np.random.default_rng(2)
        clients = [fb.Client("fldb-gd", number=number, horizon=30, **shape) for number in range(2)]
        server = fb.Server("fldb-gd", horizon=30, **shape)
        gradients, waiting = [], []
        for turn in range(6):
            clients[turn % 2].choose(rng.standard_normal((3, 2)))
            waiting += clients[turn % 2].learn(1.0)
        more = np.random.default_rng(3)
        while waiting and len(gradients) < 12:
            envelope = waiting.pop(0)
            if envelope.message.kind == "dueling.gradient":
                gradients.append(envelope.message.gradient)
                if learns and envelope.clients[0] == 0:
                    clients[0].choose(more.standard_normal((3, 2)))
                    clients[0].learn(0.0)
            for answer in server.receive(envelope):
                waiting += [each for client in clients for each in client.receive(answer)]
        told.append(np.array(gradients))
    assert len(told[0]) > 5
    assert (told[0] == told[1]).all()


def test_a_period_of_fewer_rounds_is_refused_in_one_sentence():
    algorithm = fb.algorithm("fldb-ogd", period=5, smallest_upload=8)
    with pytest.raises(fb.InvalidInput, match=r"period=5 is below smallest_upload=8, .*: give period=8 or more"):
        algorithm.build(fb.Setting(clients=2, arms=3, dimension=2, horizon=9))
