"""Secure aggregation of gradients, question by question: the run of a plain federation, whoever is lost on the way."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.kernels.glm.kept_data import gradient_of_each
from fedbandit.kernels.glm.links import LOGISTIC
from fedbandit.secure.gathering import NONE
from fedbandit.secure.messages import Question
from fedbandit.secure.parts import WHO
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from samples.secure_rounds import SITES, Rounds, total_gram

DUELS = {"ridge": 1.0, "curvature": 0.25}
PRECISE = {"solver": "newton", "suboptimality": 1e-8}
NEWTON = PRECISE | {"sync_threshold": 0.1}
FAMILIES = [
    ("fldb-ogd", DUELS, 4),
    ("fldb-ogd", DUELS | {"period": 3, "smallest_upload": 2}, 6),
    ("fldb-gd", DUELS, 3),
    ("fldb-gd", DUELS | {"solver": "gradient", "inner_steps": 3, "step": 0.1}, 2),
    ("fldb-gd", DUELS | {"smallest_upload": 2}, 4),
    ("fedglb-ucb", NEWTON, 2),
    ("fedglb-ucb-1", PRECISE | {"rounds_of_update": 50}, 4),
    ("fedglb-ucb-2", {"suboptimality": 1e-4, "rounds_of_update": 50}, 4),
    ("fedglb-ucb-3", {"rounds_of_update": 50}, 6),
]
QUICK = (1, 5, 8)  # of these, in every test run
SECURE = {"secure.ready", "secure.keys", "secure.shares", "secure.masked", "secure.unmask"}


def is_probe(message):
    return isinstance(message, Question) and message.step > 0


def model(state):
    return state.anchor if hasattr(state, "anchor") else state.model if hasattr(state, "model") else state.search.trial


def sums(state):
    return state.information if hasattr(state, "information") else state.gram


@pytest.mark.parametrize(
    ("name", "parameters", "rounds"),
    [each if place in QUICK else pytest.param(*each, marks=pytest.mark.slow) for place, each in enumerate(FAMILIES)],
)
def test_a_run_is_that_of_a_plain_federation(name, parameters, rounds):
    plain, secure = Rounds(name, secure=False, **parameters), Rounds(name, **parameters)
    for each in (plain, secure):
        each.play(rounds)
    assert secure.choices == plain.choices
    np.testing.assert_array_equal(sums(secure.within), sums(plain.within))
    np.testing.assert_allclose(model(secure.within), model(plain.within), atol=1e-6, rtol=0)
    assert np.abs(model(plain.within)).max() > 1e-4
    gathering = secure.state.gathering
    assert gathering.finished >= 2
    assert (gathering.dropped, gathering.refused, gathering.stage) == (0, 0, NONE)
    assert secure.kinds == SECURE, "nothing else leaves a site"
    assert encode_state(replay(secure.charter, secure.journal.records()).state) == encode_state(secure.state)


def until_probe(run):
    """Play until sites are about to be asked for gradients; return what they are about to be sent."""
    for round_ in range(20):
        for number in range(SITES):
            run.turn(number, round_)
            if answers := run.exchange(until=is_probe):
                return answers
    raise AssertionError("nobody is asked")


def test_a_site_with_fewer_observations_than_the_smallest_upload_has_nothing_and_keeps_them():
    run = Rounds("fedglb-ucb", **NEWTON, smallest_upload=3)
    for round_ in range(3):
        for number in range(SITES):
            if (number, round_) != (1, 2):
                run.turn(number, round_)
    run.exchange()
    assert (run.within.version, run.within.taken.tolist()) == (1, [3, 0, 3, 3])
    np.testing.assert_array_equal(total_gram(run), run.outer_products)
    run.turn(1, 2)
    for number in (0, 2, 3):
        for round_ in range(3, 6):
            run.turn(number, round_)
    run.exchange()
    assert (run.within.version, run.within.taken.tolist()) == (2, [6, 3, 6, 6])
    assert run.within.observations == 21


def test_a_search_goes_on_without_a_site_that_is_lost_between_two_questions():
    run = Rounds("fedglb-ucb", **NEWTON)
    answers = until_probe(run)
    run.silent = {2}
    run.carry(answers)
    while run.server.awaited().size:
        assert run.deadline() == [2]
    assert run.within.version == 1
    left = [run.site_state(number).within for number in (0, 1, 3)]
    at = run.within.model[np.newaxis]
    slope = sum(gradient_of_each(each.kept, WHO, WHO, each.shared.called, at, LOGISTIC)[0] for each in left)
    np.testing.assert_allclose(slope + run.charter.algorithm.ridge * run.within.model, 0.0, atol=1e-3)
    run.come_back()
    np.testing.assert_array_equal(total_gram(run), run.outer_products)
    assert run.site_state(2).within.rows.version[0] == 1, "it is told the model all the same"


def test_an_update_that_too_few_answer_leaves_the_model_and_what_was_told_counts_in_the_next():
    run = Rounds("fedglb-ucb", **NEWTON)
    answers = until_probe(run)
    run.silent = {1, 2}
    run.carry(answers)
    run.deadline()
    gathering = run.state.gathering
    assert (gathering.dropped, run.within.version, run.within.questions.is_open) == (1, 0, False)
    assert run.state.pending.any()
    run.come_back()
    np.testing.assert_array_equal(total_gram(run), run.outer_products)
    run.play(3, first=20)
    assert run.within.version > 0
    assert not run.state.pending.any()
    np.testing.assert_array_equal(total_gram(run), run.outer_products)


def test_a_site_that_was_not_in_the_first_sum_keeps_its_observations_for_the_next():
    run = Rounds("fedglb-ucb", **NEWTON)
    run.silent = {3}
    for round_ in range(20):
        for number in range(SITES):
            run.turn(number, round_)
            run.exchange()
        if run.server.awaited().size:
            break
    while run.server.awaited().size:
        assert run.deadline() == [3]
    assert run.within.taken[3] == 0
    run.come_back()
    np.testing.assert_array_equal(total_gram(run), run.outer_products)
    run.play(3, first=20)
    assert run.within.taken[3] > 0
    np.testing.assert_array_equal(total_gram(run), run.outer_products)


@pytest.mark.slow
def test_a_search_among_duels_that_too_few_answer_ends_where_it_stands_and_all_know_it():
    run = Rounds("fldb-gd", **DUELS)
    run.play(1)
    for number in range(SITES):
        run.turn(number, 1)
    answers = run.exchange(until=lambda message: isinstance(message, Question) and message.step == 3)
    run.silent = {0, 3}
    run.carry(answers)
    run.deadline()
    assert run.state.gathering.dropped == 1
    assert not run.within.questions.is_open
    run.come_back()
    for number in range(SITES):
        np.testing.assert_array_equal(run.site_state(number).within.estimate[0], run.within.search.trial)
        assert run.site_state(number).answer == run.within.questions.number
    run.play(2, first=2)
    information = run.within.information - 4.0 * np.eye(2)
    np.testing.assert_array_equal(information, run.outer_products)


def test_a_site_that_missed_the_end_of_a_search_contributes_no_gradient_of_another_place():
    run = Rounds("fldb-gd", **DUELS)
    run.play(1)
    for number in range(SITES):
        run.site_state(number).answer -= number == 2
    for number in range(SITES):
        run.turn(number, 1)
    answers = run.exchange(until=lambda message: isinstance(message, Question) and message.step == 2)
    assert run.state.gathering.counted[2] == run.state.gathering.version - 2, "not in the first gradients"
    run.carry(answers)
    assert run.state.gathering.stage == NONE
