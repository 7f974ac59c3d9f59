"""How kernels are compiled, or are not; those that count no references make and return no arrays."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from fedbandit.kernels import linear, shared
from fedbandit.kernels.linear import ridge
from fedbandit.kernels.linear.confidence import thompson_sample
from fedbandit.kernels.linear.rules import IGW, PERTURBED, THOMPSON, UCB
from fedbandit.kernels.linear.turns import RIDGE
from fedbandit.kernels.shared.compiled import borrows, compiled, specialised


def _borrowing() -> Iterator[Any]:
    for package in (linear, shared):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for each in vars(importlib.import_module(module.name)).values():
                if isinstance(each, Dispatcher) and borrows(each) and each.__module__ == module.name:
                    yield each


BORROWING = {f"{each.__module__}.{each.__name__}": each for each in _borrowing()}


@pytest.mark.parametrize("name", BORROWING)
def test_a_borrowing_kernel_names_no_numpy_calls_only_borrowing_kernels_and_returns_numbers(name: str) -> None:
    source = BORROWING[name].py_func
    named = [source.__globals__.get(each) for each in source.__code__.co_names]
    assert np not in named
    assert all(borrows(each) for each in named if isinstance(each, Dispatcher))
    assert source.__annotations__["return"] in {"None", "int", "float", "bool", "tuple[int, int]"}


def test_the_loop_of_turns_borrows_where_choosing_makes_no_arrays() -> None:
    assert borrows(RIDGE[UCB].play)
    assert not any(borrows(RIDGE[exploration].play) for exploration in (THOMPSON, PERTURBED, IGW))


def test_what_calls_a_kernel_that_makes_arrays_counts_references() -> None:
    assert not borrows(specialised(ridge.invert, "invert_otherwise", factorise=thompson_sample))
    assert borrows(specialised(ridge.invert, "invert_alike", factorise=ridge.factorise))


def test_a_kernel_counts_references_unless_it_says_otherwise() -> None:
    assert not borrows(compiled(ridge.dot.py_func))  # type: ignore[attr-defined]


RUNS = """
import fedbandit as fb

small = {"clients": 3, "arms": 4, "dimension": 5}
for algorithm, environment, sizes in (
    ("async-linucb", "linear", small), ("clustered-linucb", "linear", small), ("fldb-gd", "dueling", small),
    ("fedglb-ucb", "logistic", small), ("lasso-bandit", "sparse", {"clients": 3}),
):
    result = fb.run(algorithm, fb.environment(environment, **sizes), turns=60)
    print(algorithm, result.choice.ravel().tolist())
"""


def _chosen(**variables: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", RUNS], env={**os.environ, **variables}, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.long
def test_where_numba_is_told_to_compile_nothing_kernels_run_as_python_and_choose_alike() -> None:
    assert _chosen(NUMBA_DISABLE_JIT="1") == _chosen(NUMBA_DISABLE_JIT="0")


PART = """
from typing import NamedTuple

import numpy as np

from fedbandit.kernels.shared.compiled import compiled


class {name}(NamedTuple):
    numbers: np.ndarray


@compiled
def total(part: {name}) -> float:
    return part.numbers.sum()


result = total({name}(np.ones(3)))
"""


def test_what_an_earlier_version_has_cached_is_not_read_though_a_type_has_another_name_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("Part", "Share"):
        (tmp_path / "changing_kernel.py").write_text(PART.format(name=name), encoding="utf-8")
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, "changing_kernel", raising=False)
        assert importlib.import_module("changing_kernel").result == 3.0
    monkeypatch.delitem(sys.modules, "changing_kernel")
    assert [*(tmp_path / "cache").rglob("*.nbi")], "it was cached"
