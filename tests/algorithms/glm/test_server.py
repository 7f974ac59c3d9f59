"""The server moves only when the whole roster has answered; whatever else happens changes nothing."""

from __future__ import annotations

import copy
from dataclasses import asdict, replace

import numpy as np
import pytest

from fedbandit.algorithms.glm.shared.messages import Behind, Call, GlobalModel, Gradient, Probe
from fedbandit.algorithms.glm.shared.updates import IDLE
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Outgoing
from samples.glm_exchange import CLIENTS, DIMENSION, EVERYONE, Exchange, same


def test_an_update_is_call_probes_and_a_model_for_all():
    exchange = Exchange()
    sent = exchange.finish(exchange.due())
    kinds = [type(each.message) for each in sent]
    assert kinds == [Call] + [Probe] * (len(kinds) - 2) + [GlobalModel]
    assert all(each.clients.tolist() == EVERYONE.tolist() for each in sent)
    assert [each.message.step for each in sent[1:-1]] == list(range(1, len(kinds) - 1))
    assert exchange.state.version == 1
    assert exchange.state.observations == 5 * CLIENTS
    assert exchange.state.questions.number == IDLE
    assert (exchange.cohort.rows.model == exchange.state.model).all()
    assert exchange.cohort.rows.last.tolist() == [5] * CLIENTS


@pytest.mark.parametrize("silent", range(CLIENTS))
@pytest.mark.parametrize("step", [0, 1, 2])
def test_while_one_client_is_silent_nothing_is_sent_and_nothing_committed_changes(silent, step):
    exchange = Exchange(sync_threshold=np.inf, suboptimality=1e-12)
    before = exchange.committed()
    (question,) = exchange.due()
    for _ in range(step):
        (answer,) = exchange.down(question)
        (question,) = exchange.up(answer)
    (answer,) = exchange.down(question)
    heard = np.delete(EVERYONE, silent)
    assert exchange.up(Outgoing(heard, answer.message.rows(heard))) == []
    assert same(exchange.committed(), before)
    iterate = exchange.state.search.iterate.copy()
    assert exchange.up(Outgoing(heard, answer.message.rows(heard))) == []  # again: no second answer counts
    assert (exchange.state.search.iterate == iterate).all()
    assert same(exchange.committed(), before)


def test_when_a_client_calls_again_only_those_who_owe_an_answer_are_asked_again():
    exchange, untroubled = Exchange(), Exchange()
    untroubled.finish(untroubled.due())
    (question,) = exchange.due()
    (answer,) = exchange.down(question)
    heard = np.array([1, 3])
    assert exchange.up(Outgoing(heard, answer.message.rows(heard))) == []
    (again,) = exchange.due()
    assert again.clients.tolist() == [0, 2]
    exchange.finish([again])
    assert same(exchange.committed(), untroubled.committed())


def test_the_order_of_answers_does_not_change_a_bit():
    exchange, untroubled = Exchange(), Exchange()
    untroubled.finish(untroubled.due())
    waiting = exchange.due()
    for _ in range(1000):
        if not waiting:
            break
        (question,) = waiting
        waiting = []
        for answer in exchange.down(question):
            for client in [2, 0, 3, 1]:
                waiting += exchange.up(Outgoing(np.array([client]), answer.message.rows(np.array([client]))))
    assert exchange.state.version == 1
    assert same(exchange.committed(), untroubled.committed())
    for name, rows in exchange.cohort.rows._asdict().items():
        assert np.array_equal(rows, getattr(untroubled.cohort.rows, name)), name


def test_late_and_foreign_answers_change_nothing():
    exchange = Exchange(sync_threshold=np.inf, suboptimality=1e-12)
    (call,) = exchange.due()
    (statistics,) = exchange.down(call)
    (probe,) = exchange.up(statistics)
    (gradient,) = exchange.down(probe)
    exchange.up(gradient)
    before = copy.deepcopy(asdict(exchange.state))
    assert exchange.up(statistics) == []  # of step 0, but step 2 is asked about
    assert exchange.up(gradient) == []  # of step 1
    wrong = Gradient(np.ones((CLIENTS, DIMENSION)), np.full(CLIENTS, 7), np.full(CLIENTS, 2))
    assert exchange.up(Outgoing(EVERYONE, wrong)) == []  # of another update
    after = asdict(exchange.state)
    np.testing.assert_equal(after, before)


