"""Every error on purpose has one root, and says whose mistake it is."""

import pytest

from fedbandit.core.errors import FedbanditError, InvalidInput, ProtocolError, nearest, unknown


def test_all_errors_have_one_root():
    assert issubclass(InvalidInput, FedbanditError)
    assert issubclass(ProtocolError, FedbanditError)


def test_invalid_input_is_a_value_error_and_a_broken_protocol_is_not():
    assert issubclass(InvalidInput, ValueError)
    assert not issubclass(ProtocolError, ValueError)


def test_an_unknown_name_names_the_nearest():
    assert str(unknown("colour", "gren", ["red", "green"])) == "unknown colour 'gren': did you mean 'green'?"


def test_an_unknown_name_that_is_near_to_none_lists_all_in_order():
    assert str(unknown("colour", "xyz", ["red", "green"])) == "unknown colour 'xyz': known: green, red"


@pytest.mark.parametrize("name", ["two\nlines", "", "a\x00b", "\x1b[31mred"])
def test_an_unknown_name_is_shown_on_one_line_whatever_it_holds(name):
    text = str(unknown("colour", name, ["red"]))
    assert text.isprintable()


def test_what_begins_so_comes_before_what_is_spelt_alike():
    assert nearest("--env", ["--set", "--environment", "--seed"]) == "--environment"


SILLY = [("nosuch", "noise"), ("regret", "ridge"), ("nosuch", "fn-ucb"), ("lam", "delta")]


@pytest.mark.parametrize(("name", "known"), SILLY)
def test_a_name_that_is_only_a_little_alike_is_not_offered(name, known):
    assert nearest(name, [known]) is None
