"""Values of parameters are checked in one way: every limit and every type."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.core.errors import InvalidInput
from fedbandit.core.limits import MOST, Limits
from samples.examples import examples
from samples.parameters import Sample, refusal

GOOD = [
    ("positive", 1e-300, 1e-300),
    ("positive", 3, 3.0),
    ("positive", np.float32(0.5), 0.5),
    ("positive", np.array(2.0), 2.0),
    ("share", 0.999, 0.999),
    ("closed", -1, -1.0),
    ("closed", 1, 1.0),
    ("growth", 1, 1.0),
    ("growth", math.inf, math.inf),
    ("growth", [1, 2.5], (1.0, 2.5)),
    ("growth", (1, math.inf), (1.0, math.inf)),
    ("growth", np.array([1.0, 3.0]), (1.0, 3.0)),
    ("count", 1, 1),
    ("count", 7.0, 7),
    ("count", np.int32(7), 7),
    ("count", MOST, MOST),
    ("width", None, None),
    ("width", 0, 0.0),
    ("way", "thompson", "thompson"),
    ("switch", True, True),
    ("switch", np.True_, True),
    ("text", "a, b", "a, b"),
    ("either", "auto", "auto"),
    ("either", 2, 2.0),
]


@pytest.mark.parametrize(("name", "value", "kept"), GOOD)
def test_a_value_within_its_limits_is_kept_in_its_declared_type(name, value, kept):
    found = getattr(Sample(**{name: value}), name)
    assert found == kept
    assert type(found) is type(kept)


BAD = [
    ("positive", 0, "positive must be greater than 0, not 0: give a number in that range"),
    ("positive", -0.0, "positive must be greater than 0, not -0.0: give a number in that range"),
    ("positive", math.nan, "positive must be greater than 0, not nan: give a number in that range"),
    ("positive", math.inf, "positive must be finite, not inf: give a number that is greater than 0"),
    ("positive", True, "positive must be a number, not True: give a number"),
    ("positive", None, "positive must be a number, not None: give a number"),
    ("positive", "1", "positive must be a number, not '1': give a number"),
    ("positive", 1j, "positive must be a number, not 1j: give a number"),
    ("positive", [1.0], "positive must be a single value, not [1.0]: give a number"),
    ("positive", np.eye(2), "positive must be a number, not array([[1., 0.], [0., 1.]]): give a number"),
    ("share", 1, "share must be greater than 0 and less than 1, not 1: give a number in that range"),
    ("share", np.float64(1.5), "share must be greater than 0 and less than 1, not 1.5: give a number in that range"),
    ("closed", 1.01, "closed must be at least -1 and at most 1, not 1.01: give a number in that range"),
    ("closed", -1.01, "closed must be at least -1 and at most 1, not -1.01: give a number in that range"),
    ("growth", 0.99, "growth must be at least 1, not 0.99: give a number in that range"),
    ("growth", -math.inf, "growth must be at least 1, not -inf: give a number in that range"),
    ("growth", [], "growth is an empty list: give one number, or one for each client"),
    ("growth", [2, 0.5], "growth[1] must be at least 1, not 0.5: give a number in that range"),
    ("growth", [2, None], "growth[1] must be a number, not None: give a number"),
    ("growth", [2, True], "growth[1] must be a number, not True: give a number"),
    ("count", 0, "count must be at least 1, not 0: give a whole number in that range"),
    ("count", 1.5, "count must be a whole number, not 1.5: give a whole number"),
    ("count", math.nan, "count must be a whole number, not nan: give a whole number"),
    ("count", math.inf, "count must be a whole number, not inf: give a whole number"),
    ("count", [1], "count must be a single value, not [1]: give a whole number"),
    ("count", MOST + 1000, f"count must be at most {MOST}, not {MOST + 1000}: give a smaller number"),
    ("width", -1, "width must be at least 0, not -1: give a number in that range"),
    ("way", "ucv", "unknown way 'ucv': did you mean 'ucb'?"),
    ("way", "zzz", "unknown way 'zzz': known: thompson, ucb"),
    ("way", 3, "way must be one of ucb, thompson, not 3: give one of ucb, thompson"),
    ("way", None, "way must be one of ucb, thompson, not None: give one of ucb, thompson"),
    ("way", ["ucb"], "way must be a single value, not ['ucb']: give one of ucb, thompson"),
    ("switch", 1, "switch must be true or false, not 1: give true or false"),
    ("switch", "yes", "switch must be true or false, not 'yes': give true or false"),
    ("text", 3, "text must be text, not 3: give text"),
]


@pytest.mark.parametrize(("name", "value", "sentence"), BAD)
def test_a_value_outside_its_limits_is_refused_in_one_sentence(name, value, sentence):
    with pytest.raises(InvalidInput) as error:
        Sample(**{name: value})
    assert str(error.value) == sentence


def test_a_whole_number_beyond_every_float_is_refused_without_printing_all_its_digits():
    for name in ("positive", "count"):
        with pytest.raises(InvalidInput, match="must be") as error:
            Sample(**{name: 10**400})
        assert len(str(error.value)) < 200


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(),
    st.binary(),
    st.lists(st.one_of(st.floats(), st.integers(), st.text(), st.none()), max_size=3),
    st.dictionaries(st.text(), st.none()),
)


@settings(deadline=None, max_examples=examples(500))
@given(st.sampled_from([each.name for each in Sample.describe()]), ANYTHING)
def test_any_value_either_is_kept_or_gives_one_line(name, value):
    assert refusal(lambda: Sample(**{name: value})).isprintable()


@settings(deadline=None, max_examples=examples(100))
@given(st.floats(min_value=1, allow_infinity=True), st.integers(1, MOST), st.booleans())
def test_what_was_kept_is_kept_again(growth, count, switch):
    made = Sample(growth=growth, count=count, switch=switch)
    assert Sample(**vars(made)) == made


@pytest.mark.parametrize(
    ("limits", "inside", "outside"),
    [
        (Limits(above=0), [1e-9, 5], [0, -1, math.inf, math.nan]),
        (Limits(at_least=0), [0, 5], [-1e-9]),
        (Limits(below=1), [0.5, -7], [1, 2, -math.inf]),
        (Limits(at_most=1), [1, -7], [1.001]),
        (Limits(infinite=True), [math.inf, -math.inf, 0], [math.nan]),
        (Limits(), [-1e308, 0, 1e308], [math.inf, -math.inf, math.nan]),
    ],
)
def test_limits_allow_what_they_say(limits, inside, outside):
    assert all(limits.allow(value) for value in inside)
    assert not any(limits.allow(value) for value in outside)
