"""Parameters are declared once: every way of writing a value, and what the declaration is told as."""

import math
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from samples.examples import examples
from samples.parameters import Sample, refusal

TEXT = [
    ("positive", "2", 2.0),
    ("positive", " 1e-3 ", 0.001),
    ("growth", "inf", math.inf),
    ("growth", "1.5,2, inf", (1.5, 2.0, math.inf)),
    ("count", "12", 12),
    ("count", "1e3", 1000),
    ("width", "none", None),
    ("width", "theory", None),
    ("width", "Default", None),
    ("width", "0.3", 0.3),
    ("way", "thompson", "thompson"),
    ("switch", "true", True),
    ("switch", "False", False),
    ("text", "a,b", "a,b"),
    ("text", "12", "12"),
    ("either", "word", "word"),
    ("either", "2", 2.0),
]


@pytest.mark.parametrize(("name", "text", "value"), TEXT)
def test_text_from_the_command_line_is_read_by_the_declared_type(name, text, value):
    found = getattr(Sample.from_values({name: text}), name)
    assert found == value
    assert type(found) is type(value)


BAD_TEXT = [
    ("positive", "one", "positive must be a number, not 'one': give a number, as in positive=2"),
    ("positive", "", "positive must be a number, not '': give a number, as in positive=2"),
    ("positive", "none", "positive must be a number, not 'none': give a number, as in positive=2"),
    ("positive", "1,2", "positive must be a number, not '1,2': give a number, as in positive=2"),
    ("positive", "nan", "positive must be greater than 0, not nan: give a number in that range"),
    ("positive", "-1", "positive must be greater than 0, not -1.0: give a number in that range"),
    ("growth", "2,", "growth must be a number, not '': give a number, as in growth=2"),
    ("growth", "2,0.5", "growth[1] must be at least 1, not 0.5: give a number in that range"),
    ("count", "few", "count must be a whole number, not 'few': give a whole number, as in count=2"),
    ("count", "2.5", "count must be a whole number, not 2.5: give a whole number"),
    ("count", "nan", "count must be a whole number, not nan: give a whole number"),
    ("count", "1e999", "count must be a whole number, not inf: give a whole number"),
    ("switch", "yes", "switch must be true or false, not 'yes': write switch=true or switch=false"),
    ("way", "UCB!", "unknown way 'UCB!': known: thompson, ucb"),
]


@pytest.mark.parametrize(("name", "text", "sentence"), BAD_TEXT)
def test_text_that_cannot_be_read_is_refused_in_one_sentence(name, text, sentence):
    with pytest.raises(InvalidInput) as error:
        Sample.from_values({name: text})
    assert str(error.value) == sentence


@settings(deadline=None, max_examples=examples(300))
@given(st.sampled_from([each.name for each in Sample.describe()]), st.text(max_size=12))
def test_any_text_either_is_read_or_gives_one_line(name, text):
    assert refusal(lambda: Sample.from_values({name: text})).isprintable()


def test_a_name_that_is_not_declared_is_refused_with_the_nearest_one():
    with pytest.raises(InvalidInput) as error:
        Sample.from_values({"positiv": 1})
    assert str(error.value) == "Sample has no parameter 'positiv': did you mean 'positive'?"


def test_the_values_are_ready_for_json_and_can_be_read_back():
    made = Sample(growth=(2, math.inf), width=0.5, switch=True, either=3)
    assert made.values()["growth"] == [2.0, "inf"]
    assert Sample.from_values(made.values()) == made
    assert Sample.from_values(Sample(growth=math.inf).values()) == Sample(growth=math.inf)


def test_parameters_cannot_be_changed_afterwards():
    with pytest.raises(FrozenInstanceError):
        Sample().positive = 2.0


def test_the_description_has_everything_that_was_declared():
    described = {each.name: each for each in Sample.describe()}
    assert list(described) == list(Sample().values())
    assert described["positive"].symbol == "lambda"
    assert described["positive"].meaning == "above nothing"
    assert described["positive"].default == 1.0
    assert described["positive"].limits == "greater than 0"
    assert described["way"].limits == "one of ucb, thompson"
    assert described["switch"].limits == "true or false"
    assert described["text"].limits == "text"


@pytest.mark.parametrize("name", ["nosuch", "regret", "period", "color", "epsilonn"])
def test_a_name_that_resembles_none_is_not_guessed_at(name):
    with pytest.raises(InvalidInput) as error:
        fb.algorithm("lean-linucb", **{name: 1})
    assert str(error.value) == f"lean-linucb has no parameter '{name}': see `fedbandit describe lean-linucb`"


@pytest.mark.parametrize(("written", "symbol"), [("lambda", "lambda"), ("lam", "lambda"), ("lamda", "lambda")])
def test_who_writes_a_symbol_of_the_paper_is_told_the_name(written, symbol):
    with pytest.raises(InvalidInput) as error:
        fb.algorithm("lean-linucb", **{written: 1})
    assert str(error.value) == f"lean-linucb has no parameter '{written}': {symbol} is called ridge here"
    with pytest.raises(InvalidInput, match="linear has no parameter 'N': N is called clients here"):
        fb.environment("linear", N=3)
