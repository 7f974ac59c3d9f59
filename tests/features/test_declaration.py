"""What a declaration may say, and what it is refused for."""

import pytest

import fedbandit as fb
from fedbandit.features.declaration import read_declaration

PRICE = {"kind": "number", "range": [0, 500]}
SEGMENT = {"kind": "category", "levels": ["new", "gold"]}
ARM = {"price": PRICE}
CROSSED = {"context": {"segment": SEGMENT}, "arm": ARM, "cross": {"taste": {"of": ["segment", "price"]}}}


def feature(**table):
    return {"arm": {"f": table}}


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ([], r"features must be tables, not \[\]: give a dict"),
        ({}, r"no feature is declared: add one to \[context\] or \[arm\]"),
        ({"arms": {}}, "unknown key of features 'arms': did you mean 'arm'"),
        ({"arm": []}, r"arm must be a table, not \[\]: write \[arm\]"),
        ({"arm": {"a b": PRICE}}, "arm has the name 'a b': begin with a letter or _"),
        ({"arm": {"f": 3}}, "arm.f must be a table, not 3"),
        (feature(), "unknown kind of arm.f 'None': known: bins, category, hashed, number, text"),
        (feature(kind="nubmer"), "unknown kind of arm.f 'nubmer': did you mean 'number'"),
        (feature(kind="number"), "arm.f.range must be two numbers, the smaller first, not None"),
        (feature(kind="number", range=[2, 1]), r"not \[2, 1\]: give both"),
        (feature(kind="number", range=[1, float("inf")]), r"arm.f.range must be two numbers"),
        (feature(kind="number", range=[0, 1], scale="log"), "arm.f.range begins at 0, which has no logarithm"),
        (feature(kind="number", range=[0, 1], scale="root"), "arm.f.scale must be linear or log, not 'root'"),
        (feature(kind="number", range=[0, 1], missing="other"), "arm.f.missing must be refuse or zero or indicator"),
        (feature(kind="number", range=[0, 1], size=3), "unknown key of arm.f 'size'"),
        (feature(kind="number", range=[0, 1], weight=0), "arm.f.weight must be from 1e-6 to 1e6, not 0"),
        (feature(kind="bins", edges=[]), r"arm.f.edges must be growing numbers, not \[\]"),
        (feature(kind="bins", edges=[2, 1]), "arm.f.edges must be growing numbers"),
        (feature(kind="bins", edges=[1], missing="indicator"), "arm.f.missing must be refuse or zero"),
        (feature(kind="category", levels=["a", "a"]), "arm.f.levels must be different texts"),
        (feature(kind="category", levels=[1, "1"]), "arm.f.levels must be different texts"),
        (feature(kind="category", levels=[0.5]), "arm.f.levels must be different texts"),
        (feature(kind="category", levels=["a"], unknown="indicator"), "arm.f.unknown must be other or zero or refuse"),
        (feature(kind="hashed"), "arm.f.size must be a whole number from 1 to 1048576, not None: 16 is a usual size"),
        (feature(kind="text", size=True), "arm.f.size must be a whole number"),
        ({"context": ARM, "arm": ARM}, r"price is declared in \[context\] and in \[arm\]: give one"),
        ({"arm": ARM, "cross": {"c": {"of": ["price"]}}}, r"cross.c.of must name two features, not \['price'\]"),
        ({"arm": ARM, "cross": {"c": {"of": ["price", "prise"]}}}, "unknown feature in cross.c.of 'prise': did you"),
        ({"arm": ARM, "cross": {"c": 3}}, "cross.c must be a table, not 3"),
        ({"arm": ARM, "cross": {"price": {"of": ["price", "price"]}}}, "cross.price has the name of a feature"),
        ({**CROSSED, "cross": {"c": {"of": ["segment", "segment"]}}}, "cross.c is of two context features, so it adds"),
        ({**CROSSED, "cross": {}}, "nothing of the context is used, since by itself it adds the same to every arm"),
        ({**CROSSED, "features": {"main": ["price"]}}, "unknown context feature in features.main 'price'"),
        ({**CROSSED, "features": {"main": ["segment", "segment"]}}, "features.main names 'segment' twice"),
        ({**CROSSED, "features": {"main": "segment"}}, "features.main must be a list of names, not 'segment'"),
        ({**CROSSED, "features": {"personal": ["segment"]}}, "unknown block in features.personal 'segment'"),
        ({**CROSSED, "features": {"personal": ["taste"], "hash_to": 4}}, "features.hash_to=4 mixes all blocks"),
        ({**CROSSED, "features": {"length": "any"}}, "features.length must be bound or unit, not 'any'"),
        ({**CROSSED, "features": {"constant": 1}}, "features.constant must be true or false, not 1"),
        ({**CROSSED, "features": {"hash_to": 0}}, "features.hash_to must be a whole number"),
        ({**CROSSED, "features": {"arms": ["a", "b"]}}, "features.arms names arms that share one context, but"),
        ({"context": ARM, "features": {"arms": ["a"]}}, "features.arms must be two or more different names"),
        ({**CROSSED, "features": {"colour": 1}}, "unknown key of .features. 'colour'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(tables, reason):
    with pytest.raises(fb.InvalidInput, match=reason):
        read_declaration(tables)


def test_a_context_without_arms_stands_by_itself():
    declared = read_declaration({"context": {"segment": SEGMENT}, "features": {"arms": ["low", 2]}})
    assert declared.main == ("segment",)
    assert declared.arms == ("low", "2")
    assert declared.shares_context


@pytest.mark.parametrize(
    "change",
    [
        {"arm": {"price": {**PRICE, "range": [0, 501]}}},
        {"arm": {"price": {**PRICE, "weight": 2}}},
        {"arm": {"price": {**PRICE, "missing": "zero"}}},
        {"features": {"constant": False}},
        {"features": {"main": ["segment"]}},
        {"features": {"personal": ["taste"]}},
        {"features": {"length": "unit"}},
        {"features": {"hash_to": 4}},
        {"context": {"segment": {**SEGMENT, "levels": ["gold", "new"]}}},
        {"cross": {"taste": {"of": ["price", "segment"]}}},
        {"arm": {"cost": PRICE, "price": PRICE}},
    ],
)
def test_whatever_changes_a_vector_changes_the_fingerprint(change):
    assert read_declaration({**CROSSED, **change}).fingerprint != read_declaration(CROSSED).fingerprint


def test_the_order_of_names_changes_the_fingerprint():
    one, other = {"cost": PRICE, "price": PRICE}, {"price": PRICE, "cost": PRICE}
    assert read_declaration({"arm": one}).fingerprint != read_declaration({"arm": other}).fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"features": {"largest": 900}},
        {"features": {"constant": True, "length": "bound", "main": [], "personal": []}},
        {"arm": {"price": {"kind": "number", "range": [0.0, 500.0], "scale": "linear", "weight": 1.0}}},
        {"context": {"segment": {**SEGMENT, "unknown": "other"}}},
    ],
)
def test_defaults_written_out_change_nothing(change):
    assert read_declaration({**CROSSED, **change}).fingerprint == read_declaration(CROSSED).fingerprint