def test_a_stale_call_for_an_update_that_was_made_is_ignored():
    exchange = Exchange()
    exchange.finish(exchange.due(version=1))
    before = exchange.committed()
    assert exchange.due(version=1) == []
    assert same(exchange.committed(), before)
    assert exchange.due(version=2)


def test_a_repeated_call_is_answered_with_the_same_observations():
    exchange = Exchange()
    (call,) = exchange.due()
    (first,) = exchange.down(call)
    for client in range(CLIENTS):
        exchange.turn(client)
    (second,) = exchange.down(call)
    np.testing.assert_equal(asdict(second.message), asdict(first.message))


def test_what_is_observed_during_an_update_is_kept_for_the_next():
    """Turns between the call and its end count neither twice nor never."""
    exchange = Exchange()
    (call,) = exchange.due()
    (statistics,) = exchange.down(call)
    for client in range(CLIENTS):
        exchange.turn(client)
    sent = exchange.finish(exchange.up(statistics))
    assert exchange.state.observations == 5 * CLIENTS
    rows = exchange.cohort.rows
    end = sent[-1].message
    extra = rows.gram - end.gram
    for client in range(CLIENTS):  # one arm each on top of the common statistics, and one Newton step
        assert np.linalg.matrix_rank(extra[client], tol=1e-9) == 1
        assert not np.array_equal(rows.model[client], end.model)
    exchange.finish(exchange.due(version=2, round_=6))
    assert exchange.state.observations == 6 * CLIENTS
    np.testing.assert_allclose(exchange.state.gram, end.gram + extra.sum(axis=0), atol=1e-12)
    assert (rows.gram == exchange.state.gram).all()


@pytest.mark.parametrize("name", ["fedglb-ucb", "fedglb-ucb-3"])
def test_a_client_that_missed_the_end_of_an_update_asks_for_it(name):
    own = {"rounds_of_update": 10} if name == "fedglb-ucb-3" else {"sync_threshold": np.inf}
    exchange = Exchange(name, turns=3, **own)
    sent = exchange.due(round_=3)
    for each in sent:
        is_end = not isinstance(each.message, Call | Probe)
        heard = Outgoing(EVERYONE[:-1], each.message) if is_end else each  # the last client misses the end
        for answer in exchange.down(heard):
            sent += exchange.up(answer)
    assert exchange.cohort.rows.version.tolist() == [1, 1, 1, 0]
    (call,) = exchange.due(version=2, round_=4)
    answers = exchange.down(call)
    assert [type(each.message) for each in answers][-1] is Behind
    assert answers[-1].clients.tolist() == [3]
    sent = [each for answer in answers for each in exchange.up(answer)]
    assert [each.clients.tolist() for each in sent] == [[3], [3]]  # the end of the last update, and the call
    exchange.finish(sent)
    assert exchange.cohort.rows.version.tolist() == [2, 2, 2, 2]
    assert exchange.state.version == 2


@pytest.mark.parametrize("name", ["fedglb-ucb-1", "fedglb-ucb-3"])
def test_the_variants_wait_for_everybody_too(name):
    exchange = Exchange(name, rounds_of_update=1)
    before = exchange.committed()
    (call,) = exchange.due()
    (answer,) = exchange.down(call)
    heard = np.array([0, 1, 2])
    assert exchange.up(Outgoing(heard, answer.message.rows(heard))) == []
    assert same(exchange.committed(), before)
    last = np.array([3])
    assert exchange.up(Outgoing(last, answer.message.rows(last)))


