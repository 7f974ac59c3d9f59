"""Policies that are read in JavaScript decide as in Python, to the last arm."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fedbandit as fb
from clients.programs import node
from samples.policies import ARMS, DIMENSION, LINEAR, learnt_policy

pytestmark = pytest.mark.slow
DECISIONS = 10_000

DECIDE = """
import { readFileSync } from "node:fs";
const policy = fb.Policy.fromBytes(readFileSync(process.argv[1]));
const flat = new Float64Array(new Uint8Array(readFileSync(process.argv[2])).buffer);
const [count, arms, dimension] = process.argv.slice(3).map(Number);
const choices = [];
for (let turn = 0; turn < count; turn++) {
  const at = (k) => (turn * arms + k) * dimension;
  choices.push(policy.choose(Array.from({ length: arms }, (_, k) => flat.subarray(at(k), at(k) + dimension))));
}
console.log(JSON.stringify({ choices, algorithm: policy.charter.algorithm, version: policy.version }));
"""


@pytest.mark.parametrize("name", LINEAR)
def test_ten_thousand_decisions_are_those_of_python(client, tmp_path, name):
    policy = learnt_policy(name)
    policy.save(tmp_path / "policy.bin")
    offers = np.random.default_rng(3).standard_normal((DECISIONS, ARMS, DIMENSION))
    offers[::7, 1] = offers[::7, 3]  # ties
    (tmp_path / "offers.bin").write_bytes(offers.tobytes())
    sizes = DECISIONS, ARMS, DIMENSION
    told = json.loads(node(client, DECIDE, tmp_path / "policy.bin", tmp_path / "offers.bin", *sizes))
    assert told["choices"] == [policy.choose(arms) for arms in offers]
    assert (told["algorithm"], told["version"]) == (name, policy.version)


EXPLORE = """
import { readFileSync } from "node:fs";
const policy = fb.Policy.fromBytes(readFileSync(process.argv[1]));
const lots = [0.05, 0.99, 0.5];
console.log(policy.choose([[1, 0], [0, 1]], () => lots.shift()), policy.choose([[1, 0], [0, 1]], () => lots.shift()));
"""


def test_a_share_of_choices_is_drawn_where_the_policy_explores(client, tmp_path):
    fb.Site("async-linucb", dimension=2, explore=0.1).policy().save(tmp_path / "policy.bin")
    assert node(client, EXPLORE, tmp_path / "policy.bin").split() == ["1", "0"]


REFUSE = """
import { readFileSync } from "node:fs";
const data = new Uint8Array(readFileSync(process.argv[1]));
const lots = new Uint8Array(readFileSync(process.argv[2]));
const changed = data.slice(), newer = data.slice();
changed[40] ^= 1;
newer[2] = 9;
const policy = fb.Policy.fromBytes(data);
const tries = [
  () => fb.Policy.fromBytes(changed), () => fb.Policy.fromBytes(data.slice(0, 99)), () => fb.Policy.fromBytes(newer),
  () => fb.Policy.fromBytes(new Uint8Array(3)), () => fb.Policy.fromBytes(lots), () => policy.choose([]),
  () => policy.choose([[1]]), () => policy.choose([[1, NaN]]),
];
for (const each of tries) {
  try {
    each();
    console.log("taken");
  } catch (error) {
    console.log(error.message);
  }
}
"""


def test_what_is_no_policy_and_what_is_no_arm_is_refused_in_a_sentence(client, tmp_path):
    fb.Site("async-linucb", dimension=2).policy().save(tmp_path / "policy.bin")
    fb.Site("async-linucb", dimension=2, exploration="thompson").policy().save(tmp_path / "lots.bin")
    told = node(client, REFUSE, tmp_path / "policy.bin", tmp_path / "lots.bin").splitlines()
    wanted = [
        "their checksum does not fit", "their checksum does not fit", "this state has format 9, and 2 is known here",
        "these bytes are no state of fedbandit", "does not choose by optimistic scores", "arms is empty",
        "arm 0 has 1 numbers, but 2 are needed", "arm 0 has NaN at place 1: give finite numbers",
    ]  # fmt: skip
    assert len(told) == len(wanted)
    for said, part in zip(told, wanted, strict=True):
        assert part in said
