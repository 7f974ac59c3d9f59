"""A site of a small federation, and turns that it plays."""

from __future__ import annotations

import numpy as np

import fedbandit as fb

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
FEDERATION = {"dimension": 2, "arms": 3, "clients": 2, "upload_threshold": 1.0, "download_threshold": 1.0,
              "smallest_upload": 1}  # fmt: skip


def site(number=0, **more):
    return fb.Site("async-linucb", number=number, **{**FEDERATION, **more})


def features(turns, seed):
    """Multiples of 1/16, so that sums are exact."""
    return np.random.default_rng(seed).integers(-16, 17, (turns, 2)) / 16


def play(one, turns, seed=0):
    """Turns whose arms are all alike, so that it is known what is learnt."""
    for arm in features(turns, seed):
        one.learn(one.choose(np.tile(arm, (3, 1))).id, 0.25)
