"""What only a first use takes is counted apart from work, and of that only long compiling is told."""

from __future__ import annotations

import itertools
import sys
import time

import numpy as np
import pytest
from numba.core.event import end_event, start_event

from fedbandit.kernels.linear import ridge
from fedbandit.kernels.shared.compile_time import Compiling, Stopwatch
from fedbandit.kernels.shared.compiled import add_seconds, compiled, seconds_starting, starting
from samples.wall_clock import WallClock


@pytest.fixture
def clock(monkeypatch):
    clock = WallClock()
    monkeypatch.setattr(time, "perf_counter", clock)
    monkeypatch.setattr(Compiling, "_has_told", False)
    monkeypatch.setattr(sys.modules[compiled.__module__]._COMPILING, "_finished", 0.0)
    return clock


def take(seconds, clock, *kinds):
    """Let seconds pass within events of numba."""
    for kind in kinds:
        start_event(f"numba:{kind}")
    clock.now += seconds
    for kind in reversed(kinds):
        end_event(f"numba:{kind}")


def test_loading_a_kernel_counts_and_is_not_told(clock, capsys):
    before = seconds_starting()
    take(9, clock, "compiler_lock")
    assert seconds_starting() - before == 9
    assert capsys.readouterr().err == ""


def test_compiling_counts_once_with_all_that_is_within_and_is_told_once_after_a_second(clock, capsys):
    before = seconds_starting()
    take(0.5, clock, "compiler_lock", "compile", "compiler_lock", "compile")
    assert capsys.readouterr().err == ""
    take(0.75, clock, "compiler_lock", "compile")
    take(2, clock, "compiler_lock", "compile")
    assert seconds_starting() - before == 3.25
    assert capsys.readouterr().err.count("compiling") == 1


def test_what_another_compiler_took_counts_and_is_told(clock, capsys):
    before = seconds_starting()
    add_seconds(starting=1.5, compiling=1.5)
    assert seconds_starting() - before == 1.5
    assert capsys.readouterr().err.count("compiling") == 1


def test_what_another_compiler_loaded_counts_and_is_not_told(clock, capsys):
    before = seconds_starting()
    add_seconds(starting=0, compiling=-2.5)  # it tells of loading first, and then of both
    add_seconds(starting=3, compiling=3)
    assert seconds_starting() - before == 3
    assert capsys.readouterr().err == ""


def test_what_another_compiler_took_during_an_import_is_not_counted_twice(clock):
    before = seconds_starting()
    with starting():
        clock.now += 4
        add_seconds(starting=3, compiling=0)
    assert seconds_starting() - before == 4


def test_an_import_that_fails_is_counted_and_no_more(clock):
    before = seconds_starting()

    def fail():
        with starting():
            clock.now += 2
            raise ImportError

    with pytest.raises(ImportError):
        fail()
    clock.now += 5
    assert seconds_starting() - before == 2


def test_the_time_so_far_counts_before_the_end(clock):
    watch = Stopwatch()
    watch.on_start()
    clock.now += 1
    assert watch.seconds == 1


def test_the_first_use_of_a_kernel_is_heard_also_where_it_is_only_loaded_and_a_later_one_is_not(monkeypatch):
    numbers = np.ones(2)
    ridge.dot(numbers, numbers)  # compiled by now, and kept
    monkeypatch.setattr(time, "perf_counter", itertools.count().__next__)  # every look at the clock takes a second
    loaded = compiled(ridge.dot.py_func)
    begun = seconds_starting()
    assert loaded(numbers, numbers) == 2
    heard = seconds_starting()
    assert sum(loaded.stats.cache_hits.values()) == 1
    assert heard > begun
    assert loaded(numbers, numbers) == 2
    assert seconds_starting() == heard
