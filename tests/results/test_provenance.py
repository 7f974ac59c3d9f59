"""A report says where its numbers come from."""

import subprocess
import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

import fedbandit as fb
from fedbandit.core.environment import Environment
from fedbandit.core.parameters import parameter
from fedbandit.core.version import VERSION
from fedbandit.datasets.files import examples
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series
from fedbandit.results import provenance as module
from fedbandit.results.provenance import NOT_KEPT, commit, made_here, provenance

EXPERIMENT = Experiment(
    id="test/provenance",
    title="Where from",
    environment="linear",
    world={"clients": 4},
    turns=80,
    seeds=7,
    series=(Series("Local", "local-linucb"),),
    quick=Quick(seeds=2, turns=20, world={"clients": 2}),
)


def test_it_names_size_seeds_world_code_versions_and_machine():
    told = provenance(EXPERIMENT, [made_here()] * 3)
    assert (told["size"], told["seeds"], told["world"]) == ("full", "7", "linear (clients=4), 80 turns")
    assert told["code"].startswith(f"fedbandit {VERSION}, ")
    for words in ("Python 3.", "numpy ", "numba "):
        assert words in told["versions"]
    assert " cores" in told["machine"]
    assert "data" not in told, "this world has no files"


def test_runs_of_several_machines_name_them_all_and_old_ones_say_that_nothing_was_kept():
    told = provenance(EXPERIMENT, [{"machine": "a"}, {"machine": "b"}, {"machine": "a"}])
    assert (told["machine"], told["code"]) == ("a; also b", NOT_KEPT)


@pytest.mark.parametrize(("backend", "words"), [("gpu", " cores, NVIDIA H200"), ("cpu", " cores")])
def test_a_machine_names_the_accelerator_that_jax_computes_on(monkeypatch, backend, words):
    device = SimpleNamespace(device_kind="NVIDIA H200")
    jax = SimpleNamespace(default_backend=lambda: backend, devices=lambda: [device])
    monkeypatch.setitem(sys.modules, "jax", jax)
    assert made_here()["machine"].endswith(words)


def test_a_quick_run_says_so_and_what_it_made_smaller():
    told = provenance(EXPERIMENT.quickened(), [])
    assert told["size"].startswith("quick")
    assert (told["seeds"], told["world"]) == ("2", "linear (clients=2), 20 turns")


def test_a_data_set_that_is_not_complete_is_told_with_what_is_missing():
    with examples.folder("magic") as path:
        on_data = replace(
            EXPERIMENT,
            environment="classification",
            world={},
            series=(Series("A", "random", (Point(world={"dataset": "magic", "path": str(path)}, label="a"),)),),
        )
        assert provenance(on_data, [])["data"].startswith("magic: not complete, ")


@pytest.mark.parametrize(
    ("environment", "world", "name"),
    [
        ("classification", {"dataset": "magic"}, "magic"),
        ("recommendation", {}, "lastfm"),
        ("likes", {"dataset": "movielens-100k"}, "movielens-100k"),
        ("warfarin", {}, "warfarin"),
        ("medical-mnist", {}, "medical-mnist"),
    ],
)
def test_every_world_of_data_names_its_set_and_where_it_is(environment, world, name):
    assert fb.environment(environment, path="here", **world).data_set() == (name, "here")


@dataclass(frozen=True)
class Rows(Environment):
    """A world of data that calls its fields what it likes."""

    rows_of: str = parameter("magic", "the data set")
    folder: str = parameter("", "where it is")

    def data_set(self):
        return self.rows_of, self.folder


def of_rows(monkeypatch, **world):
    monkeypatch.setattr(module, "environments", {"rows": Rows})
    return replace(EXPERIMENT, environment="rows", world=world, series=(Series("A", "random", (Point(label="a"),)),))


def test_a_world_of_ones_own_names_its_data_whatever_its_fields_are_called(monkeypatch):
    with examples.folder("magic") as path:
        told = provenance(of_rows(monkeypatch, folder=str(path)), [])
    assert told["data"].startswith("magic: not complete, ")


def test_a_data_set_of_ones_own_is_named_though_nobody_knows_whether_it_is_complete(monkeypatch):
    told = provenance(of_rows(monkeypatch, rows_of="diary"), [])
    assert told["data"] == "diary: not in the catalogue, so nobody knows what may be missing"


@pytest.mark.parametrize("error", [FileNotFoundError("git"), subprocess.CalledProcessError(128, "git")])
def test_without_git_or_outside_of_a_checkout_no_commit_is_known(monkeypatch, error):
    def refuses(*_arguments, **_named):
        raise error

    monkeypatch.setattr(module.subprocess, "run", refuses)
    assert commit() == "no commit known"


@pytest.mark.parametrize(
    ("said", "words"), [("0123456789ab", "commit 0123456789ab"), ("0123-dirty", "commit 0123, with changes")]
)
def test_changes_since_the_commit_are_told(monkeypatch, said, words):
    monkeypatch.setattr(module, "_git", lambda *_arguments: said)
    assert commit() == words
