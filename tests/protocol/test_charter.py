"""A federation whose messages are larger than what carries them is refused when it is set up."""

from __future__ import annotations

import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.charter import Charter

SHUTTLE = fb.Setting(clients=5, arms=7, dimension=63, horizon=100)
MOST = 8 * 1024 * 1024


def test_messages_that_can_be_carried_are():
    Charter.named("async-linucb", fb.Setting(3, 2, 1000, 1)).require_messages_within(MOST)


def test_messages_of_many_dimensions_are_refused_in_words():
    with pytest.raises(InvalidInput, match=r"async-linucb has messages of .* and 8388608 .*: lower the dimension"):
        Charter.named("async-linucb", fb.Setting(3, 2, 1500, 1)).require_messages_within(MOST)


@pytest.mark.parametrize("name", ["fn-ucb", "fn-ucb-less"])
def test_matrices_of_a_wide_network_are_refused_and_the_remedies_help(name):
    pytest.importorskip("jax", reason="needs JAX: pip install 'fedbandit[neural]'")
    with pytest.raises(InvalidInput, match=f"{name} has messages of .*: set diagonal=true or lower the width"):
        Charter.named(name, SHUTTLE, width=20).require_messages_within(MOST)
    Charter.named(name, SHUTTLE, width=20, diagonal=True).require_messages_within(MOST)
    Charter.named(name, SHUTTLE, width=6).require_messages_within(MOST)
