"""The other commands: list, describe, reproduce, demo, and the program's own options."""

import importlib
from dataclasses import replace

import pytest

import fedbandit as fb


def test_the_version_is_that_of_the_package(fedbandit):
    assert fedbandit("--version") == (0, fb.__version__ + "\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_names_every_command(fedbandit, arguments):
    said = fedbandit(*arguments)
    assert said.code == 0
    for command in ("list", "describe", "run", "reproduce", "demo"):
        assert command in said.out


@pytest.mark.parametrize("command", ["list", "describe", "run", "reproduce", "demo"])
def test_every_command_has_help(fedbandit, command):
    said = fedbandit(command, "--help")
    assert said.code == 0
    assert "Usage" in said.out


def test_the_list_has_everything_that_is_registered(fedbandit):
    said = fedbandit("list")
    assert said.code == 0
    for registry in (fb.algorithms, fb.environments, fb.experiments):
        for name in registry:
            assert name in said.out


@pytest.mark.parametrize("name", [*fb.algorithms, *fb.environments])
def test_every_algorithm_and_environment_can_be_described(fedbandit, name):
    said = fedbandit("describe", name)
    assert said.code == 0
    assert said.out.startswith(name)
    thing = fb.algorithms[name] if name in fb.algorithms else fb.environments[name]
    for each in thing.describe():
        assert each.name in said.out


@pytest.mark.parametrize(("name", "says"), [("async-linucb", True), ("sync-linucb", True), ("private-linucb", False)])
def test_describe_tells_which_algorithms_noise_would_not_make_private(fedbandit, name, says):
    told = " ".join(fedbandit("describe", name).out.split())
    assert ("when a client sends depends on what it has observed" in told) is says


@pytest.mark.parametrize("name", list(fb.experiments))
def test_every_experiment_can_be_described(fedbandit, name):
    said = fedbandit("describe", name)
    assert said.code == 0
    assert said.out.startswith(name)
    for series in fb.experiments[name].series:
        assert series.algorithm in said.out


MINE = """
title = "Of my own"
environment = "linear"
turns = 60
seeds = 3
world = { clients = 3, arms = 3, dimension = 2 }
quick = { seeds = 1, turns = 20 }
[[series]]
label = "Shared"
algorithm = "async-linucb"
grid = { upload_threshold = [1.2, 3] }
[[figures]]
kind = "trade-off"
"""


def test_an_experiment_of_ones_own_is_run_once_and_shown(fedbandit, tmp_path):
    (tmp_path / "mine.toml").write_text(MINE)
    said = fedbandit("reproduce", "mine.toml", "--jobs", "1", "--output", "out")
    assert said.code == 0
    assert "6 runs made, 0 kept from before" in said.out
    for word in ("mine: Of my own", "Shared", "1.2", "regret"):
        assert word in said.out
    for name in ("table.csv", "report.html", "trade-off.png", "trade-off.svg"):
        assert f"out/mine/{name}" in said.out
        assert (tmp_path / "out" / "mine" / name).stat().st_size
    again = fedbandit("reproduce", "mine.toml", "--jobs", "1", "--output", "out", "--seeds", "2")
    assert "0 runs made, 4 kept from before" in again.out


def test_a_quick_run_has_a_folder_of_its_own(fedbandit, tmp_path):
    (tmp_path / "mine.toml").write_text(MINE)
    said = fedbandit("reproduce", "mine.toml", "--jobs", "1", "--quick")
    assert "2 runs made" in said.out
    assert (tmp_path / "results" / "mine" / "quick" / "table.csv").exists()
    assert not (tmp_path / "results" / "mine" / "table.csv").exists()


def test_the_demo_compares_four_ways_to_learn_and_draws_them(fedbandit, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("fedbandit.cli.demo"), "TURNS", 2000)
    said = fedbandit("demo", "--figure", "demo.png")
    assert said.code == 0
    for word in ("local-linucb", "async-linucb", "sync-linucb", "pooled-linucb", "yes", "no"):
        assert word in said.out
    assert (tmp_path / "demo.png").stat().st_size > 1000


def test_of_one_there_is_one_and_not_more(fedbandit, tmp_path):
    (tmp_path / "mine.toml").write_text(MINE.replace("seeds = 3", "seeds = 1").replace("[1.2, 3]", "[3]"))
    assert "1 run made, 0 kept from before" in fedbandit("reproduce", "mine.toml", "--jobs", "1").out


def test_an_experiment_of_one_round_has_one(fedbandit, monkeypatch):
    one = replace(fb.experiments["fldb/agents"], rounds=1, seeds=1)
    monkeypatch.setitem(fb.experiments._things, "fldb/agents", one)
    assert "length: 1 round, 1 seed, " in fedbandit("describe", "fldb/agents").out
