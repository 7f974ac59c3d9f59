"""Features that are read in JavaScript make the vectors of Python, to the last bit, and policies decide by them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fedbandit as fb
from clients.programs import node

pytestmark = pytest.mark.slow
ROWS, DECISIONS = 2_000, 2_000

CONTEXT = {
    "age": {"kind": "number", "range": [18, 90], "missing": "indicator", "weight": 0.3},
    "spend": {"kind": "number", "range": [0.01, 9999.5], "scale": "log", "missing": "zero"},
    "hour": {"kind": "bins", "edges": [6, 12.5, 18], "missing": "zero"},
    "segment": {"kind": "category", "levels": ["new", "gold", 2, True, "Köln"], "weight": 1.7},
    "query": {"kind": "text", "size": 7},
}
ARM = {
    "price": {"kind": "number", "range": [0, 500], "weight": 2},
    "rating": {"kind": "number", "range": [1e-3, 7], "scale": "log"},
    "sku": {"kind": "hashed", "size": 5, "weight": 0.9},
    "colour": {"kind": "category", "levels": ["red", "blue"], "unknown": "zero"},
    "constructor": {"kind": "hashed", "size": 2},  # which every object of JavaScript seems to have
}
CROSS = {
    "taste": {"of": ["segment", "price"]},
    "habit": {"of": ["spend", "rating"], "weight": 0.7},
    "match": {"of": ["query", "sku"], "size": 6, "weight": 1.3},
    "square": {"of": ["sku", "sku"], "size": 3},
}
DECLARED = {
    "usual": {"context": CONTEXT, "arm": ARM, "cross": CROSS, "features": {"main": ["spend", "age"]}},
    "personal": {"context": CONTEXT, "arm": ARM, "cross": CROSS,
                 "features": {"main": ["age"], "personal": ["square", "price", "taste"], "constant": False}},
    "unit": {"context": CONTEXT, "arm": ARM, "cross": CROSS, "features": {"length": "unit", "main": ["hour"]}},
    "hashed": {"context": CONTEXT, "arm": ARM, "cross": CROSS, "features": {"hash_to": 9}},
    "hashed unit": {"context": CONTEXT, "arm": ARM, "cross": CROSS, "features": {"hash_to": 9, "length": "unit"}},
    "arms alone": {"arm": ARM, "features": {"constant": False, "length": "unit"}},
    "shared": {"context": CONTEXT, "cross": {"pair": {"of": ["age", "query"]}}},
}  # fmt: skip
TEXTS = [
    "", "new", "gold", "red", "blue", "2", "true", "Köln", "Größe 42: RED-shoes!", "東京 SHOES", "🙂🙂", "a b\tc\x00d",
    "ÀÉ İstanbul", 2, 2.0, -0.0, -17, 1e21, 2**53, True, False, None,
]  # fmt: skip


def offers(count, with_arms, seed=5):
    """So many cases with two arms each, of values that are within the range and beyond, known, unknown and missing."""
    rng = np.random.default_rng(seed)

    def number(low, high, may_miss=False):
        if may_miss and rng.random() < 0.2:
            return None
        return [rng.uniform(low, high), int(rng.integers(low, high)), bool(rng.integers(2))][rng.integers(3)]

    def text():
        return TEXTS[rng.integers(len(TEXTS))] if rng.random() < 0.7 else f"x{rng.integers(10**9)}" * rng.integers(1, 9)

    def context():
        values = {"age": number(0, 120, True), "spend": number(-5, 12_000, True), "hour": number(0, 24, True)}
        values |= {"segment": text(), "query": " ".join(str(text()) for _ in range(rng.integers(4)))}
        return {name: values[name] for name in values if values[name] is not None or rng.random() < 0.5}

    def arm():
        several = [text() for _ in range(rng.integers(4))] if rng.random() < 0.5 else text()
        return {"price": number(-50, 600), "rating": number(0, 9), "sku": several, "colour": text(), "unasked": text()}

    return [(context(), [arm(), arm()] if with_arms else None) for _ in range(count)]


ENCODE = """
import { readFileSync, writeFileSync } from "node:fs";
const features = fb.Features.fromJson(readFileSync(process.argv[1], "utf8"));
const vectors = JSON.parse(readFileSync(process.argv[2])).flatMap(([context, arms]) =>
  features.encode(context, arms ?? undefined));
