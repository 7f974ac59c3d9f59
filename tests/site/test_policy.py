"""What a site has learnt, as a policy that can be saved and used elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.site.policy import PolicyFile
from fedbandit.wire.state import decode_state, encode_state
from samples.policies import ARMS, DIMENSION, LINEAR, learnt_policy
from samples.small_site import play, site


def test_a_policy_goes_into_a_file_and_chooses_alike(tmp_path):
    one = site()
    play(one, 40)
    one.policy().save(tmp_path / "policy")
    policy = fb.Policy.load(tmp_path / "policy")
    rng = np.random.default_rng(9)
    for _ in range(30):
        arms = rng.standard_normal((3, 2))
        assert policy.choose(arms) == one.choose(arms).arm
    assert b"pickle" not in policy.to_bytes()


def test_a_policy_does_not_change_when_its_site_learns():
    one = site()
    policy = one.policy()
    before = policy.to_bytes()
    play(one, 10)
    assert policy.to_bytes() == before


def test_what_is_no_policy_is_refused(tmp_path):
    (tmp_path / "text").write_text("this is no policy")
    with pytest.raises(fb.InvalidInput, match=r"text is no policy that a site has saved \(.*not a fedbandit state"):
        fb.Policy.load(tmp_path / "text")
    with pytest.raises(fb.InvalidInput, match="no policy can be read from"):
        fb.Policy.load(tmp_path / "nothing")
    with pytest.raises(fb.ProtocolError, match="not a policy"):
        fb.Policy.from_bytes(encode_state([1, 2]))


def literally_chosen(parts, arms):
    """The first arm whose score ties with the best: one product and one sum after the other."""
    scores = []
    for arm in arms.tolist():
        score = 0.0
        for first, estimate, inverse, bonus in parts:
            x = arm[first : first + len(estimate)]
            mean = sum((a * b for a, b in zip(x, estimate.tolist(), strict=True)), 0.0)
            spread = sum(x[i] * sum(inverse[j, i] * x[j] for j in range(len(x))) for i in range(len(x)))
            score += mean + bonus * math.sqrt(max(0.0, spread))
        scores.append(score)
    best = max(scores)
    return next(k for k, score in enumerate(scores) if score >= best - 1e-9 * max(1.0, abs(best)))


@pytest.mark.parametrize("name", LINEAR)
def test_the_parts_of_its_scores_are_all_that_a_reader_in_another_language_needs(name):
    policy = learnt_policy(name)
    assert policy.version > 0 or name in ("local-linucb", "lean-linucb"), "it has learnt from the other"
    file = decode_state(policy.to_bytes(), PolicyFile)
    assert len(file.parts) == (2 if name == "async-linucb-am" else 1)
    offers = np.random.default_rng(2).standard_normal((50, ARMS, DIMENSION))
    assert [literally_chosen(file.parts, arms) for arms in offers] == [policy.choose(arms) for arms in offers]


def test_a_policy_that_chooses_by_a_sample_or_a_lot_has_no_such_parts():
    for way in ("thompson", "igw"):
        data = fb.Site("async-linucb", dimension=2, exploration=way).policy().to_bytes()
        assert decode_state(data, PolicyFile).parts == ()
    assert decode_state(fb.Site("fldb-ogd", dimension=2, smallest_upload=1).policy().to_bytes(), PolicyFile).parts == ()


def test_a_policy_that_explores_has_the_parts_of_the_one_that_does_not():
    explores, plain = (
        decode_state(fb.Site("async-linucb", dimension=2, explore=share).policy().to_bytes(), PolicyFile).parts
        for share in (0.1, 0.0)
    )
    assert len(explores) == len(plain) == 1
    assert explores[0].bonus == plain[0].bonus
