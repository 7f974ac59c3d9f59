"""Rounds of the dueling family survive silent clients: they close without them, and nothing that was learnt is lost."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.deadlines import MeetsDeadlines
from fedbandit.core.turns import Observations

CLIENTS, ARMS, DIMENSION = 3, 4, 2
EVERYONE = np.arange(CLIENTS)


class Room:
    """Clients and a server whose messages wait until somebody delivers them."""

    def __init__(self, name, seed):
        setting = fb.Setting(CLIENTS, ARMS, DIMENSION, 50)
        self.clients, self.server, _ = fb.algorithm(name).build(setting)
        self.known, self.state = self.clients.start(CLIENTS), self.server.start(CLIENTS)
        self.up = [[] for _ in EVERYONE]
        self.down = [[] for _ in EVERYONE]
        self.duels = np.zeros((DIMENSION, DIMENSION))
        self.rng = np.random.default_rng(seed)

    def turn(self, client):
        """One client chooses, sees who wins, and learns."""
        who = np.array([client])
        arms = self.rng.integers(-16, 17, (1, ARMS, DIMENSION)) / 16
        choice = self.clients.choose(self.known, who, arms, np.empty((1, 0)))
        difference = arms[0, choice[0, 0]] - arms[0, choice[0, 1]]
        self.duels += np.outer(difference, difference)
        won = np.array([float(self.rng.random() < 0.5)])
        self._send(self.clients.learn(self.known, who, Observations(arms, choice, won)))

    def deliver_up(self, client):
        """The server gets the next message of a client."""
        self._broadcast(self.server.receive(self.state, np.array([client]), self.up[client].pop(0)))

    def deliver_down(self, client):
        """A client gets the next message of the server."""
        self._send(self.clients.receive(self.known, np.array([client]), self.down[client].pop(0)))

    def deadline(self):
        """The server has waited long enough."""
        self._broadcast(self.server.deadline(self.state))

    def calm_down(self, silent=()):
        """Deliver everything but what the silent say, until nothing is under way."""
        talking = [client for client in EVERYONE if client not in silent]
        while any(self.up[client] or self.down[client] for client in talking):
            for client in talking:
                if self.up[client]:
                    self.deliver_up(client)
                if self.down[client]:
                    self.deliver_down(client)

    def taken_in(self):
        """Return the sum of z z^T that the server holds, in use or waiting."""
        prior = self.server.rule.prior * np.eye(DIMENSION)
        return self.state.information - prior + self.state.new_information.rows.sum(axis=0)

    def _send(self, outgoing):
        for each in outgoing:
            for place, client in enumerate(each.clients.tolist()):
                self.up[client].append(each.message.rows(np.array([place])))

    def _broadcast(self, outgoing):
        for each in outgoing:
            for client in each.clients.tolist():
                self.down[client].append(each.message)


@pytest.mark.parametrize("name", ["fldb-ogd", "fldb-gd"])
def test_a_round_goes_on_without_a_silent_client_whose_duels_count_when_they_come(name):
    room = Room(name, seed=1)
    assert isinstance(room.server, MeetsDeadlines)
    assert room.server.awaited(room.state).size == 0
    for client in EVERYONE:
        room.turn(client)
    room.calm_down(silent=[2])
    before = np.array(room.known.estimate)
    while room.server.awaited(room.state).size:
        assert room.server.awaited(room.state).tolist() == [2]
        room.deadline()
        room.calm_down(silent=[2])
    assert (room.known.estimate[:2] != before[:2]).any(), "the others have learnt"
    missed = room.state.attendance.missed + room.state.questions.missed
    assert missed.tolist()[:2] == [0, 0]
    assert missed[2] >= 1
    room.calm_down()
    assert room.server.awaited(room.state).size == 0, "a late upload opens no round"
    for client in EVERYONE:
        room.turn(client)
    room.calm_down()
    np.testing.assert_allclose(room.taken_in(), room.duels, atol=1e-12)
    np.testing.assert_array_equal(room.known.estimate, np.tile(room.known.estimate[0], (CLIENTS, 1)))


@pytest.mark.parametrize("name", ["fldb-ogd", "fldb-gd"])
@pytest.mark.parametrize("seed", range(25))
def test_whoever_is_ahead_late_or_silent_every_duel_counts_once(name, seed):
    room = Room(name, seed)
    for _ in range(300):
        client = int(room.rng.integers(CLIENTS))
        event = room.rng.random()
        if event < 0.1:
            room.turn(client)
        elif event < 0.13:
            room.deadline()
        elif event < 0.55 and room.up[client]:
            room.deliver_up(client)
        elif room.down[client]:
            room.deliver_down(client)
    room.calm_down()
    for _ in range(100):
        if not room.server.awaited(room.state).size:
            break
        room.deadline()
        room.calm_down()
    np.testing.assert_allclose(room.taken_in(), room.duels, atol=1e-12)
    assert np.isfinite(room.known.estimate).all()


def test_an_answer_to_an_old_question_is_not_taken_for_one_to_the_new():
    room = Room("fldb-gd", seed=3)
    for client in EVERYONE:
        room.turn(client)
        room.deliver_up(client)
    for client in EVERYONE:
        room.deliver_down(client)
    room.deliver_up(0)
    room.deadline()  # the next question is asked without the others' answers to the first
    room.deliver_up(1)
    assert room.state.questions.answered.tolist() == [False, False, False]
