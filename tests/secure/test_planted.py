"""Bugs that sites and coordinators of secure aggregations can have: whoever is lost or late, each shows in the sums."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.errors import ProtocolError
from fedbandit.secure import masks
from fedbandit.secure.clients import SecureClients
from fedbandit.secure.gathering import NONE, Gathering
from fedbandit.secure.member import MASKED, Participation
from fedbandit.secure.server import SecureServer
from samples.purses import Bank

SITES, AGGREGATIONS = 7, 10


def amiss(seed):
    """Return what is wrong with some aggregations of which sites are lost, or late, at steps that are drawn."""
    rng = np.random.default_rng(seed)
    bank, owned = Bank(SITES, seed), np.zeros(5)
    for _ in range(AGGREGATIONS):
        before = bank.total
        bank.fill(rng.choice(SITES, size=6, replace=False))
        owned = owned + (bank.total - before)
        sites, places = rng.permutation(SITES), rng.integers(4, size=2)
        losing, late = ([[int(site)] if place == step else [] for step in range(4)]
                        for site, place in zip(sites, places, strict=False))  # fmt: skip
        try:
            bank.run(losing, late[:3])  # what is late in step 4 is waited for
        except ProtocolError as error:
            return f"an honest site is refused: {error}"
        if bank.state.gathering.stage != NONE:
            return "an aggregation is left open"
        if (bank.total != owned).any():
            return "something is lost, or counted twice"
    return "" if bank.state.gathering.finished > 2 else "there are hardly any sums"


def contributed_again(patch):
    """A site that has masked its part puts it back, whatever became of it."""
    original = SecureClients._resolve
    patch.setattr(SecureClients, "_resolve", lambda self, state, counted: original(self, state, -1))


def taken_for_counted(patch):
    """A site that has masked its part takes it for counted."""

    def resolve(self, state, counted):
        if state.member.stage == MASKED:
            counted = state.member.version
        original(self, state, counted)

    original = SecureClients._resolve
    patch.setattr(SecureClients, "_resolve", resolve)


def masks_of_those_who_left(patch):
    """The coordinator forgets that sites which are in the sum have masks for those who are not."""

    def total(self):
        before, self.parcels = self.parcels, {client: self.parcels[client] for client in self.masked}
        try:
            return original(self)
        finally:
            self.parcels = before

    original = Gathering.total
    patch.setattr(Gathering, "total", total)


def spent_and_dropped(patch):
    """The deadline drops step 4 like any other."""
    original = SecureServer.deadline
    patch.setattr(
        SecureServer,
        "deadline",
        lambda self, state: self._end(state) if len(state.gathering.masked) else original(self, state),
    )


def other_shares(patch):
    """A site gives the share of a seed where that of a key is wanted, and the other way round."""

    def unmask(self, member, present):
        present.members[:] = 1 - present.members
        return original(self, member, present)

    original = Participation.unmask
    patch.setattr(Participation, "unmask", unmask)


def masks_of_all_on_the_roster(patch):
    """A site masks its part for those, too, who did not go on."""

    def masked(self, member, parcels):
        every = np.zeros_like(parcels.senders)
        every[list(member.keys)] = 1
        parcels.senders[:] = every
        return original(self, member, parcels)

    original = Participation.masked
    patch.setattr(Participation, "masked", masked)


def one_sign(patch):
    """Both sites of a pair add their mask."""

    def pair_masks(key, others, aggregation, client, length):
        words = np.zeros(length, dtype=np.uint64)
        for other, theirs in others.items():
            if other != client:
                words = words + masks.mask(masks.pair_seed(key, theirs, aggregation, client, other), length)
        return words

    patch.setattr(masks, "pair_masks", pair_masks)


def kept_though_spent(patch):
    """A site that has answered step 4 keeps its part, and contributes it again."""

    def unmask(self, member, present):
        part, observations = member.part, member.observations
        answer = original(self, member, present)
        member.stage, member.part, member.observations = MASKED, part, observations
        return answer

    original = Participation.unmask
    patch.setattr(Participation, "unmask", unmask)
    patch.setattr(Gathering, "clear", _clear_counted(Gathering.clear))


def _clear_counted(clear):
    def cleared(self):
        self.counted[:] = 0
        clear(self)

    return cleared


PLANTED = (
    contributed_again, taken_for_counted, masks_of_those_who_left, spent_and_dropped, other_shares,
    masks_of_all_on_the_roster, one_sign, kept_though_spent,
)  # fmt: skip


def test_nothing_is_amiss():
    assert [amiss(seed) for seed in range(4)] == [""] * 4


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_caught(plant, monkeypatch):
    plant(monkeypatch)
    assert any(amiss(seed) for seed in range(4))
