"""A round waits for all who take part, goes on without the silent, and remembers whom it left out."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.algorithms.attendance import Attendance, nobody_yet

CLIENTS = 4


def some(*clients):
    return np.array(clients, dtype=np.int64)


@pytest.fixture
def attendance():
    return nobody_yet(CLIENTS)


def test_the_first_answer_opens_a_round_and_the_last_completes_it(attendance):
    assert not attendance.is_open
    assert attendance.awaited().tolist() == []
    attendance.answer(some(2))
    assert attendance.is_open
    assert not attendance.is_complete
    assert attendance.awaited().tolist() == [0, 1, 3]
    attendance.answer(some(0, 1, 3))
    assert attendance.is_complete
    attendance.close()
    assert not attendance.is_open
    assert attendance.missed.tolist() == [0] * CLIENTS


def test_a_round_that_the_server_opens_waits_for_all(attendance):
    attendance.open()
    assert attendance.is_open
    assert attendance.awaited().tolist() == [0, 1, 2, 3]


def test_a_late_answer_opens_no_round_and_the_next_one_of_its_sender_does(attendance):
    attendance.answer(some(0, 1, 2))
    attendance.close()
    assert attendance.missed.tolist() == [0, 0, 0, 1]
    attendance.answer(some(3))
    assert not attendance.is_open
    attendance.answer(some(3))
    assert attendance.awaited().tolist() == [0, 1, 2]


def test_who_was_late_answers_in_time_where_a_round_is_open(attendance):
    attendance.answer(some(0, 1, 2))
    attendance.close()
    attendance.open()
    attendance.answer(some(3))
    assert attendance.answered.tolist() == [False, False, False, True]
    assert not attendance.late.any()


def test_the_next_round_counts_who_missed_the_one_before(attendance):
    attendance.open_next()
    assert attendance.missed.tolist() == [0] * CLIENTS, "no round was open before"
    attendance.answer(some(1))
    attendance.open_next()
    assert attendance.missed.tolist() == [1, 0, 1, 1]
    assert attendance.is_open
    assert attendance.awaited().tolist() == [0, 1, 2, 3]


def test_who_is_dismissed_takes_no_part_until_a_round_is_closed(attendance):
    attendance.open()
    attendance.answer(some(0, 2))
    attendance.dismiss_silent()
    assert attendance.is_complete
    attendance.open_next()
    assert attendance.awaited().tolist() == [0, 2]
    attendance.answer(some(0, 2))
    assert attendance.is_complete
    attendance.close()
    assert attendance.missed.tolist() == [0, 1, 0, 1], "each is counted once"
    attendance.open()
    assert attendance.awaited().tolist() == [0, 1, 2, 3]


def test_a_record_of_before_there_was_a_roster_waits_for_all():
    nobody = np.zeros(CLIENTS, dtype=np.bool_)
    old = Attendance(nobody, nobody.copy(), np.zeros(CLIENTS, dtype=np.int64))
    old.answer(some(1))
    assert old.awaited().tolist() == [0, 2, 3]
    old.dismiss_silent()
    assert old.is_complete
    old.close()
    assert old.everyone.tolist() == [0, 1, 2, 3]
    assert old.missed.tolist() == [1, 0, 1, 1]
