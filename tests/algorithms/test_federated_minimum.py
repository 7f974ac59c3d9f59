"""One exchange for all that minimise a loss whose terms stay with the clients."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.dueling.shared.family import Inbox
from fedbandit.algorithms.dueling.shared.search import Gradient, Lbfgs
from fedbandit.algorithms.federated_minimum import Gradients, Questions, no_questions
from fedbandit.algorithms.glm.shared.solvers import Accelerated, Answers, DampedNewton, Search
from fedbandit.kernels.glm.descent import new_search
from fedbandit.wire.state import decode_state, encode_state

CLIENTS, DIMENSION, RIDGE = 3, 2, 0.5
EVERYONE = np.arange(CLIENTS)


def asked(number=0):
    questions = no_questions(CLIENTS, Gradients(np.zeros((CLIENTS, DIMENSION))), number)
    questions.ask()
    return questions


def answer(questions, *clients, number=1, value=1.0):
    senders = np.array(clients)
    rows = np.full((len(clients), DIMENSION), value) * (senders[:, np.newaxis] + 1)
    message = Gradient(rows, np.full(len(clients), number))
    return questions.take_in(senders, message, questions.fits(senders, message.number))


def test_the_last_answer_is_told_and_every_row_is_its_senders():
    questions = asked()
    assert not answer(questions, 2)
    assert not answer(questions, 0)
    assert answer(questions, 1)
    np.testing.assert_array_equal(questions.rows.gradient[:, 0], [1.0, 2.0, 3.0])


def test_a_second_answer_and_one_to_another_question_change_nothing():
    questions = asked()
    answer(questions, 0)
    assert not answer(questions, 0, value=7.0)
    assert not answer(questions, 1, 2, number=2)
    assert questions.awaited().tolist() == [1, 2]
    np.testing.assert_array_equal(questions.rows.gradient, [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])


def test_of_a_message_of_several_only_the_answers_that_fit_are_kept():
    questions = asked()
    answer(questions, 1)
    message = Gradient(np.full((CLIENTS, DIMENSION), 9.0), np.array([1, 1, 2]))  # the second again, the third too early
    assert not questions.take_in(EVERYONE, message, questions.fits(EVERYONE, message.number))
    np.testing.assert_array_equal(questions.rows.gradient[:, 0], [9.0, 2.0, 0.0])
    assert questions.awaited().tolist() == [2]


def test_nothing_fits_where_no_question_is_open():
    questions = asked()
    questions.close()
    assert not questions.fits(EVERYONE, np.full(CLIENTS, questions.number)).any()


def test_what_the_silent_answered_before_counts_in_no_sum():
    questions = asked()
    assert answer(questions, 0, 1, 2)
    assert questions.ask() == 2
    answer(questions, 0, 2, number=2)
    questions.forget_silent()
    np.testing.assert_array_equal(questions.rows.gradient[:, 0], [1.0, 0.0, 3.0])


def logistic_gradients(theta, features):
    margins = features @ theta
    return -features * (1.0 / (1.0 + np.exp(margins)))[..., np.newaxis]


def as_answers(gradients, theta, features):
    slope = 0.25 / np.cosh(features @ theta / 2.0) ** 2
    outer = features[..., :, np.newaxis] * features[..., np.newaxis, :]
    counts = np.full(len(features), features.shape[1])
    return Answers(outer.sum(axis=1), gradients, (slope[..., np.newaxis, np.newaxis] * outer).sum(axis=1), counts)


@pytest.mark.parametrize("kind", [Accelerated, DampedNewton, Lbfgs])
def test_every_solver_finds_the_same_minimum_by_the_same_exchange(kind):
    """A loss is declared by its gradients: logistic losses here, of ten observations at each client."""
    features = np.random.default_rng(4).standard_normal((CLIENTS, 10, DIMENSION)) / 3
    gram, total = np.einsum("nki,nkj->ij", features, features), CLIENTS * 10
    if kind is Lbfgs:
        solver, search = Lbfgs(RIDGE), new_search(DIMENSION)
    else:
        algorithm = fb.algorithm("fedglb-ucb", ridge=RIDGE, arm_bound=float(np.linalg.norm(features, axis=2).max()))
        constants = algorithm.constants(fb.Setting(CLIENTS, 2, DIMENSION, 10))
        solver = kind(constants, algorithm.arm_bound, 1e-20)
        search = Search(np.zeros(DIMENSION), np.zeros(DIMENSION))
    solver.begin(search, gram, total)
    questions = asked()
    for _ in range(2000):
        theta = search.trial if kind is Lbfgs else search.iterate
        gradients = logistic_gradients(theta, features).sum(axis=1)
        message = Gradient(gradients, np.full(CLIENTS, questions.number))
        assert questions.take_in(EVERYONE, message, questions.fits(EVERYONE, message.number))
        rows = questions.rows if kind is Lbfgs else as_answers(questions.rows.gradient, theta, features)
        if solver.advance(search, rows):
            break
        questions.ask()
    found = search.trial if kind is Lbfgs else search.iterate
    slope = logistic_gradients(found, features).sum(axis=(0, 1)) + RIDGE * found
    assert np.linalg.norm(slope) < 1e-9


@dataclass
class Asking:
    """A state with questions in it, as it is now."""

    questions: Questions[Gradients]
    inbox: Inbox | None = None


def before():
    """The same state, with questions as 0.1.0 had them."""

    @dataclass
    class Questions:
        is_open: bool
        number: int
        answers: Inbox

    @dataclass
    class Asking:
        questions: Questions
        inbox: Inbox | None = field(default=None)

    Questions.__qualname__, Asking.__qualname__ = "Questions", "Asking"
    rows = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
    return Asking(Questions(is_open=True, number=5, answers=Inbox(rows, np.array([0, 1, 0]))))


def test_questions_of_0_1_are_read_with_the_answers_that_had_come():
    read = decode_state(encode_state(before()), Asking).questions
    assert (read.is_open, read.number, read.awaited().tolist()) == (True, 5, [0, 2])
    np.testing.assert_array_equal(read.rows.gradient[1], [3.0, 4.0])
    assert answer(read, 0, 2, number=5)


def test_questions_come_back_as_they_were():
    questions = asked()
    answer(questions, 1)
    again = decode_state(encode_state(Asking(questions)), Asking).questions
    assert type(again) is Questions
    np.testing.assert_equal(vars(again) | {"rows": None}, vars(questions) | {"rows": None})
    np.testing.assert_array_equal(again.rows.gradient, questions.rows.gradient)
