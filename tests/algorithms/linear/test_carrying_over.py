"""Sums that are carried over to other features are those over arms with these features: the literal version."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.carrying_over import carried_download, carried_upload
from fedbandit.algorithms.linear.shared.encoding import download, upload
from fedbandit.algorithms.linear.shared.messages import (
    AskingFactors,
    AskingStatistics,
    Factors,
    FadingQuestion,
    FadingStatistics,
    Hello,
    Question,
    Statistics,
)
from fedbandit.core.algorithm import Setting
from fedbandit.core.turns import Observations
from fedbandit.protocol.charter import Charter

RIDGE, SIZE = 0.5, 4
PLACES = {"added": [0, 1, 2, 3, -1], "removed": [0, 2, 3], "moved": [3, -1, 0], "the same": [0, 1, 2, 3]}
WHO = np.zeros(1, dtype=np.int64)


def arms(count, seed=0):
    return np.random.default_rng(seed).integers(-8, 9, (count, SIZE)) / 16


def moved(vectors, places):
    """One entry after the other."""
    return np.array([[vector[place] if place >= 0 else 0.0 for place in places] for vector in vectors])


def sums(vectors):
    gram = np.zeros((vectors.shape[1], vectors.shape[1]))
    for vector in vectors:
        gram += np.outer(vector, vector)
    return gram, 0.5 * vectors.sum(axis=0)


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("kind", [Statistics, Factors, AskingStatistics, AskingFactors, FadingStatistics])
def test_an_upload(kind, places):
    vectors, places = arms(6), np.array(places)
    asked = {"Asking": (np.array([3]), np.array([1.5])), "Fading": (np.array([3]), np.ones((1, SIZE)))}
    told = asked.get(kind.__name__[:6], ())
    precision = "float16" if "Factors" in kind.__name__ else "float64"
    gram, moment = (each[np.newaxis] for each in sums(vectors))
    message = upload(kind, precision, gram, moment, np.array([6]), told).message
    before, after = message.sums(), carried_upload(message, places, RIDGE)
    expected = sums(moved(vectors, places))
    assert after.observations.tolist() == [6]
    for found, want in zip(after.sums(), expected, strict=True):
        np.testing.assert_allclose(found[0], want, atol=0.0 if precision == "float64" else 2e-3)
    if told:
        assert after.includes.tolist() == [3]
        assert after.level_of(0, RIDGE) == pytest.approx(len(places) * np.log(RIDGE))
    assert before[0].shape == (1, SIZE, SIZE)


def test_a_question_tells_that_its_sender_knows_nothing_and_a_signal_is_what_it_is():
    places = np.array([0, 2])
    asked = carried_upload(Question(np.array([7]), np.array([9.0])), places, RIDGE)
    assert (asked.includes.tolist(), asked.level.tolist()) == ([7], [2 * np.log(RIDGE)])
    fading = carried_upload(FadingQuestion(np.array([7]), np.ones((1, SIZE))), places, RIDGE)
    assert fading.spectrum.tolist() == [[0.0, 0.0]]
    assert carried_upload(Hello(), places, RIDGE) == Hello()


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("version", [None, 7])
@pytest.mark.parametrize("precision", ["float64", "float16"])
def test_a_download(precision, version, places):
    gram, moment = sums(arms(9))
    message = download(precision, gram, moment, RIDGE, version).holding(11)
    after = carried_download(message, np.array(places), RIDGE)
    expected = sums(moved(arms(9), places))
    for found, want in zip(after.sums(2.0), expected, strict=True):
        np.testing.assert_allclose(found, want, atol=0.0 if precision == "float64" else 2e-2)
    assert (after.holds, getattr(after, "version", None)) == (11, version)


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("name", ["async-linucb", "sync-linucb", "lean-linucb", "fedlinucb", "local-linucb"])
def test_a_client_knows_what_it_would_know_had_it_always_had_these_features(name, places):
    def learnt(size, vectors, ridge):
        side = Charter.named(name, Setting(1, 2, size, 100), ridge=ridge).build_for(0).clients
        state = side.start(1)
        for vector in vectors:
            seen = Observations(np.tile(vector, (1, 2, 1)), np.zeros(1, dtype=np.int64), np.array([0.5]))
            side.ask(state, WHO)
            side.learn(state, WHO, seen)
        return side, state

    vectors = arms(5)
    before, state = learnt(SIZE, vectors, RIDGE)
    after, expected = learnt(len(places), moved(vectors, places), 0.25)
    state = after.revised(state, before, np.array(places))
    for field in ("gram", "moment", "inverse", "estimate", "log_det"):
        found, want = getattr(state.rows, field)[0], getattr(expected.rows, field)[0]
        np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-12)
    shared = state.rows.gram[0] - state.rows.new_gram[0]
    regular = shared + 0.25 * np.eye(len(places))
    if state.rows.fresh[0]:
        growth = state.rows.log_det[0] - np.linalg.slogdet(regular)[1]
        assert state.rows.growth[0] == pytest.approx(growth, abs=1e-9)
