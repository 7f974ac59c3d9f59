"""The proof of privacy, run: another turn with other noise leaves all that anybody sees as it was.

Replace one turn of a client (its arms and its reward) by any other, and move the noise by right[:, j] (phi' - phi) /
nu, j the batch that the turn is in. Then all release times, all releases and all other choices are the same, and the
move is no longer than 1 / sigma: so what is seen is at most as telling as one normal number moved by that much.
"""

from typing import NamedTuple

import numpy as np
import pytest

from algorithms.linear.planted_private import EventTrigger, NoClipping, NoisePerPrefix, Planted, RawLocalSums
from algorithms.linear.test_private_linucb import world
from fedbandit.algorithms.linear.shared.private_messages import Prefix
from fedbandit.core.around import innermost
from fedbandit.environments.recorded import Recorded
from fedbandit.kernels.privacy.noised_sums import GRAIN
from fedbandit.simulation.in_process import simulate
from fedbandit.simulation.wire import Wire
from reference.private import factors, phi

RELEASES, BATCH = 8, 11
WAYS = [
    {"schedule": schedule, "mechanism": mechanism}
    for schedule in ("rounds", "own-count")
    for mechanism in ("toeplitz", "tree")
]
WAYS += [
    {"schedule": "own-count", "growth": 1.4},
    {"exploration": "thompson"},
    {"exploration": "igw", "greed": 15.0},
    {"explore": 0.2},
    {"releases": 2},
]


class Released(NamedTuple):
    """A release, and in which exchange of messages it was."""

    exchange: int
    client: int
    number: int
    gram: np.ndarray
    moment: np.ndarray


class Seen:
    """All that leaves clients in a run, with the turn at which it left, and what they chose."""

    def __init__(self, folder, arrays, monkeypatch, **parameters):
        np.savez(folder / "turns.npz", **arrays)
        self.releases, self.arrays, exchanges = [], arrays, []
        recorded = Recorded(path=str(folder / "turns.npz"))

        def watched(wire, envelopes):
            queue = list(envelopes)
            exchanges.append(wire.ledger.messages)
            for each in queue:
                wire.ledger.record(each)
                if isinstance(each.message, Prefix):
                    told = each.message
                    rows = zip(each.clients.tolist(), told.release.tolist(), told.gram, told.moment, strict=True)
                    self.releases += [Released(len(exchanges) - 1, *row) for row in rows]
                queue.extend((wire.server if each.is_upload else wire.clients).receive(each))

        with monkeypatch.context() as patch:
            patch.setattr(Wire, "carry", watched)
            self.trace, wire = simulate(Planted(**parameters), recorded, len(arrays["client"]))
        self.sums = innermost(wire.clients.side).noised
        self.messages, self.choices = self.trace.messages.tolist(), self.trace.choice

    def observation(self, turn, **bounds):
        """What a turn adds to the sums, in the coordinates in which noise is normal."""
        arm = self.choices[turn]
        return phi(self.arrays["arms"][turn, arm], self.arrays["reward"][turn, arm], **bounds)

    def batch_of(self, turn):
        """The batch of its client that a turn is in, from 0: how many releases it had made before it."""
        client = self.arrays["client"][turn]
        at = [time for time, who, _ in self.times() if who == client]
        return sum(time < turn for time in at)

    def times(self):
        """Turn, client and number of each new release, in the order in which they left."""
        turns, last, found = np.flatnonzero(self.messages).tolist(), {}, []
        for exchange, who, number, _, _ in self.releases:
            if number > last.get(who, 0):
                found.append((turns[exchange], who, number))
                last[who] = number
        return found


def other_turn(arrays, turn, seed):
    """The same world but for one turn, which has other arms and another reward, beyond its bound."""
    rng = np.random.default_rng(seed)
    changed = {name: each.copy() for name, each in arrays.items()}
    arms = rng.standard_normal(arrays["arms"][turn].shape)
    changed["arms"][turn] = arms / np.linalg.norm(arms, axis=1, keepdims=True)
    changed["reward"][turn] = rng.choice([-3.0, -0.5, 0.5, 3.0])
    return changed


def assert_coupled(folder, monkeypatch, turn, seed=0, **parameters):
    """Check the coupling for one turn; return whether it was in a batch that was released."""
    given = {"epsilon": 40.0, "releases": RELEASES, "batch": BATCH} | parameters
    arrays = world(seed=seed, releases=RELEASES)
    first = Seen(folder, arrays, monkeypatch, **given)
    changed = other_turn(arrays, turn, seed + turn)
    before = Seen(folder, changed, monkeypatch, **given)  # to see what it chooses at that turn: nothing came before
    client, batch = arrays["client"][turn], first.batch_of(turn)
    _, right = factors(given.get("mechanism", "toeplitz"), given["releases"])
    if batch < given["releases"]:
        moved = before.observation(turn) - first.observation(turn)
        move = np.outer(right[:, batch], moved) / first.sums.deviation
        changed["noise_draws"][client, : given["releases"]] -= move
        assert np.linalg.norm(move) <= first.sums.mu * (1 + 1e-12)
    second = Seen(folder, changed, monkeypatch, **given)

    assert second.messages == first.messages
    assert second.times() == first.times()
    assert len(second.releases) == len(first.releases)
    for one, other in zip(first.releases, second.releases, strict=True):
        np.testing.assert_allclose(other.gram, one.gram, rtol=0, atol=2 * GRAIN)
        np.testing.assert_allclose(other.moment, one.moment, rtol=0, atol=2 * GRAIN)
    same = np.arange(len(first.choices)) != turn
    assert (first.choices == second.choices)[same].all()
    return batch < len([1 for _, who, _ in first.times() if who == client])


def assert_coupled_at(folder, monkeypatch, turns, **parameters):
    """Check the coupling for several turns, one after the other."""
    for turn in turns:
        assert_coupled(folder, monkeypatch, turn, **parameters)


TURNS = (0, 37, 101)


@pytest.mark.parametrize("way", WAYS, ids=lambda each: " ".join(map(str, each.values())))
def test_another_turn_with_other_noise_looks_the_same(tmp_path, monkeypatch, way):
    was_released = [assert_coupled(tmp_path, monkeypatch, turn, **way) for turn in TURNS]
    assert any(was_released)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("way", WAYS, ids=lambda each: " ".join(map(str, each.values())))
def test_any_other_turn_with_other_noise_looks_the_same(tmp_path, monkeypatch, way, seed):
    for turn in range(seed, 240, 29):
        assert_coupled(tmp_path, monkeypatch, turn, seed, **way)


@pytest.mark.parametrize("bug", [RawLocalSums, EventTrigger, NoClipping, NoisePerPrefix])
@pytest.mark.parametrize("schedule", ["rounds", "own-count"])
def test_a_planted_bug_is_seen(tmp_path, monkeypatch, bug, schedule):
    with pytest.raises(AssertionError):
        assert_coupled_at(tmp_path, monkeypatch, range(0, 120, 7), bug=bug, schedule=schedule)
