"""A client whose state was stored goes on bit for bit, also where sums were added up in double precision."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.neural.shared.messages import Call
from fedbandit.core.turns import Observations
from fedbandit.wire import encode
from fedbandit.wire.state import decode_state, encode_state

pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")

SMALL = {"width": 2, "train_steps": 1, "train_until": 3, "sync_threshold": np.inf}
STORED = (100, 509, 514)  # 512 observations are added up at once
ROUNDS = 518


@pytest.mark.parametrize(
    ("clients", "diagonal"),
    [(2, False), (1, True), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((1, False), (2, True)))],
)
def test_a_client_that_was_stored_now_and_then_sends_what_another_sends(clients, diagonal):
    side = fb.algorithm("fn-ucb-less", diagonal=diagonal, **SMALL).build(fb.Setting(clients, 2, 2, ROUNDS)).clients
    whole, stored = side.start(clients), side.start(clients)
    everyone, rng = np.arange(clients), np.random.default_rng(0)
    for number in range(ROUNDS):
        arms = rng.standard_normal((clients, 2, 2))
        rewards = rng.standard_normal(clients)
        if number in STORED:
            stored = decode_state(encode_state(stored), type(stored))
        for state in (whole, stored):
            choice = side.choose(state, everyone, arms, np.empty((clients, 0)))
            side.learn(state, everyone, Observations(arms, choice, rewards))
    assert encode_state(stored) == encode_state(whole)
    stored = decode_state(encode_state(stored), type(stored))
    for client in everyone[::-1]:
        sent = [side.receive(state, everyone[[client]], Call(0))[0].message for state in (whole, stored)]
        assert encode(sent[0]) == encode(sent[1])
        assert sent[0].observations.tolist() == [ROUNDS]
    assert encode_state(stored) == encode_state(whole)
