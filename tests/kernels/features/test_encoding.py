"""The kernel of features: the same bits from Python and from machine code."""

import json
from pathlib import Path

import numpy as np

import fedbandit as fb
from fedbandit.kernels.features.encoding import encode_turns
from fedbandit.kernels.shared.compiled import interpreted

EXAMPLE = json.loads((Path(__file__).parents[2] / "vectors" / "features.json").read_text(encoding="utf-8"))


def test_python_and_machine_code_give_the_same_bits():
    features = fb.Features(EXAMPLE["declared"])
    contexts = features._context.rows([each["context"] for each in EXAMPLE["rows"]], "context")
    arms = features._arm.rows([each["arm"] for each in EXAMPLE["rows"]], "arms[{}]")
    found = []
    for kernel in (encode_turns, interpreted(encode_turns)):
        out, counts = np.empty((3, 2, 24)), np.ones_like(features._counts)
        offered = np.array([[0, 1], [2, -1], [1, 0]])
        scratch = np.full_like(features._scratch, np.nan)
        table = features._blocks.table
        assert kernel(features._plan, False, table, contexts, arms, offered, scratch, out, counts) == (-1, -1, -1)
        found.append((out.tobytes(), counts.tolist()))
        np.testing.assert_array_equal(out[1, 0], out[1, 1])
    assert found[0] == found[1]


def test_what_is_refused_is_told_by_turn_arm_and_feature():
    features = fb.Features(
        {"arm": {"price": {"kind": "number", "range": [0, 1]}, "cost": {"kind": "bins", "edges": [1]}}}
    )
    arms, offered = np.array([[0.0, 0.0], [0.5, np.nan], [np.inf, 0.0]]), np.array([[0, 0], [0, 1], [2, 0]])
    out, counts = np.empty((3, 2, 4)), np.zeros((2, 3), dtype=np.int64)
    call = features._plan, False, np.empty(0), np.empty((3, 0)), arms
    assert encode_turns(*call, offered, features._scratch, out, counts) == (1, 1, 1)
    assert encode_turns(*call, offered[[0, 2]], features._scratch, out, counts) == (1, 0, 0)
