"""What rounding may add to uploads: all that honest clients need, for every client a share of its observations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.algorithms.linear.shared import encoding
from fedbandit.algorithms.linear.shared.messages import Factors
from fedbandit.core.algorithm import Setting
from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.protocol.charter import Charter
from fedbandit.wire import encode
from fedbandit.wire.frame import Frame, Kind
from samples.coordinators import coordinator

LENGTH, REWARD = 2.0, 3.0
BOUNDS = Bounds(LENGTH, REWARD)
DIMENSION = 5


class Site:
    """An honest client at the edge of the limits: all arms have the full length, all rewards the full size."""

    def __init__(self, precision, dimension, rng, spread=1.0):
        self.precision, self.size, self.rng, self.spread = precision, dimension, rng, spread
        self.kind = encoding.kinds_of_upload(precision, asks=False)
        self.gram, self.moment = np.zeros((dimension, dimension)), np.zeros(dimension)
        self.middle = rng.standard_normal(dimension)
        self.taste = rng.standard_normal(dimension)

    def upload(self, observations):
        arms = self.middle + self.spread * self.rng.standard_normal((observations, self.size))
        arms *= LENGTH / np.linalg.norm(arms, axis=1)[:, np.newaxis]
        rewards = REWARD * np.where(arms @ self.taste > 0, 1.0, -1.0)
        self.gram += arms.T @ arms
        self.moment += rewards @ arms
        count = np.array([observations])
        message, gram, moment = encoding.upload(self.kind, self.precision, self.gram[None], self.moment[None], count)
        self.gram, self.moment = self.gram - gram[0], self.moment - moment[0]
        return message


@pytest.mark.parametrize("precision", ["float16", "float32"])
@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(1, 60), min_size=1, max_size=30),
    dimension=st.integers(1, 12),
    spread=st.sampled_from([0.0, 0.003, 0.03, 0.3, 3.0]),
    seed=st.integers(0, 2**16),
)
def test_an_honest_client_at_the_edge_of_the_limits_needs_no_more_than_is_allowed(
    precision, counts, dimension, spread, seed
):
    site = Site(precision, dimension, np.random.default_rng(seed), spread)
    told, used = 0, 0.0
    for observations in counts:
        message = site.upload(observations)
        told, used = told + observations, used + message.excess(BOUNDS)
        assert used <= encoding.ROUNDING[precision] * told


class Sender:
    """A site of a coordinator that knows how long arms and how large rewards can be."""

    def __init__(self, precision, dimension=DIMENSION):
        self.charter = Charter.named("lean-linucb", Setting(3, 4, dimension, 100), precision=precision)
        self.server = coordinator(Limits(BOUNDS), self.charter)
        self.number = 0

    def send(self, message, sequence=None):
        frame = Frame(Kind.UPLOAD, 1, 1, sequence or self.number + 1, encode(message))
        verdict = self.server.receive(frame.to_bytes(), 0.0, 1)
        self.number += verdict.outcome is Outcome.ACCEPTED
        return verdict


def factors(precision, trace, moment=0.0, observations=1):
    """Sums with a trace of so many L^2 in the first direction, and a moment of so many L R in the second."""
    factor = np.zeros((1, DIMENSION, DIMENSION), dtype=precision)
    factor[0, 0, 0] = LENGTH * np.sqrt(trace)
    db = np.zeros((1, DIMENSION), dtype=np.float32)
    db[0, 1] = moment * LENGTH * REWARD
    return Factors(factor, db, np.array([observations]))


@pytest.mark.parametrize("precision", ["float16", "float32"])
@pytest.mark.parametrize("dimension", [1, 25])
def test_a_coordinator_takes_in_all_that_an_honest_site_at_the_edge_of_the_limits_sends(precision, dimension):
    sender, site = Sender(precision, dimension), Site(precision, dimension, np.random.default_rng(5))
    for observations in [1] * 40 + [60] + [1] * 40 + [300, 2, 2]:
        verdict = sender.send(site.upload(observations))
        assert verdict.outcome is Outcome.ACCEPTED, verdict.reason


@pytest.mark.parametrize(
    ("trace", "moment"),
    [pytest.param(1 + 1 / 60, 0.0, id="trace"), pytest.param(0.9, 1.02, id="moment"), pytest.param(1.0, 0.1, id="fit")],
)
def test_more_than_rounding_explains_is_refused_and_changes_nothing(trace, moment):
    sender = Sender("float16")
    verdict = sender.send(factors("float16", trace, moment))
    assert verdict.outcome is Outcome.REFUSED
    assert "rounding explains 0.0078125 in all" in verdict.reason
    assert not sender.server.accounts.excess
    assert sender.send(factors("float16", 1.0)).outcome is Outcome.ACCEPTED


def test_half_precision_is_no_excuse_where_sums_travel_in_single():
    assert Sender("float16").send(factors("float16", 1.005)).outcome is Outcome.ACCEPTED
    assert Sender("float32").send(factors("float32", 1.005)).outcome is Outcome.REFUSED


@pytest.mark.parametrize("precision", ["float16", "float32"])
def test_in_all_a_site_gets_no_more_than_a_share_of_its_observations_however_many_uploads_it_makes(precision):
    """Each upload, of one observation, claims as much as is taken in."""
    sender, share = Sender(precision), encoding.ROUNDING[precision]
    for _ in range(300):
        for extra in (1.0, 0.1, share * (sender.number + 1), share, share / 4, 0.0):
            if sender.send(factors("float32", 1.0 + extra)).outcome is Outcome.ACCEPTED:
                break
    claimed = sender.server.node.state.gram.trace() / LENGTH**2
    assert sender.number == 300
    assert 300 * (1 + share / 2) < claimed <= 300 * (1 + share) * (1 + 1e-6)


def test_a_site_is_known_by_what_it_used_after_a_restart():
    sender = Sender("float16")
    assert sender.send(factors("float32", 1 + 1 / 130)).outcome is Outcome.ACCEPTED
    journal = sender.server.journal
    for save in (False, True):
        if save:
            sender.server.save()
        again = DurableServer(sender.charter, journal, epoch=2, now=1.0, limits=Limits(BOUNDS))
        assert again.accounts.excess == sender.server.accounts.excess == {1: pytest.approx(1 / 130, rel=1e-4)}


def test_what_comes_early_may_make_sense_later():
    """An upload of one observation may hold what rounding left of a hundred, which have not come yet."""
    sender = Sender("float16")
    early, first = factors("float16", 1.1), factors("float16", 99.5, observations=100)
    assert sender.send(early, sequence=2).outcome is Outcome.NOT_YET
    assert sender.send(first).outcome is Outcome.ACCEPTED
    assert sender.send(early).outcome is Outcome.ACCEPTED


def test_units_of_rounding_are_those_of_the_formats():
    units = {"float64": 0.0, "float32": np.finfo(np.float32).epsneg, "float16": np.finfo(np.float16).epsneg}
    assert {precision: 16 * unit for precision, unit in units.items()} == encoding.ROUNDING
