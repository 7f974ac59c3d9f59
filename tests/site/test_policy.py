"""What a site has learnt, as a policy that can be saved and used elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.wire.state import encode_state
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
    with pytest.raises(fb.ProtocolError, match="not a fedbandit state"):
        fb.Policy.load(tmp_path / "text")
    with pytest.raises(fb.InvalidInput, match="no policy can be read from"):
        fb.Policy.load(tmp_path / "nothing")
    with pytest.raises(fb.ProtocolError, match="not a policy"):
        fb.Policy.from_bytes(encode_state([1, 2]))
