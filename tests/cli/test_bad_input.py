"""Bad input of every kind leaves in one way: one line on standard error, exit code 2, and not a file more."""

import importlib
from pathlib import Path

import pytest

from samples.refusals import refused

SMALL = ("--world", "clients=4", "--world", "dimension=2", "--turns", "10")
RUN = ("run", "async-linucb", *SMALL)


COMMANDS = {
    "an unknown command": (("rum",), "No such command 'rum'"),
    "an unknown option": ((*RUN, "--sed", "1"), "No such option"),
    "no algorithm": (("run",), "Missing argument"),
    "two algorithms": (("run", "a", "b"), "Got unexpected extra argument"),
    "turns in words": ((*RUN, "--turns", "many"), "--turns must be a whole number, not 'many': see"),
    "half a seed": ((*RUN, "--seed", "0.5"), "--seed must be a whole number, not '0.5': see"),
    "an option without its value": ((*RUN, "--set"), "Option '--set' requires an argument"),
    "an unknown algorithm": (
        ("run", "async-linucv"),
        "unknown algorithm 'async-linucv': did you mean 'async-linucb'?",
    ),
    "an unknown environment": (
        (*RUN[:2], "--environment", "liner"),
        "unknown environment 'liner': did you mean 'linear'?",
    ),
    "an unknown parameter": ((*RUN, "--set", "rigde=1"), "async-linucb has no parameter 'rigde': did you mean 'ridge'"),
    "an unknown size": ((*RUN, "--world", "client=1"), "linear has no parameter 'client': did you mean 'clients'?"),
    "a negative ridge": ((*RUN, "--set", "ridge=-1"), "ridge must be greater than 0, not -1.0: give a number"),
    "no ridge": ((*RUN, "--set", "ridge=0"), "ridge must be greater than 0, not 0.0: give a number in that range"),
    "a threshold below 1": (
        (*RUN, "--set", "upload_threshold=0.9"),
        "upload_threshold must be at least 1, not 0.9: give a number in that range",
    ),
    "one of the thresholds below 1": (
        (*RUN, "--set", "upload_threshold=1,2,0.5,3"),
        "upload_threshold[2] must be at least 1, not 0.5: give a number in that range",
    ),
    "too few thresholds": (
        (*RUN, "--set", "upload_threshold=1,2,3"),
        "upload_threshold lists 3 values for 4 clients: give one number, or one for each client",
    ),
    "a delta of 1": ((*RUN, "--set", "delta=1"), "delta must be greater than 0 and less than 1, not 1.0: give a"),
    "an infinite ridge": ((*RUN, "--set", "ridge=inf"), "ridge must be finite, not inf: give a number that is"),
    "not a number": ((*RUN, "--set", "noise=nan"), "noise must be at least 0, not nan: give a number in that range"),
    "not a number of clients": (
        (*RUN, "--world", "clients=nan"),
        "clients must be a whole number, not nan: give a whole number",
    ),
    "a parameter in words": ((*RUN, "--set", "ridge=big"), "ridge must be a number, not 'big': give a number, as in"),
    "a parameter of nothing": ((*RUN, "--set", "ridge="), "ridge must be a number, not '': give a number, as in"),
    "an unknown choice": (
        (*RUN, "--set", "exploration=ucv"),
        "unknown exploration 'ucv': did you mean 'ucb'?",
    ),
    "a setting without a value": (
        (*RUN, "--set", "ridge"),
        "--set 'ridge' is not of the form name=value: write --set ridge=0.1",
    ),
    "a setting without a name": (
        (*RUN, "--set", "=3"),
        "--set '=3' is not of the form name=value: write --set ridge=0.1",
    ),
    "a size without a value": (
        (*RUN, "--world", "clients"),
        "--world 'clients' is not of the form name=value: write --world ridge=0.1",
    ),
    "no clients": ((*RUN, "--world", "clients=0"), "clients must be at least 1, not 0: give a whole number in that"),
    "half a client": ((*RUN, "--world", "clients=2.5"), "clients must be a whole number, not 2.5: give a whole number"),
    "a pool smaller than an offer": (
        (*RUN, "--world", "pool=3"),
        "pool=3 has fewer arms than the arms=25 of a turn: make the pool larger",
    ),
    "no turns": ((*RUN, "--turns", "0"), "turns must be a whole number of at least 1, not 0: give how many turns"),
    "negative turns": ((*RUN, "--turns", "-5"), "turns must be a whole number of at least 1, not -5: give how many"),
    "turns beyond memory": ((*RUN, "--turns", "10" * 15), f"turns={'10' * 15} do not fit into memory: run fewer"),
    "clients beyond memory": ((*RUN, "--world", "clients=1e15"), f"clients={10**15} do not fit into memory: take"),
    "features beyond memory": ((*RUN, "--world", "dimension=1e10"), "this does not fit into memory"),
    "a negative seed": ((*RUN, "--seed", "-1"), "--seed must be at least 0, not -1: give a whole number from 0 on"),
    "no seeds": ((*RUN, "--seeds", "0"), "--seeds must be at least 1, not 0: give the number of repetitions"),
    "no jobs": ((*RUN, "--jobs", "0"), "--jobs must not be 0: give the number of runs at once, or -1 for all cores"),
    "a missing recorded file": (
        (*RUN[:2], "--recorded", "nowhere.npz"),
        "no recorded file at 'nowhere.npz': give the path of an .npz file of turns",
    ),
    "a recorded file without a name": ((*RUN[:2], "--recorded", ""), "no recorded file at '': give the path"),
    "the recorded environment without a file": (
        (*RUN[:2], "--environment", "recorded"),
        "no recorded file at '': give the path",
    ),
    "a world beside a recorded file": (
        (*RUN[:2], "--recorded", "x.npz", "--world", "clients=3"),
        "--world has no meaning with --recorded: the file holds the whole world",
    ),
    "an environment beside a recorded file": (
        (*RUN[:2], "--recorded", "x.npz", "--environment", "linear"),
        "--environment has no meaning with --recorded: the file holds the whole world",
    ),
    "a trace in a missing folder": (
        (*RUN, "--trace", "no/trace.csv"),
        "--trace no/trace.csv: there is no folder no: make it first",
    ),
    "a result in a missing folder": (
        (*RUN, "--save", "no/result.npz"),
        "--save no/result.npz: there is no folder no: make it first",
    ),
    "a figure in a missing folder": (
        (*RUN, "--figure", "no/figure.png"),
        "--figure no/figure.png: there is no folder no: make it first",
    ),
    "a trace that is a folder": ((*RUN, "--trace", "."), "--trace . is a folder: give the name of a file"),
    "a figure of an unknown kind": (
        (*RUN, "--figure", "figure.doc"),
        "--figure figure.doc has no known ending: use .png, .svg or .pdf",
    ),
    "one trace for two seeds": (
        (*RUN, "--trace", "trace.csv", "--seeds", "2"),
        "--trace takes one run, but --seeds is 2: run one seed at a time",
    ),
    "one result for two seeds": (
        (*RUN, "--save", "result.npz", "--seeds", "2"),
        "--save takes one run, but --seeds is 2: run one seed at a time",
    ),
    "two things in one file": (
        (*RUN, "--trace", "x.npz", "--save", "./x.npz"),
        "--trace and --save are both x.npz: give each a file of its own",
    ),
    "nothing to describe": (("describe",), "Missing argument"),
    "an unknown name to describe": (
        ("describe", "async-linucv"),
        "unknown name 'async-linucv': did you mean 'async-linucb'?",
    ),
    "nothing to reproduce": (("reproduce",), "nothing tells what to run: give an experiment of `fedbandit list`"),
    "an unknown experiment": (
        ("reproduce", "async-linucb/homogeneous-uniforms"),
        "unknown experiment 'async-linucb/homogeneous-uniforms': did you mean 'async-linucb/homogeneous-uniform'?",
    ),
    "a missing experiment of one's own": (
        ("reproduce", "mine.toml"),
        "cannot read mine.toml: No such file or directory: give the path of a TOML file",
    ),
    "an experiment without seeds": (
        ("reproduce", "async-linucb/decoupled", "--seeds", "0"),
        "--seeds must be at least 1, not 0: give the number of repetitions",
    ),
    "an experiment without jobs": (
        ("reproduce", "async-linucb/decoupled", "--jobs", "0"),
        "--jobs must not be 0: give the number of runs at once, or -1 for all cores",
    ),
    "a demo drawn in a missing folder": (
        ("demo", "--figure", "no/figure.png"),
        "--figure no/figure.png: there is no folder no: make it first",
    ),
    "a demo drawn to an unknown kind of file": (
        ("demo", "--figure", "figure.doc"),
        "--figure figure.doc has no known ending: use .png, .svg or .pdf",
    ),
    "a demo drawn to a folder": (("demo", "--figure", "."), "--figure . is a folder: give the name of a file"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_bad_input_gives_one_line_and_code_2_and_leaves_no_file(fedbandit, tmp_path, case):
    arguments, sentence = COMMANDS[case]
    refused(fedbandit(*arguments), sentence)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_option_is_named(fedbandit):
    """Quoted or not, as the version of Click has it."""
    assert "--sed" in fedbandit(*RUN, "--sed", "1").err


def test_results_where_a_file_stands_are_refused(fedbandit, tmp_path):
    (tmp_path / "results").write_text("in the way")
    refused(
        fedbandit("reproduce", "async-linucb/decoupled", "--quick"),
        "--output results: cannot make results/async-linucb/decoupled/quick (",
    )


def test_a_bad_experiment_of_ones_own_is_refused_before_anything_is_made(fedbandit, tmp_path):
    (tmp_path / "mine.toml").write_text('environment = "linear"\n[[series]]\nalgorithm = "local-linucv"\n')
    refused(fedbandit("reproduce", "mine.toml"), "mine.toml: unknown algorithm 'local-linucv': did you mean")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


def test_quick_sizes_that_make_two_points_one_are_refused_before_anything_is_made(fedbandit, tmp_path):
    (tmp_path / "mine.toml").write_text(
        'environment = "linear"\nquick = { world = { clients = 3 } }\n'
        '[[series]]\nalgorithm = "local-linucb"\nalong = { clients = [5, 6] }\n'
    )
    refused(fedbandit("reproduce", "mine.toml", "--quick"), "points 'clients=5' and 'clients=6' of series")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk at hand")
def test_a_disk_that_is_full_is_said_in_one_line(fedbandit):
    refused(fedbandit(*RUN, "--trace", "/dev/full"), "No space left on device: make room on the disk")


def test_a_mistake_of_ours_is_not_hidden_as_one_of_the_users(fedbandit, monkeypatch):
    def broken(*_, **__):
        raise ValueError("a mistake in the program")

    monkeypatch.setattr(importlib.import_module("fedbandit.cli.run"), "run_one", broken)
    with pytest.raises(ValueError, match="a mistake in the program"):
        fedbandit(*RUN)
