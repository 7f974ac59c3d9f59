"""What --help says of options."""

import re

import pytest


@pytest.fixture
def words_of(fedbandit):
    """The help of a command on one line."""
    return lambda *command: re.sub(r"[\s│]+", " ", fedbandit(*command, "--help").out)


@pytest.mark.parametrize("command", [("run",), ("up",), ("keys", "new"), ("serve",), ("reproduce",)])
def test_what_may_be_given_again_says_so_in_the_same_words(words_of, command):
    expected = {"run": 2, "up": 2}.get(command[0], 1)
    assert words_of(*command).count("; may be given again.") == expected


def test_a_default_is_said_once(words_of):
    assert "How many runs at once; default: all cores. --" in words_of("reproduce")


@pytest.mark.parametrize("option", ["--broker", "--credentials", "--journal", "--http", "--replicas"])
def test_what_takes_the_place_of_the_coordinators_file_says_that_it_does(words_of, option):
    assert re.search(rf"{option} [A-Z<>a-z]+ [^-]*(-[a-z][^-]*)*default: the file's\.", words_of("serve"))


def test_numbers_are_shown_with_their_units(words_of):
    assert "--rate PER_SECOND " in words_of("up")
    assert "--duration SECONDS " in words_of("up")
    assert "--days DAYS " in words_of("keys", "new")
    told = words_of("invite")
    assert "--token-days DAYS " in told
    assert "--certificate-days DAYS " in told
    assert "--valid" not in told  # it works, and is not offered


def test_no_sentence_of_a_help_is_broken(fedbandit):
    assert "verdicts on our runs, and published numbers beside ours." in fedbandit("panels", "--help").out


def test_the_title_of_a_run_is_not_squeezed_into_its_table(fedbandit):
    said = fedbandit("run", "async-linucb-am", "--world", "clients=2", "--world", "dimension=2", "--turns", "20")
    assert said.out.splitlines()[0] == "async-linucb-am on linear"
