"""At the edge of what a site can honestly send: just within is taken in, just beyond is refused, with the reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contract.honest_runs import LENGTH, REWARD, HonestRun
from contract.small_worlds import NEEDS_JAX
from fedbandit.algorithms.glm.shared.messages import Statistics
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.wire import decode, encode


class Reached(Exception):
    """The upload that was waited for is here."""


class UpTo(HonestRun):
    """A run that stops before the first upload of a kind that tells of something."""

    def __init__(self, name, kind, **parameters):
        super().__init__(name, rounds=12, seed=5, **parameters)
        self.kind = kind
        with pytest.raises(Reached):
            self.play()

    def upload(self, frame, now):
        message = decode(frame.body)
        arrays = [np.asarray(getattr(message, name)) for name in message.shapes()]
        if message.kind == self.kind and (not arrays or any(each.any() for each in arrays)):
            self.frame, self.message = frame, message
            raise Reached
        super().upload(frame, now)

    def send(self, **changes):
        body = encode(replace(self.message, **changes))
        return self.server.receive(replace(self.frame, body=body).to_bytes(), 0.0, self.frame.client)


def along(length, like):
    vector = np.zeros_like(like)
    vector[0, 0] = length
    return vector


def corner(size, like):
    matrix = np.zeros_like(like)
    matrix[0, 0, 0] = size
    return matrix


def gradient_of_glm(run, factor):
    told = int(run.server.node.state.questions.rows.observations[run.frame.client])
    return {"gradient": along(factor * told * LENGTH * (1 + REWARD), run.message.gradient)}  # n L (1 + R), logistic


def curvature_of_glm(run, factor):
    told = int(run.server.node.state.questions.rows.observations[run.frame.client])
    return {"curvature": corner(factor * told * LENGTH**2 / 4, run.message.curvature)}  # n L^2 / 4, logistic


def gram_of_glm(run, factor):
    new = int(run.message.told()[0])
    return {"gram": corner(factor * new * LENGTH**2, run.message.gram)}


def estimates(run, factor):
    return {"estimates": corner(factor * REWARD**2 / run.charter.algorithm.forced_penalty, run.message.estimates)}


def information(run, factor):
    return {"information": corner(factor * (2 * LENGTH) ** 2, run.message.information)}


def progress(run, factor):
    size = (2 * LENGTH) ** 2
    gradient = along(factor * 2 * LENGTH, run.message.gradient)
    return {"information": corner(size, run.message.information), "gradient": gradient}


def gradient_of_duels(run, factor):
    told = run.server.accounts.observations[run.frame.client]
    return {"gradient": along(factor * told * 2 * LENGTH, run.message.gradient)}


def inverse(run, factor):
    like = np.asarray(run.message.inverse)
    return {"inverse": (np.eye(like.shape[-1]) * factor / run.charter.algorithm.ridge)[np.newaxis].astype(like.dtype)}


def global_moment(run, factor):
    n = int(run.message.observations[0])
    gram = corner(n * LENGTH**2, run.message.gram)
    return {"gram": gram, "moment": along(factor * n * LENGTH * (REWARD + LENGTH), run.message.moment)}


EDGES = [
    pytest.param("fedglb-ucb", "glm.curvature", gradient_of_glm, "length of the gradient", id="glm gradient"),
    pytest.param("fedglb-ucb", "glm.curvature", curvature_of_glm, "trace of the curvature", id="glm curvature"),
    pytest.param("fedglb-ucb", "glm.statistics", gram_of_glm, "trace of the gram matrix", id="glm gram"),
    pytest.param("fedglb-ucb-1", "glm.gradient", gradient_of_glm, "length of the gradient", id="glm gradient alone"),
    pytest.param("fedego-lasso", "lasso.teamwork", estimates, "absolute values of an estimate", id="lasso estimates"),
    pytest.param("fldb-gd", "dueling.information", information, "trace of the information", id="information"),
    pytest.param("fldb-gd", "dueling.gradient", gradient_of_duels, "length of the gradient", id="duels' gradient"),
    pytest.param("fldb-ogd", "dueling.progress", progress, "length of the gradient", id="progress"),
    pytest.param("async-linucb-am", "linear.statistics", global_moment, "moment", id="the global part"),
    pytest.param("fn-ucb-less", "neural.contribution", inverse, "1 / ridge", id="inverse", marks=NEEDS_JAX),
]


@pytest.mark.parametrize(("name", "kind", "at", "reason"), EDGES)
def test_the_edge_is_where_it_is_said_to_be(name, kind, at, reason):
    run = UpTo(name, kind)
    beyond = run.send(**at(run, 1.01))
    assert beyond.outcome is Outcome.REFUSED
    assert reason in beyond.reason
    assert run.send(**at(run, 1.0)).outcome is Outcome.ACCEPTED


def test_the_information_of_two_duels_is_not_that_of_one():
    run = UpTo("fldb-gd", "dueling.information")
    two = corner(1.0, run.message.information)
    two[0, 1, 1] = 1.0
    assert "more than one direction" in run.send(information=two).reason


def test_progress_comes_when_the_period_ends_and_speaks_of_no_more_duels():
    run = UpTo("fldb-ogd", "dueling.progress", period=4)
    assert "nothing is sent after round 7: the period is 4" in run.send(rounds=np.array([7])).reason
    many = corner(4.01 * (2 * LENGTH) ** 2, run.message.information)
    assert "trace of the information" in run.send(rounds=np.array([4000]), information=many).reason
    assert run.send(rounds=np.array([4])).outcome is Outcome.ACCEPTED


def test_sums_speak_of_the_observations_that_they_name():
    run = UpTo("fedglb-ucb", "glm.statistics")
    assert "of no observations" in run.send(since=run.message.observations).reason
    assert "of no observations" in run.send(since=run.message.observations + 5).reason


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("fedglb-ucb", "glm.due"),
        ("fedglb-ucb", "glm.statistics"),
        ("fedglb-ucb-1", "glm.gradient"),
        pytest.param("fn-ucb-less", "neural.request", marks=NEEDS_JAX),
        pytest.param("fn-ucb-less", "neural.contribution", marks=NEEDS_JAX),
    ],
)
def test_an_update_far_in_the_future_is_refused_and_one_a_little_ahead_is_not(name, kind):
    run = UpTo(name, kind)
    assert "is far beyond" in run.send(version=np.array([2**20 + 2])).reason
    assert run.send(version=run.message.version + 5).outcome is Outcome.ACCEPTED


def test_a_question_far_in_the_future_is_refused():
    run = UpTo("fldb-gd", "dueling.gradient")
    assert "question 1048600 is far beyond 1" in run.send(number=np.array([1_048_600])).reason


def test_a_stage_that_would_take_longer_than_all_time_is_refused():
    run = UpTo("fedego-lasso", "lasso.teamwork")
    assert "stage 41 has not been" in run.send(stage=np.array([41])).reason
    assert run.send(stage=np.array([40])).outcome is Outcome.ACCEPTED


def test_statistics_are_no_answer_to_a_probe():
    """Told before anything is undone: each time that an algorithm fails halfway costs the coordinator a recovery."""
    run = UpTo("fedglb-ucb-1", "glm.gradient")
    size = run.message.gradient.shape[1]
    headers = {"version": run.message.version, "step": run.message.step}
    none = np.zeros(1, dtype=np.int64)
    run.message = Statistics(np.zeros((1, size, size)), observations=none, since=none, **headers)
    assert run.send().reason == "step 1 is answered by 'glm.gradient', not by 'glm.statistics'"