writeFileSync(process.argv[3], Buffer.concat(vectors.map((x) => Buffer.from(x.buffer))));
console.log(features.dimension, features.fingerprint);
"""


@pytest.mark.parametrize("name", DECLARED)
def test_vectors_are_those_of_python_to_the_last_bit(client, tmp_path, name):
    features = fb.Features(DECLARED[name])
    given = offers(ROWS, with_arms=not features.shares_context)
    wanted = np.array([features.encode(context, arms) for context, arms in given]).reshape(-1, features.dimension)
    files = tmp_path / "features.json", tmp_path / "offers.json", tmp_path / "vectors.bin"
    files[0].write_text(features.json, encoding="utf-8")
    files[1].write_text(json.dumps(given), encoding="utf-8")
    assert node(client, ENCODE, *files).split() == [str(features.dimension), features.fingerprint]
    found = np.frombuffer(files[2].read_bytes()).reshape(-1, features.dimension)
    np.testing.assert_array_equal(found, wanted)
    assert found.tobytes() == wanted.tobytes()


DECIDE = """
import { readFileSync } from "node:fs";
const features = fb.Features.fromJson(readFileSync(process.argv[2], "utf8"));
const policy = fb.Policy.fromBytes(readFileSync(process.argv[1]), features);
const offers = JSON.parse(readFileSync(process.argv[3]));
console.log(JSON.stringify(offers.map(([context, arms]) => policy.choose({ context, arms }))));
"""


def test_a_policy_with_features_decides_as_in_python(client, tmp_path):
    features, rng = fb.Features(DECLARED["usual"]), np.random.default_rng(2)
    site = fb.Site("lean-linucb", features=features, clients=1)
    weights = rng.standard_normal(features.dimension)
    for context, arms in offers(300, with_arms=True, seed=8):
        decision = site.choose(context=context, arms=arms)
        site.learn(decision.id, float(features.encode(context, arms)[decision.arm] @ weights))
    policy, given = site.policy(), offers(DECISIONS, with_arms=True)
    policy.save(tmp_path / "policy.bin")
    (tmp_path / "features.json").write_text(features.json, encoding="utf-8")
    (tmp_path / "offers.json").write_text(json.dumps(given), encoding="utf-8")
    files = [tmp_path / each for each in ("policy.bin", "features.json", "offers.json")]
    found = json.loads(node(client, DECIDE, *files))
    assert found == [policy.choose(features.encode(context, arms)) for context, arms in given]
    assert {0, 1} == set(found)


REFUSED = """
import { readFileSync } from "node:fs";
const features = fb.Features.fromJson(readFileSync(process.argv[1], "utf8"));
const policies = process.argv.slice(2).map((file) => readFileSync(file));
const said = (act) => { try { return act(), "taken"; } catch (error) { return error.message; } };
const vectors = [[0, 0]], values = { arms: [{ price: 1 }] };
console.log(JSON.stringify([
  said(() => fb.Policy.fromBytes(policies[0], features)), said(() => fb.Policy.fromBytes(policies[1], features)),
  said(() => fb.Policy.fromBytes(policies[0]).choose(values)),
  said(() => fb.Policy.fromBytes(policies[0]).choose(vectors)),
  said(() => fb.Policy.fromBytes(policies[2], features).choose(values)), said(() => fb.Features.fromJson("{}")),
  said(() => fb.Features.fromJson(readFileSync(process.argv[1], "utf8").replace('"number"', '"dial"'))),
]));
"""


def test_features_of_another_federation_are_refused_in_a_sentence(client, tmp_path):
    declared = [fb.Features({"arm": {"price": {"kind": "number", "range": [0, high]}}}) for high in (5, 6)]
    sites = [{"features": declared[1]}, {"dimension": 2}, {"features": declared[0]}]
    files = [tmp_path / f"{number}.bin" for number in range(3)]
    for given, file in zip(sites, files, strict=True):
        fb.Site("lean-linucb", **given).policy().save(file)
    (tmp_path / "features.json").write_text(declared[0].json, encoding="utf-8")
    mine, other = (each.fingerprint for each in declared)
    assert json.loads(node(client, REFUSED, tmp_path / "features.json", *files)) == [
        f"the features have the fingerprint {mine}, and those of the policy {other}: give those of its federation",
        "features are given, and the policy has none: leave them out",
        "values were given, but no features: hand them to Policy.fromBytes, or give arms as vectors",
        "taken",
        "taken",
        "this JSON declares no features: write it with `fedbandit features features.toml`",
        "price is of a kind that is not known here: was it declared by a newer fedbandit?",
    ]


SAY = """
import { readFileSync } from "node:fs";
const features = fb.Features.fromJson(readFileSync(process.argv[1], "utf8"));
console.log(JSON.stringify(JSON.parse(process.argv[2]).map(([context, arms]) => {
  try { return features.encode(context, arms), "taken"; } catch (error) { return error.message; }
})));
"""
STRICT = {
    "context": {"city": {"kind": "category", "levels": ["Köln"], "unknown": "refuse"}},
    "arm": {
        "price": {"kind": "number", "range": [0, 500]}, "hour": {"kind": "bins", "edges": [12]},
        "sku": {"kind": "hashed", "size": 4}, "title": {"kind": "text", "size": 4},
    },
    "cross": {"local": {"of": ["city", "price"]}},
}  # fmt: skip
GOOD = {"price": 1, "hour": 3}


def test_bad_values_are_refused_with_the_sentences_of_python(client, tmp_path):
    features = fb.Features(STRICT)
    here = {"city": "Köln"}
    arms = [
        {"hour": 3}, {"price": 1}, {**GOOD, "price": "12"}, {**GOOD, "hour": [1]}, {**GOOD, "sku": 1.5},
        {**GOOD, "title": ["a"]}, {**GOOD, "title": "\ud800"}, {**GOOD, "sku": "x" * 99}, {**GOOD, "hour": "x" * 99}, 3,
    ]  # fmt: skip
    given = [({"city": "Bonn"}, [GOOD]), ({}, [GOOD]), ("Köln", [GOOD]), (here, [])]
    given += [(here, [GOOD, arm]) for arm in arms]
    (tmp_path / "features.json").write_text(features.json, encoding="utf-8")
    told = json.loads(node(client, SAY, tmp_path / "features.json", json.dumps(given)))
    for (context, arms), said in zip(given, told, strict=True):
        try:
            features.encode(context, arms)
            wanted = "taken"
        except fb.InvalidInput as error:
            wanted = str(error).replace("give a dict", "give an object")
        assert said.replace('"', "'") == wanted
