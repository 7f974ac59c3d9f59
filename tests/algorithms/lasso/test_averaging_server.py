"""The server of Fedego Lasso waits for all, but not for ever, and averages over those who have finished a stage."""

import numpy as np

from fedbandit.algorithms.lasso.fedego_lasso import AveragingServer, TeamworkEstimates


def upload(client, stage, value):
    return np.array([client]), TeamworkEstimates(np.full((1, 2, 3), value), np.array([stage]))


def test_the_server_waits_for_all_and_averages():
    server = AveragingServer(arms=2, dimension=3)
    state = server.start(2)
    assert not server.receive(state, *upload(0, 0, 1.0))
    (broadcast,) = server.receive(state, *upload(1, 0, 3.0))
    assert broadcast.clients.tolist() == [0, 1]
    assert (broadcast.message.estimates == 2.0).all()


def test_a_client_that_runs_ahead_waits_for_the_others_and_old_uploads_are_ignored():
    server = AveragingServer(arms=2, dimension=3)
    state = server.start(2)
    server.receive(state, *upload(0, 0, 1.0))
    assert not server.receive(state, *upload(0, 1, 5.0))
    assert not server.receive(state, *upload(0, 0, 9.0))
    (broadcast,) = server.receive(state, *upload(1, 0, 3.0))
    assert (broadcast.message.estimates == 4.0).all()
    assert broadcast.message.stage == 0
    (broadcast,) = server.receive(state, *upload(1, 1, 3.0))
    assert broadcast.message.stage == 1


def test_a_deadline_sends_the_average_of_those_who_answered():
    server = AveragingServer(arms=2, dimension=3)
    state = server.start(3)
    assert server.awaited(state).size == 0
    assert not server.deadline(state)
    server.receive(state, *upload(0, 0, 1.0))
    server.receive(state, *upload(2, 0, 2.0))
    assert server.awaited(state).tolist() == [1]
    (sent,) = server.deadline(state)
    assert (sent.message.estimates == 1.5).all()
    assert state.attendance.missed.tolist() == [0, 1, 0]


def test_an_answer_after_the_deadline_is_kept_for_the_next_average():
    server = AveragingServer(arms=2, dimension=3)
    state = server.start(2)
    server.receive(state, *upload(0, 0, 1.0))
    server.deadline(state)
    assert not server.receive(state, *upload(1, 0, 5.0))
    assert server.awaited(state).size == 0
    server.receive(state, *upload(0, 1, 1.0))
    assert server.awaited(state).tolist() == [1]
    (sent,) = server.receive(state, *upload(1, 1, 3.0))
    assert (sent.message.estimates == 2.0).all()


def test_who_is_a_stage_ahead_waits_for_the_others_at_once():
    server = AveragingServer(arms=2, dimension=3)
    state = server.start(3)
    for stage in (0, 1):
        server.receive(state, *upload(1, stage, 1.0 + stage))
    server.receive(state, *upload(0, 0, 3.0))
    (sent,) = server.receive(state, *upload(2, 0, 1.0))
    assert (sent.message.stage, sent.message.estimates.max()) == (0, 2.0)
    assert server.awaited(state).tolist() == [0, 2]
    (sent,) = server.deadline(state)
    assert (sent.message.stage, sent.message.estimates.max()) == (1, 2.0)


def test_who_was_left_out_may_be_the_first_to_finish_the_next_stage():
    server = AveragingServer(arms=2, dimension=3)
    state = server.start(2)
    server.receive(state, *upload(0, 0, 1.0))
    server.deadline(state)
    server.receive(state, *upload(1, 1, 3.0))
    assert server.awaited(state).tolist() == [0]
    (sent,) = server.deadline(state)
    assert (sent.message.estimates == 3.0).all()
