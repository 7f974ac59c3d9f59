"""When a round has waited long enough."""

from __future__ import annotations

from fedbandit.service.coordinator.round_timer import RoundTimer


def test_a_round_that_was_never_opened_is_never_due():
    timer = RoundTimer(10.0)
    timer.watch(is_open=False, step=0, now=0.0)
    assert timer.left(100.0) is None
    assert not timer.is_due(100.0)


def test_a_round_is_due_after_so_many_seconds_however_often_it_is_looked_at():
    timer = RoundTimer(10.0)
    for now in (0.0, 3.0, 6.0, 9.0):
        timer.watch(is_open=True, step=1, now=now)
        assert not timer.is_due(now)
    assert timer.left(9.0) == 1.0
    assert timer.is_due(10.0)


def test_the_next_step_of_a_round_has_its_own_time():
    timer = RoundTimer(10.0)
    timer.watch(is_open=True, step=1, now=0.0)
    timer.watch(is_open=True, step=2, now=9.0)
    assert not timer.is_due(18.0)
    assert timer.is_due(19.0)


def test_a_round_that_is_closed_is_forgotten():
    timer = RoundTimer(10.0)
    timer.watch(is_open=True, step=1, now=0.0)
    timer.watch(is_open=False, step=2, now=5.0)
    assert timer.left(6.0) is None
    timer.watch(is_open=True, step=2, now=50.0)
    assert timer.left(50.0) == 10.0


def test_without_a_deadline_a_round_waits_for_ever():
    timer = RoundTimer(None)
    timer.watch(is_open=True, step=1, now=0.0)
    assert not timer.is_due(1e9)
