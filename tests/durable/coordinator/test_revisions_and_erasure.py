"""A log with changes of the charter and with sites that were forgotten tells the whole truth: bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.protocol.forms import Forms
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from samples import pair
from samples.forgetful import Federation
from samples.revising import revise
from simulation.tagged import sums_of

WORLDS = ["async-linucb", "fedlinucb", "lean-linucb"]


class Living(Federation):
    """A federation whose charter changes; what was observed is remembered with its form."""

    def __init__(self, world):
        self.observed = []
        super().__init__(world)

    def play(self, seeds, sites=range(3)):
        for seed in seeds:
            for number in sites:
                node = self.sites[number]
                arm = np.random.default_rng([seed, number]).integers(-16, 17, node.charter.setting.dimension) / 16
                name, _ = node.choose(np.tile(arm, (1, 2, 1)), pair.NO_LOTS)
                node.learn(name, 0.5)
                self.observed.append((number, arm, node.form))
                pair.exchange(self.server, self.sites)

    def change(self, **values):
        revise(self.server, values)
        pair.exchange(self.server, self.sites)

    def expected(self, sites):
        forms = Forms(self.server.agreed)
        arms = [forms.fitted(arm, form) for number, arm, form in self.observed if number in sites]
        return sum(np.outer(arm, arm) for arm in arms), 0.5 * sum(arms)


@pytest.mark.parametrize("world", WORLDS)
def test_three_revisions_and_two_sites_forgotten_replay_to_the_state_bit_for_bit(world):
    made = Living(world)
    made.change(noise="0.5")
    made.play(range(12, 15))
    made.change(dimension="5")
    made.play(range(15, 18))
    made.forget(1)
    pair.asking(made.server, made.sites)
    made.play(range(18, 20), sites=(0, 2))
    made.change(drop="0", ridge="0.5")
    made.play(range(20, 23), sites=(0, 2))
    made.forget(2)
    pair.asking(made.server, made.sites)
    made.play(range(23, 25), sites=(0,))
    assert (made.server.agreed.count, sorted(made.server.accounts.forgotten)) == (3, [1, 2])
    state, log = encode_state(made.server.node.state), list(made.journal.records())
    assert encode_state(replay(made.charter, log).state) == state
    assert encode_state(pair.open_server(made.charter, MemoryJournal.holding(None, (), log)).node.state) == state
    left = made.sites[0].life.node.state.rows
    for found, unsent, expected in zip(
        sums_of(made.server.node.state), (left.new_gram[0], left.new_moment[0]), made.expected({0}), strict=True
    ):
        np.testing.assert_array_equal(found + unsent, expected)
    assert made.sites[0].revisions == 3
