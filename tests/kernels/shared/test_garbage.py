"""Garbage is looked for as before once a kernel is compiled, whatever came of it."""

import gc

import numba
import pytest
from numba.core import event


class Looking(event.Listener):
    """Notes at the start and the end of each compilation whether garbage is looked for."""

    def __init__(self):
        self.at_start, self.at_end = [], []

    def on_start(self, _):
        self.at_start.append(gc.isenabled())

    def on_end(self, _):
        self.at_end.append(gc.isenabled())


@pytest.fixture
def looking():
    """A listener that hears of each event after the package does."""
    with event.install_listener("numba:compile", Looking()) as listener:
        yield listener


def next_number(number):
    return number + 1


def test_no_garbage_is_looked_for_until_the_outermost_kernel_is_compiled(looking):
    inner = numba.njit(next_number)
    assert numba.njit(lambda number: 2 * inner(number))(1) == 4
    assert looking.at_start == [False, False]
    assert looking.at_end == [False, True]
    assert gc.isenabled()


def test_it_is_looked_for_again_after_a_kernel_that_cannot_be_compiled(looking):
    with pytest.raises(numba.TypingError):
        numba.njit(lambda number: number.no_such_thing)(1)
    assert looking.at_start[0] is False
    assert gc.isenabled()


def test_a_program_that_looks_for_none_is_left_alone(looking):
    gc.disable()
    try:
        assert numba.njit(next_number)(1) == 2
        assert looking.at_end == [False]
        assert not gc.isenabled()
    finally:
        gc.enable()
