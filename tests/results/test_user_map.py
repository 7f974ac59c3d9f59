"""Users on a map: where they lie, and how far from the centre each group does."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from fedbandit.experiments.figures import Map
from fedbandit.results import user_map
from fedbandit.results.record import Record
from fedbandit.results.user_map import group_distances, in_plane


def test_the_plane_keeps_what_lies_in_it():
    rng = np.random.default_rng(2)
    flat = rng.standard_normal((9, 2)) @ rng.standard_normal((2, 5)) + rng.standard_normal(5)
    placed = in_plane(flat)
    assert placed.mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)
    between = np.linalg.norm(flat[:, np.newaxis] - flat, axis=-1)
    assert np.linalg.norm(placed[:, np.newaxis] - placed, axis=-1) == pytest.approx(between)
    assert placed[:, 0].var() >= placed[:, 1].var()


def test_groups_are_as_far_from_the_centre_as_their_users_in_the_mean(monkeypatch):
    places = np.array([[3.0, 4.0], [0.0, -1.0], [3.0, 0.0], [0.0, 3.0]])  # 5, 1, 3, 3: 3 in the mean
    monkeypatch.setattr(user_map, "positions", lambda _: places)
    record = Record(4, {}, {}, {"turns": np.array([0.0, 5.0, 12.0, 45.0])})
    found = group_distances(record, Map(width=10, count=4), SimpleNamespace())
    assert found == pytest.approx({"distance 0-9": 1.0, "distance 10-19": 1.0, "distance 30 and more": 1.0})
    places[0] = 0.0  # 0, 1, 3, 3
    found = group_distances(record, Map(width=10, count=4), SimpleNamespace())
    assert found["distance 0-9"] == pytest.approx(0.5 / 1.75)
