"""The fields of a row of the log: the same with and without msgspec, whatever an application puts into them."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.site import log_rows

VALUES = [
    None, True, 0, -7, 2**70, 0.1, 1e16, 5e-324, -0.0, "", 'a "quoted" line\n\u2028é🙂', "\ud800", math.nan, math.inf,
    np.float32(0.1), np.float64(0.5), np.int64(3), np.bool_(True), np.array([1.0, math.nan]), range(3), {4}, {1: 2},
    [{"price": 1.0, "id": "A"}, {"price": math.nan}], {"nested": [(1, 2), {"deep": -math.inf}]},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_rows_read_the_same_whoever_has_written_them(value):
    pytest.importorskip("msgspec")
    fast, slow = log_rows._json({"x": value}), log_rows._slowly({"x": value})
    assert json.loads(fast) == json.loads(slow)
    assert b"\n" not in fast + slow


def test_without_msgspec_rows_are_written_nevertheless(monkeypatch):
    monkeypatch.setitem(sys.modules, "msgspec", None)
    monkeypatch.setattr(log_rows, "_fast", log_rows._fast.__wrapped__)
    assert json.loads(log_rows._json({"x": np.arange(2)})) == {"x": [0, 1]}


@pytest.mark.parametrize("secured", [False, True])
def test_rows_tell_the_share_of_uniform_choices_whatever_is_around_the_algorithm(secured, tmp_path):
    given = {"dimension": 2, "clients": 4, "explore": 0.1, "secure_aggregation": secured}
    with fb.Site("sync-linucb", log=tmp_path / "log", **given) as site:
        for _ in range(20):
            site.learn(site.choose(np.eye(2)), 0.5)
        policy = site.policy()
    log = fb.Log.read(tmp_path / "log")
    assert log.explored == 0.1
    found = fb.evaluate(log, policy, guaranteed=True, rewards=(0.0, 1.0), include_earlier=True, anyway=True)
    assert found.guaranteed.ips[0] <= 0.5 <= found.guaranteed.ips[1]
