"""Rounds of FN-UCB survive silent sites: they close without them, and nothing that was observed is lost.

Every site is a cohort of its own, and what it sends travels as bytes.
"""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.deadlines import MeetsDeadlines
from fedbandit.core.turns import Observations
from fedbandit.kernels.neural import subspace
from fedbandit.wire import decode, encode
from reference.networks import Symmetric

pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")

SITES, ARMS, DIMENSION, WIDTH = 3, 3, 2, 8
SMALL = {"width": WIDTH, "train_steps": 2, "precision": "float64", "weight": "theory"}
WHO = np.zeros(1, dtype=np.int64)


class Room:
    """Sites and a server whose messages wait until somebody delivers them."""

    def __init__(self, name="fn-ucb-less", **changes):
        setting = fb.Setting(SITES, ARMS, DIMENSION, 20)
        self.clients, self.server, _ = fb.algorithm(name, **SMALL, **changes).build(setting)
        self.sites = [self.clients.start(1) for _ in range(SITES)]
        self.state = self.server.start(SITES)
        self.up = [[] for _ in range(SITES)]
        self.down = [[] for _ in range(SITES)]
        self.rng = np.random.default_rng(1)
        self.network = self.clients.rounds.network
        self.literal = Symmetric(DIMENSION, WIDTH, 1)
        self.moment = np.zeros(self.network.parameters)
        self.features = []

    def turn(self, site):
        """One site chooses, observes and learns."""
        arms, reward = self.rng.standard_normal((1, ARMS, DIMENSION)), self.rng.standard_normal(1)
        choice = self.clients.choose(self.sites[site], WHO, arms, np.empty((1, 0)))
        gradient = self.literal.value_and_gradient(arms[0, choice[0]], self.network.initial)[1]
        feature = gradient / np.sqrt(WIDTH)
        self.moment += reward[0] * feature
        self.features.append(feature)
        self._send(site, self.clients.learn(self.sites[site], WHO, Observations(arms, choice, reward)))

    def deliver_up(self, site):
        """The server gets the next message of a site, and what it answers waits for those that it is for."""
        upload = decode(self.up[site].pop(0))
        self._broadcast(self.server.receive(self.state, np.array([site]), upload))
        return upload

    def deliver_down(self, site):
        """A site gets the next message of the server."""
        download = decode(self.down[site].pop(0))
        self._send(site, self.clients.receive(self.sites[site], WHO, download))
        return download

    def deadline(self):
        """The server has waited long enough."""
        self._broadcast(self.server.deadline(self.state))

    def calm_down(self, *silent):
        """Deliver everything but what the silent say and hear, until nothing is under way."""
        talking = [site for site in range(SITES) if site not in silent]
        while any(self.up[site] or self.down[site] for site in talking):
            for site in talking:
                if self.up[site]:
                    self.deliver_up(site)
                if self.down[site]:
                    self.deliver_down(site)

    def awaited(self):
        """The sites for which the server waits."""
        return self.server.awaited(self.state).tolist()

    def assert_the_server_has_it_all(self):
        """B_sync and the diagonal of W_sync are the sums over all that was observed."""
        assert not self.state.shares
        moment = subspace.write_vector(self.network, self.state.moment)[0]
        np.testing.assert_allclose(moment, self.moment, atol=1e-12)
        diagonal = subspace.write_diagonal(self.network, self.state.whole.gram.diagonal)[0]
        np.testing.assert_allclose(diagonal, np.square(self.features).sum(axis=0), atol=1e-12)

    def _send(self, site, outgoing):
        self.up[site] += [encode(each.message) for each in outgoing]

    def _broadcast(self, outgoing):
        for each in outgoing:
            for site in each.clients.tolist():
                self.down[site].append(encode(each.message))


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("name", ["fn-ucb", "fn-ucb-less"])
def test_a_round_goes_on_without_a_silent_site_whose_observations_count_when_they_come(name, diagonal):
    room = Room(name, diagonal=diagonal)
    assert isinstance(room.server, MeetsDeadlines)
    for site in range(SITES):
        room.turn(site)
    room.calm_down(2)
    assert room.awaited() == [2]
    room.deadline()
    assert room.awaited() == []
    room.calm_down(2)
    assert room.state.attendance.missed.tolist() == [0, 0, 1]
    assert [bool(site.heard[0]) for site in room.sites] == [True, True, False]
    room.calm_down()
    assert room.awaited() == [], "a late answer opens no round"
    assert room.state.version == 1
    room.assert_the_server_has_it_all()
    for site in range(SITES):
        room.turn(site)
    room.calm_down()
    assert room.state.attendance.missed.tolist() == [0, 0, 1]
    room.assert_the_server_has_it_all()
    for site in room.sites[1:]:
        np.testing.assert_array_equal(site.pooled, room.sites[0].pooled)
        np.testing.assert_array_equal(site.thetas, room.sites[0].thetas)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("name", ["fn-ucb", "fn-ucb-less"])
