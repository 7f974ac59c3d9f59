"""Where coordinates stand, and how many there may be."""

import pytest

import fedbandit as fb

PRICE = {"kind": "number", "range": [0, 500]}


def test_personal_blocks_come_last_in_their_order():
    features = fb.Features(
        {
            "context": {"age": PRICE},
            "arm": {"price": PRICE, "cost": PRICE},
            "cross": {"both": {"of": ["age", "cost"]}},
            "features": {"main": ["age"], "personal": ["both", "price"]},
        }
    )
    assert features.names == ["1", "age", "cost", "price", "age*cost"]
    assert (features.dimension, features.global_dimension) == (5, 3)


def test_a_vector_that_is_hashed_as_a_whole_has_as_many_coordinates_as_it_is_told():
    features = fb.Features({"arm": {"price": PRICE}, "features": {"hash_to": 3}})
    assert features.names == ["x#0", "x#1", "x#2"]
    assert features.dimension == features.global_dimension == 3


def test_too_many_coordinates_are_refused_with_what_they_cost_and_which_block_is_to_blame():
    tables = {
        "context": {"query": {"kind": "text", "size": 40}},
        "arm": {"sku": {"kind": "hashed", "size": 20}},
        "cross": {"match": {"of": ["query", "sku"]}},
        "features": {"main": ["query"]},
    }
    with pytest.raises(fb.InvalidInput) as refused:
        fb.Features(tables)
    assert str(refused.value) == (
        "these features have dimension 861, so each message has 3.0 MB: the largest block is match (800); give it "
        "size = 32, or set hash_to or largest"
    )
    tables["features"]["largest"] = 900
    assert fb.Features(tables).dimension == 861
    tables["features"] = {"main": ["query"], "hash_to": 32}
    assert fb.Features(tables).dimension == 32


def test_a_category_with_too_many_levels_is_to_be_hashed():
    levels = [f"level {number}" for number in range(300)]
    with pytest.raises(fb.InvalidInput, match=r"the largest block is sku \(301\); make it hashed with size = 32"):
        fb.Features({"arm": {"sku": {"kind": "category", "levels": levels}}})