def test_an_answer_of_the_wrong_kind_is_refused_and_changes_nothing():
    exchange = Exchange()
    exchange.due()
    before = copy.deepcopy(asdict(exchange.state))
    wrong = Gradient(np.ones((CLIENTS, DIMENSION)), np.full(CLIENTS, 1), np.full(CLIENTS, 0))
    with pytest.raises(ProtocolError, match=r"step 0 is answered by 'glm\.statistics', not by 'glm\.gradient'"):
        exchange.up(Outgoing(EVERYONE, wrong))
    np.testing.assert_equal(asdict(exchange.state), before)


def test_at_a_deadline_old_answers_of_silent_clients_are_in_no_sum():
    """What they answered in the update before is still in their rows when the next one goes on without them."""
    exchange = Exchange()
    exchange.finish(exchange.due())
    before = exchange.state.gram.copy()
    for client in EVERYONE:
        exchange.turn(client)
    (question,) = exchange.due(version=2, round_=6)
    (answer,) = exchange.down(question)
    heard = np.array([0, 2])
    assert exchange.up(Outgoing(heard, answer.message.rows(heard))) == []
    exchange.finish(exchange.server.deadline(exchange.state))
    assert exchange.state.version == 2
    np.testing.assert_array_equal(exchange.state.gram, before + answer.message.rows(heard).gram.sum(axis=0))
    assert exchange.state.observations == 6 * 2
    assert exchange.state.taken.tolist() == [6, 5, 6, 5]


def test_an_honest_answer_of_a_client_that_is_not_asked_is_not_refused_and_changes_nothing():
    """It was asked by another life of the coordinator, in which it had told of its observations."""
    exchange = Exchange(sync_threshold=np.inf, suboptimality=1e-12)
    (call,) = exchange.due()
    (answer,) = exchange.down(call)
    heard, left_out = np.array([0, 2, 3]), np.array([1])
    exchange.up(Outgoing(heard, answer.message.rows(heard)))
    exchange.server.deadline(exchange.state)
    before = copy.deepcopy(asdict(exchange.state))
    late = Gradient(np.ones((1, DIMENSION)), np.array([1]), np.array([1]))
    exchange.server.check(exchange.state, 1, late, Bounds(1.0, 1.0), 5)
    assert exchange.up(Outgoing(left_out, late)) == []
    np.testing.assert_equal(asdict(exchange.state), before)
    with pytest.raises(ProtocolError, match="the length of the gradient is 1000: no honest one is longer than"):
        exchange.server.check(exchange.state, 0, replace(late, gradient=np.full((1, DIMENSION), 1e3 / DIMENSION**0.5)),
                              Bounds(1.0, 1.0), 5)  # fmt: skip


def test_a_search_begins_anew_where_it_is_when_clients_leave_it():
    """Acceleration remembers where another sum was to be found."""
    exchange = Exchange(sync_threshold=np.inf, suboptimality=1e-12)
    waiting = exchange.due()
    for _ in range(5):
        (question,) = waiting
        (answer,) = exchange.down(question)
        waiting = exchange.up(answer)
    search = exchange.state.search
    iterate = search.iterate.copy()
    assert search.momentum > 1.0
    assert not np.array_equal(search.place, iterate)
    (answer,) = exchange.down(waiting[0])
    heard = np.array([0, 2])
    exchange.up(Outgoing(heard, answer.message.rows(heard)))
    (probe,) = exchange.server.deadline(exchange.state)
    assert probe.clients.tolist() == [0, 2]
    assert probe.message.step == 6
    for each in (probe.message.model, search.iterate, search.place):
        np.testing.assert_array_equal(each, iterate)
    assert search.momentum == 1.0


def test_an_update_of_clients_that_have_observed_nothing_ends():
    exchange = Exchange(turns=0)
    sent = exchange.finish(exchange.due(round_=1))
    assert type(sent[-1].message) is GlobalModel
    assert exchange.state.observations == 0
    assert (exchange.cohort.rows.model == 0.0).all()