def test_averages_are_over_those_who_have_answered(name, diagonal):
    room = Room(name, diagonal=diagonal)
    room.turn(0)
    room.deliver_up(0)
    for site in range(SITES):
        room.deliver_down(site)
    answers = [room.deliver_up(site) for site in (0, 2)]
    room.deadline()
    told = room.deliver_down(1)
    np.testing.assert_allclose(told.weights, np.mean([each.weights[0] for each in answers], axis=0), atol=1e-14)
    assert told.ratio == min(each.ratio[0] for each in answers)
    norm = room.literal.value_and_gradient(np.array([0.3, -0.8]), room.network.initial)[1]
    inverses = [np.diag(each.inverse[0]) if diagonal else each.inverse[0] for each in answers]
    if name == "fn-ucb-less":
        sent, expected = [np.diag(told.inverse) if diagonal else told.inverse], [np.mean(inverses, axis=0)]
    else:
        sent, expected = [np.diag(each) if diagonal else each for each in told.inverse], inverses
        assert len(sent) == SITES
    in_subspace = [subspace.read_matrix(room.network, each) for each in (*sent, *expected)]
    seen = subspace.read_vector(room.network, norm)
    assert seen.any()
    lengths = np.sqrt([max(0.0, seen @ each @ seen) for each in in_subspace])
    np.testing.assert_allclose(lengths[: len(sent)].mean(), lengths[len(sent) :].mean(), atol=1e-7)


def test_where_nobody_has_answered_all_are_called_again_and_answers_to_both_calls_count_once():
    room = Room()
    for site in range(SITES):
        room.turn(site)
        room.deliver_up(site)
    assert room.awaited() == [0, 1, 2]
    room.deadline()
    assert room.awaited() == [0, 1, 2]
    assert [len(each) for each in room.down] == [2, 2, 2]
    for site in range(SITES):
        while room.down[site]:
            room.deliver_down(site)
        room.up[site].reverse()
    room.calm_down()
    assert room.state.version == 1
    room.assert_the_server_has_it_all()


def test_a_site_that_was_not_called_in_time_keeps_what_it_has_for_the_next_round():
    room = Room()
    for site in range(SITES):
        room.turn(site)
    room.calm_down(2)
    room.deadline()
    room.down[2] = room.down[2][-1:]  # what is newer supersedes the call
    room.calm_down()
    assert room.sites[2].unsent.tolist() == [1]
    for site, known in ((0, 2), (2, 3)):  # site 2 knows its own observation besides those of the others
        features = subspace.read_vector(room.network, np.array(room.features[:known]))
        exact = np.linalg.inv(0.1 * np.eye(features.shape[1]) + features.T @ features)
        np.testing.assert_allclose(room.sites[site].pooled[0], exact, atol=1e-10)
    room.turn(2)
    room.calm_down()
    room.assert_the_server_has_it_all()
    assert room.sites[2].unsent.tolist() == [0]
