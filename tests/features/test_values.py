"""Texts of values, tokens, and where the hash places them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.conftest import VECTORS
from fedbandit.features.values import different_texts, hashed_block, place_of, text_of, texts_of, tokens
from fedbandit.kernels.features.murmur import murmur3
from fedbandit.kernels.shared.compiled import interpreted
from reference import features as literal

HASHES = json.loads((VECTORS / "hashes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", HASHES, ids=lambda case: case["text"][:9] or "empty")
def test_hashes_are_those_of_the_specification(case):
    data = case["text"].encode()
    assert murmur3(np.frombuffer(data, np.uint8), 0) == case["hash"]
    assert list(place_of(data, 16)) == case["bucket_16"]


@given(st.binary(max_size=40), st.integers(0, 1))
def test_machine_code_python_and_the_literal_hash_agree(data, seed):
    array = np.frombuffer(data, np.uint8)
    assert murmur3(array, seed) == interpreted(murmur3)(array, seed) == literal.murmur3(data, seed)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=20))
def test_hashed_values_stand_where_those_of_scikit_learn_do(texts):
    hasher = pytest.importorskip("sklearn.feature_extraction").FeatureHasher(n_features=16, input_type="string")
    theirs = hasher.transform([[f"sku={each}" for each in texts]]).toarray()[0]
    ours = hashed_block([f"sku={each}".encode() for each in texts], 16)
    np.testing.assert_allclose(ours, theirs / (np.linalg.norm(theirs) or 1.0), atol=1e-15)


def test_tokens_are_those_of_the_specification():
    found = [each.decode() for each in tokens("Größe 42: RED-shoes, 東京!")]
    assert found == ["größe", "42", "red", "shoes", "東京"]
    assert [each.decode() for each in tokens("ÄRGER")] == ["Ärger"], "only A to Z are lowered"
    assert tokens(" -- ") == []


@pytest.mark.parametrize(
    ("value", "text"),
    [("as it is ", "as it is "), (7, "7"), (-7, "-7"), (7.0, "7"), (-0.0, "0"), (1e22, "10000000000000000000000"),
     (True, "true"), (False, "false"), (np.int64(3), "3"), (np.float64(3), "3"), (np.bool_(True), "true"),
     (np.str_("x"), "x"), (None, None), (np.nan, None), (np.float64("nan"), None)],
)  # fmt: skip
def test_values_have_texts_that_every_language_agrees_on(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize("value", [1.5, np.inf, [1], {"a": 1}, b"bytes", 1j])
def test_other_values_have_no_text(value):
    with pytest.raises(TypeError):
        text_of(value)


def test_lists_are_texts_without_what_is_missing():
    assert texts_of(["a", None, 2.0]) == ("a", "2")
    assert texts_of(np.array([1, 2])) == ("1", "2")
    assert texts_of("a") == "a"


@pytest.mark.parametrize("values", [[], "ab", [1, "1"], ["a", None], ["a", 1.5], 3])
def test_lists_that_do_not_tell_things_apart_have_no_texts(values):
    assert different_texts(values) == ()
