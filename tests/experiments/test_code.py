"""Kept runs are tied to the code that made them: a changed kernel makes those stale that it takes part in."""

import re
from dataclasses import replace

import pytest

import fedbandit as fb
from fedbandit.experiments import code
from fedbandit.experiments.code import code_of, modules_behind
from fedbandit.experiments.experiment import Experiment, Series

KERNEL = "fedbandit.kernels.linear.turns"
EXPERIMENT = Experiment(
    id="test/code",
    title="One run",
    environment="linear",
    world={"clients": 2, "arms": 3, "dimension": 2, "pool": 10},
    turns=20,
    seeds=1,
    series=(Series("Local", "local-linucb"),),
)


@pytest.fixture
def edited(monkeypatch, tmp_path):
    """A function that edits the source of a module as fingerprints see it."""
    changed = {}

    def unless_changed(cached):
        return lambda module: (cached.__wrapped__ if module in changed else cached)(module)

    def edit(module, change):
        file = tmp_path / f"{module}.py"
        file.write_text(change(source(module).read_text("utf-8")), "utf-8")
        changed[module] = file
        code_of.cache_clear()

    source = code._source
    monkeypatch.setattr(code, "_source", lambda module: changed.get(module) or source(module))
    for name in ("_tree", "_fingerprint", "_imports"):  # what is not edited is read once
        monkeypatch.setattr(code, name, unless_changed(getattr(code, name)))
    yield edit
    monkeypatch.undo()
    code_of.cache_clear()


def last_number_changed(text):
    *_, number = re.finditer(r"\b0\b", text)
    return text[: number.start()] + "1" + text[number.end() :]


def test_a_changed_kernel_changes_the_code_of_who_uses_it_and_of_nobody_else(edited):
    linear, duels = code_of("async-linucb", "linear"), code_of("fldb-gd", "dueling")
    edited(KERNEL, last_number_changed)
    assert code_of("async-linucb", "linear") != linear
    assert code_of("fldb-gd", "dueling") == duels


def test_comments_docstrings_and_blank_lines_change_nothing(edited):
    before = code_of("async-linucb", "linear")
    edited(KERNEL, lambda text: text.replace('"""', '"""More words. ', 1).replace("\n\n\n", "\n\n\n# a remark\n\n"))
    assert code_of("async-linucb", "linear") == before


@pytest.mark.parametrize("module", ["fedbandit.environments.linear", "fedbandit.simulation.in_process",
                                    "fedbandit.protocol.ledger", "fedbandit.wire.codec"])  # fmt: skip
def test_the_world_the_simulator_and_what_counts_bytes_take_part(edited, module):
    before = code_of("async-linucb", "linear")
    edited(module, lambda text: text + "\nMORE = 1\n")
    assert code_of("async-linucb", "linear") != before


def test_runs_kept_from_other_code_are_made_again(edited, tmp_path):
    kept = tmp_path / "kept"
    assert fb.reproduce(EXPERIMENT, kept).cells_run == 1
    assert fb.reproduce(EXPERIMENT, kept).cells_kept == 1
    edited(KERNEL, last_number_changed)
    again = fb.reproduce(EXPERIMENT, kept)
    assert (again.cells_run, again.cells_kept) == (1, 0)


def test_what_draws_and_what_only_type_checkers_see_takes_no_part():
    behind = modules_behind("fedbandit.simulation.run", "fedbandit.algorithms.linear.async_linucb")
    assert KERNEL in behind
    assert not [name for name in behind if "drawing" in name or name.startswith(("fedbandit.cli", "fedbandit.results"))]


def test_an_algorithm_of_another_package_takes_part_with_its_own_modules(tmp_path, monkeypatch):
    package = tmp_path / "mine_of_test_code"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "algorithm.py").write_text("from mine_of_test_code import kernel\nimport json\n")
    (package / "kernel.py").write_text("from fedbandit.kernels.linear import turns\n")
    monkeypatch.syspath_prepend(tmp_path)
    behind = modules_behind("mine_of_test_code.algorithm")
    assert {"mine_of_test_code.kernel", KERNEL} <= behind
    assert "json" not in behind


def test_what_a_notebook_defines_has_no_file_and_is_known_by_its_module_alone():
    assert modules_behind("__main__of_a_notebook") == {"__main__of_a_notebook"}
    assert replace(EXPERIMENT).cells()
