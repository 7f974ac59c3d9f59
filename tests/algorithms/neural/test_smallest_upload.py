"""With `smallest_upload` clients of FN-UCB contribute with enough, as the literal transcription does."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from algorithms.neural.test_fn_ucb import COSINE, compare
from fedbandit.algorithms.neural.shared.messages import Call
from reference.nonlinear import nonlinear_rounds

pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")


@pytest.mark.parametrize(
    ("name", "chosen"),
    [("fn-ucb", {"sync_threshold": 0.0}), ("fn-ucb-less", {"sync_threshold": 0.2, "weight": "theory"}),
     ("fn-ucb-less", {"diagonal": True, "aggregate": False})],
)  # fmt: skip
def test_it_equals_the_transcription(tmp_path, name, chosen):
    world = nonlinear_rounds(**COSINE)
    world["arms"][:60:3] = 0.0  # the client of these turns has too few for some rounds, while others contribute
    literal = compare(tmp_path, world, name, smallest_upload=4, **{"weight": "ramp:20", **chosen})
    assert 2 < literal["rounds"] < 20


def test_who_has_too_few_tells_nothing_that_it_has_not_told():
    """What it repeats depends on no observation since."""
    answers = []
    for seed in (1, 2):
        client = fb.Client("fn-ucb", dimension=2, arms=3, clients=2, smallest_upload=3, width=4, train_steps=3)
        rng = np.random.default_rng(0)
        side, state, who = client.node.side, client.node.state, np.zeros(1, dtype=np.int64)
        said = []
        for turn in range(5):
            rng = np.random.default_rng(seed) if turn == 3 else rng
            client.choose(rng.standard_normal((3, 2)))
            client.learn(float(rng.standard_normal()))
            if turn in (2, 4):
                (outgoing,) = side.receive(state, who, Call(turn))
                said.append(outgoing.message)
        answers.append(said)
    full, few = answers[0][0], answers[0][1]
    assert full.observations[0] == 3
    assert few.observations[0] == 0
    for name in ("gram", "moment"):
        assert not np.asarray(getattr(few, name)).any()
    for name in ("weights", "inverse"):
        assert (np.asarray(getattr(few, name)) == np.asarray(getattr(full, name))).all()
        assert (np.asarray(getattr(few, name)) == np.asarray(getattr(answers[1][1], name))).all()
