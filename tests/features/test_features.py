"""Features: the vectors of the specification, and the literal encoding beside the quick one."""

import json
import logging
import math

import numpy as np
import pytest
from hypothesis import given, settings

import fedbandit as fb
from fedbandit.features import features as module
from fedbandit.features.canonical import canonical
from reference.features import vector
from samples.declared_features import Offered, declaration, turns


def test_the_vectors_of_the_specification(example):
    features = fb.Features(example["declared"])
    assert (features.dimension, features.global_dimension) == (24, 21)
    assert features.fingerprint == example["fingerprint"]
    assert features.declaration.canonical == example["canonical"]
    for each in example["rows"]:
        assert features.names == each["names"]
        (x,) = features.encode(each["context"], [each["arm"]])
        np.testing.assert_allclose(x, each["x"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(vector(example["declared"], each["context"], each["arm"]), each["x"], atol=1e-12)


@settings(deadline=None)
@given(turns())
def test_one_decision_and_a_log_are_encoded_as_the_literal_encoding_does(case):
    tables, offers = case
    features = fb.Features(tables)
    wanted = [np.array([vector(tables, context, arm) for arm in arms]) for context, arms in offers]
    for (context, arms), expected in zip(offers, wanted, strict=True):
        found = features.encode(context, arms)
        assert found.shape == (len(arms), features.dimension)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert np.linalg.norm(found, axis=1).max() <= 1 + 1e-12
    one_by_one = features.unknown
    together = fb.Features(tables)
    vectors = together.encode_log(Offered(offers))
    for x, expected in zip(vectors, wanted, strict=True):
        np.testing.assert_allclose(x[: len(expected)], expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(x[len(expected) :], np.tile(x[0], (len(x) - len(expected), 1)))
    assert together.unknown == one_by_one


@settings(deadline=None)
@given(turns(with_arms=False))
def test_a_context_that_arms_share_is_one_vector(case):
    tables, offers = case
    features = fb.Features(tables)
    wanted = [vector(tables, context, {}) for context, _ in offers]
    found = [features.encode(context) for context, _ in offers]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(features.encode_log(Offered(offers)), wanted, rtol=0, atol=1e-12)


PRICE = {"price": {"kind": "number", "range": [0, 500]}}
CITY = {"city": {"kind": "category", "levels": ["Köln"], "unknown": "refuse"}}
SIMPLE = {"context": CITY, "arm": PRICE, "cross": {"local": {"of": ["city", "price"]}}}
SKU = {"arm": {"sku": {"kind": "hashed", "size": 4}}}


@pytest.mark.parametrize(
    ("tables", "context", "arms", "reason"),
    [
        (SIMPLE, {"city": "Bonn"}, [{"price": 1}], r"context: city is 'Bonn', which is none of its levels: add it"),
        (SIMPLE, {}, [{"price": 1}], r"context: city is missing: give it"),
        (SIMPLE, None, [{"price": 1}], r"context: city is missing: give it"),
        (SIMPLE, {"city": "Köln"}, [{"price": 1}, {}], r"arms\[1\]: price is missing: give it"),
        (SIMPLE, {"city": "Köln"}, [{"price": math.nan}], r"arms\[0\]: price is missing"),
        (SIMPLE, {"city": "Köln"}, [{"price": math.inf}], r"arms\[0\]: price is inf: give a finite number"),
        (SIMPLE, {"city": "Köln"}, [{"price": "12"}], r"arms\[0\]: price is '12': give a number"),
        (SIMPLE, {"city": 1.5}, [{"price": 1}], r"context: city is 1.5, whose text differs between languages"),
        (SIMPLE, {"city": [1]}, [{"price": 1}], r"context: city is \[1\]: give a text"),
        (SIMPLE, {"city": "Köln"}, [], "arms must be a list of at least one table, not"),
        (SIMPLE, {"city": "Köln"}, None, "arms were not given, but these features have an"),
        (SIMPLE, {"city": "Köln"}, [3], r"arms\[0\] must be a table of values, not 3"),
        (SIMPLE, "Köln", [{"price": 1}], r"context must be a table of values, not 'Köln'"),
        (SKU, {}, [{"sku": "\ud800"}], r"arms\[0\]: sku is '\\ud800': give a text"),
        ({"context": CITY}, {"city": "Köln"}, [{}], "arms were given, but these features have no"),
    ],
)
def test_bad_values_are_refused_by_place_and_nothing_is_counted(tables, context, arms, reason):
    features = fb.Features(tables)
    with pytest.raises(fb.InvalidInput, match=reason):
        features.encode(context, arms)
    assert features.unknown == {}


@pytest.mark.parametrize(
    ("city", "price", "reason"),
    [
        (["Köln", "Bonn"], [1, 2], "row 2: city is 'Bonn', which is none of its levels"),
        (["Köln", None], [1, 2], "row 2: city is missing"),
        (["Köln", "Köln"], [1, "cheap"], "row 2: price is 'cheap': give a number"),
        (["Köln", "Köln"], [1.0, math.nan], "row 2: price is missing"),
        (["Köln", "Köln"], [1.0, math.inf], "row 2: price is inf"),
        (["Köln", 1.5], [1, 2], "row 2: city is 1.5, whose text differs"),
    ],
)
def test_bad_values_of_a_log_are_refused_by_row(city, price, reason):
    log = Offered([({"city": one}, [{"price": other}]) for one, other in zip(city, price, strict=True)])
    with pytest.raises(fb.InvalidInput, match=reason):
        fb.Features(SIMPLE).encode_log(log)


def test_numbers_that_files_have_as_texts_count_as_numbers():
    log = Offered([({"city": "Köln"}, [{"price": "12"}, {"price": "7.5"}])])
    wanted = fb.Features(SIMPLE).encode({"city": "Köln"}, [{"price": 12}, {"price": 7.5}])
    np.testing.assert_array_equal(fb.Features(SIMPLE).encode_log(log)[0], wanted)


def test_what_is_clipped_unknown_and_missing_is_counted_by_feature(example):
    features = fb.Features(example["declared"])
    for each in example["rows"]:
        features.encode(each["context"], [each["arm"]])
    counted = {name: tuple(each.values()) for name, each in features.unknown.items()}
    assert counted == {"age": (0, 0, 1), "spend": (1, 0, 0), "segment": (0, 1, 1), "price": (2, 0, 0)}


def test_a_feature_that_is_left_out_is_warned_of_and_still_checked(example, caplog):
    with caplog.at_level(logging.WARNING, "fedbandit.features"):
        features = fb.Features(example["declared"])
    (record,) = caplog.records
    assert record.getMessage().startswith("hour is checked and left out, since by itself it adds the same to every arm")
    context = {**example["rows"][0]["context"], "hour": None}
    with pytest.raises(fb.InvalidInput, match="context: hour is missing"):
        features.encode(context, [example["rows"][0]["arm"]])


def test_texts_are_forgotten_when_there_are_too_many_and_vectors_stay_the_same(monkeypatch):
    monkeypatch.setattr(module, "MOST_KEPT", 64)
    features = fb.Features(SKU)
    for number in range(100):
        arm = {"sku": f"A-{number}"}
        (x,) = features.encode({}, [arm])
        np.testing.assert_allclose(x, vector(SKU, {}, arm), atol=1e-15)
    assert len(features._blocks.table) <= 1024


def test_a_value_is_not_taken_for_another_that_equals_it():
    features = fb.Features(SKU)
    values = [1, True, 1.0, "1", "true", ("1",), ["1"], ["true", "true"]]
    vectors = [features.encode({}, [{"sku": each}])[0] for each in values]
    wanted = [vector(SKU, {}, {"sku": list(each) if isinstance(each, tuple) else each}) for each in values]
    np.testing.assert_allclose(vectors, wanted, atol=1e-15)
    assert not np.array_equal(vectors[0], vectors[1])


def test_levels_are_known_by_their_texts_whatever_the_type_of_a_value():
    features = fb.Features({"arm": {"level": {"kind": "category", "levels": [1, True]}}})
    assert features.names[1:] == ["level=1", "level=true", "level=?"]
    found = features.encode({}, [{"level": each} for each in (1, 1.0, "1", True, "true", 2, None)])
    assert found[:, 1:].argmax(axis=1).tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_a_file_of_features_is_written_and_read_again(example, tmp_path):
    features = fb.Features(example["declared"])
    features.write(tmp_path / "features.toml")
    assert fb.Features.read(tmp_path / "features.toml").fingerprint == features.fingerprint


def test_other_languages_get_the_declaration_its_fingerprint_and_what_vectors_are_divided_by(example):
    told = json.loads(fb.Features(example["declared"]).json)
    assert canonical(told.pop("declaration")) == example["canonical"]
    assert told == {"divisor": math.sqrt(9 + 1), "fingerprint": example["fingerprint"]}
    each_by_itself = {**example["declared"], "features": {"length": "unit"}}
    assert json.loads(fb.Features(each_by_itself).json)["divisor"] == 1


@settings(deadline=None)
@given(declaration())
def test_every_declaration_survives_its_file(tables):
    import tomllib

    features = fb.Features(tables)
    again = fb.Features(tomllib.loads(features.toml))
    assert again.declaration == features.declaration
    assert again.fingerprint == features.fingerprint


def test_a_file_that_is_wrong_is_named(tmp_path):
    (tmp_path / "features.toml").write_text('[arm]\nprice = { kind = "number" }\n')
    with pytest.raises(fb.InvalidInput, match=r"features.toml: arm.price.range must be two numbers"):
        fb.Features.read(tmp_path / "features.toml")
