"""The servers of private-linucb refuse what no honest client releases; what is late or repeated does no harm."""

import numpy as np
import pytest

import fedbandit as fb
from algorithms.linear.played import play
from algorithms.linear.test_private_linucb import world
from fedbandit.algorithms.linear.shared import private_servers
from fedbandit.algorithms.linear.shared.private_messages import Prefix
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError


def release(side, state, number=1, observations=None, stream=0, shift=0.0, moment=0.0):
    """A release of the noise of which is nothing, or as it is shifted."""
    count = 50 * number if observations is None else observations
    size = side.noised.dimension
    gram = np.eye(size)[None] * np.round(count / size) + shift
    return Prefix(
        gram, np.full((1, size), moment), np.array([number]), np.array([count]), np.array([stream], dtype=np.int64)
    )


def server(**more):
    """A server side, and its state after release 2 of client 0."""
    algorithm = fb.algorithm("private-linucb", **{"epsilon": 1.0, "releases": 4} | more)
    side = algorithm.build(fb.Setting(clients=2, arms=3, dimension=3, horizon=10)).server
    state = side.start(2)
    side.receive(state, np.array([0]), release(side, state, 2))
    return side, state


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"number": 5}, "release 5 of a stream that has 4"),
        ({"number": 3, "observations": 2}, "release 3 over 2 observations: each has at least one more"),
        ({"number": 3, "shift": 2.0**-22}, "sums that are not on the grid: they were not made by rounding"),
        ({"number": 3, "shift": 4096.0}, "eigenvalues from 50 to 12338: with 150 observations of length 1"),
        ({"number": 3, "moment": 4096.0}, "the moment is longer than"),
        (
            {"number": 3, "observations": 60},
            "release 3 over 60 observations, and release 2 over 100: counts do not fall",
        ),
        ({"number": 1, "observations": 160}, "release 1 over 160 observations, and release 2 over 100: counts do not"),
        ({"number": 2, "observations": 99}, "release 2 over 99 observations, and release 2 over 100: counts do not"),
        ({"number": 2, "shift": 1.0}, "another release 2: it was told before, with other noise"),
    ],
)
def test_releases_that_no_honest_client_makes_are_refused(bad, sentence):
    side, state = server()
    with pytest.raises(ProtocolError) as error:
        side.check(state, 0, release(side, state, **bad), Bounds(), 100)
    assert str(error.value).startswith(sentence)


def test_a_trace_that_observations_cannot_have_is_refused():
    side, state = server(epsilon=1000.0)
    message = release(side, state, 3)
    with pytest.raises(ProtocolError, match="the trace is 180, more than 150 observations and this noise can have"):
        side.check(state, 0, Prefix(message.gram * 1.2, *list(vars(message).values())[1:]), Bounds(), 100)


def test_a_late_release_and_a_repeated_one_change_nothing_and_another_stream_is_a_summand_of_its_own():
    side, state = server(schedule="own-count")
    for number in (1, 2):
        side.check(state, 0, release(side, state, number), Bounds(), 100)
        (answer,) = side.receive(state, np.array([0]), release(side, state, number))
        np.testing.assert_array_equal(answer.message.gram, state.gram[0])
    (answer,) = side.receive(state, np.array([0]), release(side, state, 1, stream=7))
    assert state.stream.tolist() == [0, 7]
    np.testing.assert_array_equal(answer.message.gram, state.gram.sum(axis=0))
    assert answer.message.variance[0] == pytest.approx(side.noised.variance(1) + side.noised.variance(2))


def test_honest_releases_pass_the_checks(tmp_path, monkeypatch):
    seen = []
    keep = private_servers.PrivateServer._keep

    def checked(self, state, client, message, each):
        self.check(state, client, message.rows(slice(each, each + 1)), Bounds(), 0)
        seen.append(client)
        return keep(self, state, client, message, each)

    monkeypatch.setattr(private_servers.PrivateServer, "_keep", checked)
    for seed in range(3):
        play(tmp_path, world(seed=seed), "private-linucb", epsilon=2.0, batch=5, releases=16)
    assert len(seen) > 50
