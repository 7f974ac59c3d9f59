"""Kernels that Python runs while their machine code is made ready."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from fedbandit.kernels.linear import turns
from fedbandit.kernels.linear.confidence import Width
from fedbandit.kernels.linear.ridge import invert, multiply
from fedbandit.kernels.linear.ridge_rows import begin, choose, empty_rows, model_of, observe, scratch_for
from fedbandit.kernels.linear.rules import UCB, ScoreRule
from fedbandit.kernels.shared.at_once import SMALL, AtOnce
from fedbandit.kernels.shared.compiled import compiled, interpreted, specialised


def played(choose, observe, seed=3, dimension=5, arms=7, count=60):
    rng = np.random.default_rng(seed)
    rows, scratch = empty_rows(1, dimension), scratch_for(arms, dimension)
    rule = ScoreRule(0.1, Width(0.3, 0.1, 11.0), UCB, timed=False)
    begin(rows, 0, rule.ridge)
    chosen = []
    for _ in range(count):
        offer = rng.standard_normal((arms, dimension))
        arm = choose(model_of(rows), 0, offer, np.empty(0), rule, scratch)
        observe(rows, model_of(rows), 0, offer[arm], rng.standard_normal(), rule, scratch)
        chosen.append(int(arm))
    return chosen, rows


def test_python_and_machine_code_give_the_same_bits():
    machine, plain = played(choose, observe), played(interpreted(choose), interpreted(observe))
    assert machine[0] == plain[0]
    for name, left, right in zip(machine[1]._fields, machine[1], plain[1], strict=True):
        assert left.tobytes() == right.tobytes(), name


def test_python_and_machine_code_invert_to_the_same_bits():
    root = np.random.default_rng(0).standard_normal((6, 6))
    found = [np.empty((6, 6)) for _ in range(2)]
    scratch = scratch_for(0, 6)
    logs = [
        each(root @ root.T, 0.1, into, *scratch)
        for each, into in zip((invert, interpreted(invert)), found, strict=True)
    ]
    assert logs[0] == logs[1]
    assert found[0].tobytes() == found[1].tobytes()


def test_a_first_call_does_not_wait_for_machine_code_and_a_later_one_uses_it():
    gate, calls = threading.Event(), []

    class Slow:
        py_func = staticmethod(lambda number: calls.append("python") or number + 1)

        def compile(self, types):
            gate.wait(10)

        def __call__(self, number):
            calls.append("machine")
            return number + 1

    kernel = AtOnce(Slow(), effort=lambda number: number)
    assert kernel(1) == 2
    gate.set()
    kernel._thread.join()
    assert kernel(2) == 3
    assert calls == ["python", "machine"]


def test_a_call_that_would_take_python_long_waits_for_machine_code():
    kernel = AtOnce(multiply, effort=lambda *_: SMALL + 1)
    out = np.empty(2)
    kernel(np.eye(2), np.array([3.0, 4.0]), out)
    assert out.tolist() == [3.0, 4.0]
    assert not kernel._thread.is_alive()


def test_a_kernel_that_cannot_be_compiled_tells_its_caller(capfd):
    @compiled
    def broken(number):
        return number.nothing_of_the_kind

    kernel = AtOnce(broken, effort=lambda *_: 1)
    with pytest.raises(AttributeError):
        kernel(1.0)  # Python, at once
    kernel._thread.join()
    with pytest.raises(Exception, match="nothing_of_the_kind"):
        kernel(1.0)


def test_one_source_becomes_several_kernels():
    one = specialised(turns.play, "play_for_a_test", choose=choose, observe=observe)
    assert one.py_func.__code__ is turns.RIDGE[UCB].play.py_func.__code__
    assert one.py_func.__qualname__ == "play_for_a_test"


COLD = """
import sys, numpy as np, fedbandit as fb
from fedbandit.kernels.shared.compiled import seconds_starting
result = fb.run("async-linucb", fb.environment("linear", clients=3, arms=3, dimension=2), turns=20)
print(result.seconds, seconds_starting())
"""


@pytest.mark.slow
def test_compiling_is_said_once_on_standard_error_and_neither_it_nor_loading_is_booked_as_work(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    first, second = (
        subprocess.run([sys.executable, "-c", COLD], check=True, capture_output=True, text=True) for _ in range(2)
    )
    assert first.stderr.count("compiling") == 1
    assert second.stderr == ""
    for start in (first, second):
        seconds, starting = map(float, start.stdout.split())
        assert seconds < starting


def test_a_second_thread_that_calls_while_the_first_begins_waits_for_it(monkeypatch):
    told = []

    class Kernel:
        py_func = staticmethod(lambda number: number + 1)

        def compile(self, types):
            pass

        def __call__(self, number):
            return number + 1

    kernel, plain_start = AtOnce(Kernel(), lambda number: 0), threading.Thread.start

    def start(thread):
        """Have another thread call just before this one runs."""
        monkeypatch.undo()
        other = threading.Thread(target=lambda: told.append(kernel(2)))
        other.start()
        other.join(0.2)
        plain_start(thread)
        others.append(other)

    others = []
    monkeypatch.setattr(threading.Thread, "start", start)
    assert kernel(1) == 2
    others[0].join()
    assert told == [3]
