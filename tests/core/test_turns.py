"""Worlds answer only the kind of choice that they understand."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.core.turns import Duels, Rewards


def test_a_world_of_rewards_refuses_pairs():
    with pytest.raises(InvalidInput, match="learns from duels, not from rewards"):
        Rewards(np.zeros((2, 3))).feedback(slice(None), np.zeros((2, 2), dtype=np.int64))


def test_a_world_of_duels_refuses_single_arms():
    with pytest.raises(InvalidInput, match="learns from rewards, not from duels"):
        Duels(np.zeros((2, 3)), np.zeros(2)).feedback(slice(None), np.zeros(2, dtype=np.int64))
