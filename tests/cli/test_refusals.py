"""What cannot be done is said with the remedy that fits."""

import errno
import os

import pytest

from fedbandit.cli.refusals import of_the_system
from samples.refusals import refused

RUN = ("run", "async-linucb", "--world", "clients=4", "--world", "dimension=2", "--turns", "10")

CALLED = {
    "an option that begins so": (("run", "a", "--env", "x"), "No such option '--env', did you mean '--environment'?"),
    "an option spelt wrongly": (("up", "--algoritm", "x"), "No such option '--algoritm', did you mean '--algorithm'?"),
    "an option like no other": (("run", "a", "--nosuch"), "No such option '--nosuch': see "),
    "a command of a group": (("data", "fech"), "No such command 'fech', did you mean 'fetch'?"),
    "half a turn": (("run", "a", "--turns", "1.5"), "--turns must be a whole number, not '1.5': see "),
    "half a turn, with =": (("run", "a", "--turns=1.5"), "--turns must be a whole number, not '1.5': see "),
    "no rate": (("up", "--rate", "fast"), "--rate must be a number, not 'fast': see "),
    "two numbers": (("evaluate", "x", "--rewards", "0", "b"), "--rewards must be 2 numbers, not '0 b': see "),
    "none of the last": (("audit", "demo", "--last", "0"), "--last must be at least 1, not 0: give how many"),
    "--set where none is needed": (
        ("change", "demo", "--set", "ridge=2"),
        "No such option '--set', write NAME=VALUE without it: see ",
    ),
    "an unknown paper": (("reproduce", "--all", "--paper", "nosuch"), "unknown paper 'nosuch': known: async-linucb, "),
}


@pytest.mark.parametrize("case", CALLED)
def test_a_call_that_cannot_be_names_what_is_wrong_and_what_may_have_been_meant(fedbandit, tmp_path, case):
    arguments, sentence = CALLED[case]
    refused(fedbandit(*arguments), sentence)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOENT, "make its folder first, or choose another"),
        (errno.EACCES, "choose a file or folder that you may use"),
        (errno.EISDIR, "give the name of a file"),
        (errno.ENOSPC, "make room on the disk"),
        (errno.EROFS, "choose a folder on a disk that can be written to"),
        (errno.EIO, "see that what it needs is there, and may be used"),
    ],
)
def test_what_the_system_refuses_has_the_remedy_for_that(number, remedy):
    error = OSError(number, os.strerror(number), "there/x")
    assert of_the_system(error) == f"there/x: {os.strerror(number)}: {remedy}"


def test_a_file_in_a_folder_that_takes_none_is_refused_by_its_name(fedbandit, tmp_path):
    (tmp_path / "file").write_text("in the way")
    refused(fedbandit("keys", "new", "demo.0", "--folder", "file/keys"), "file/keys: Not a directory: a part of")
