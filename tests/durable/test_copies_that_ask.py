"""Copies of a store of which one asks under a number under which the other tells: what both hold is counted once."""

from dataclasses import replace

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.messages import Hello, Question
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.protocol.charter import Charter
from fedbandit.wire import decode, encode
from fedbandit.wire.digests import MOST_ASKED, fold, mark_of
from fedbandit.wire.frame import Frame, Kind, Standing, number_taken, with_numbers
from fedbandit.wire.state import decode_state, encode_state
from samples.bad_frames import charter as of_async
from samples.bad_frames import statistics, upload
from samples.coordinators import coordinator
from samples.pair import NO_LOTS, open_site

LEAN = Charter.named("lean-linucb", of_async().setting, precision="float64", upload_threshold=1.0)
COPIED = statistics()  # what was unsent when the store was copied, and what each has learnt since


def told(server, *uploads, after=()):
    """What a coordinator says to uploads of site 1, one after the other: numbers and messages, after some questions."""
    asked = fold([mark_of(encode(each)) for each in after])
    return [
        server.receive(replace(upload(each, sequence=number), asked=asked).to_bytes(), 0.0, 1).outcome
        for number, each in uploads
    ]


def last_upload(site):
    return [frame for frame in map(Frame.from_bytes, site.commit()) if frame.kind is Kind.UPLOAD][-1]


def next_data(site):
    """Let a site learn until it tells of it; all that it asks before is acknowledged."""
    for seed in range(30):
        node = site.life.node
        site.receive(with_numbers(Kind.ACKNOWLEDGEMENT, 0, node.epoch, *2 * node.sent.tolist(), 0).to_bytes())
        name, _ = site.choose(np.random.default_rng(seed).integers(-8, 9, (1, 2, 4)) / 16, NO_LOTS)
        site.learn(name, 0.5)
        if site.has_news and not decode((sent := last_upload(site)).body).is_signal():
            return sent
    raise AssertionError("it tells nothing")


def other():
    return statistics(gram=np.diag([1.0, 0.0, 1.0, 0.0]), moment=[0.5, 0.0, 0.5, 0.0])


@pytest.mark.parametrize("how", ["as it is", "started again", "from a snapshot"])
@pytest.mark.parametrize("comes", [True, False], ids=["its question was refused", "its question has not come"])
def test_data_that_come_after_a_question_whose_number_has_told_data_are_refused(how, comes):
    server = coordinator()
    assert told(server, (1, Hello()), (2, COPIED)) == [Outcome.ACCEPTED] * 2, "of the one"
    if comes:
        assert told(server, (2, Hello())) == [Outcome.REFUSED], "of the other, which has what is in 2 still"
    server.commit()
    if how != "as it is":
        if how == "from a snapshot":
            server.save()
        server = DurableServer(of_async(), server.journal, epoch=1, now=0.0)
    before = server.node.state.gram.copy()
    assert told(server, (3, other()), after=[Hello()]) == [Outcome.REFUSED]
    assert [(each.kind, each.site) for each in server.concerns] == [("two-sites-one-number", 1)]
    [(site, answer)] = [each for each in server.commit() if Frame.from_bytes(each[1]).kind is Kind.REFUSAL]
    assert (site, Frame.from_bytes(answer).standing) == (1, Standing.NUMBER_TAKEN), "so that the site keeps it aside"
    assert (server.node.state.gram == before).all()


def test_where_both_have_asked_what_is_told_after_the_question_that_was_refused_is_refused_too():
    server = coordinator(of=LEAN)
    ask, other_ask = (Question(np.array([0]), np.array([level])) for level in (0.0, 1.0))
    assert told(server, (1, ask), (1, other_ask)) == [Outcome.ACCEPTED, Outcome.REFUSED]
    assert told(server, (2, other()), after=[other_ask]) == [Outcome.REFUSED]
    assert told(server, (2, COPIED), after=[ask]) == [Outcome.ACCEPTED]
    assert told(server, (3, ask), (4, ask)) == [Outcome.ACCEPTED] * 2, "questions are harmless"
    assert told(server, (5, other()), after=[ask]) == [Outcome.REFUSED], "one of them is another's"
    assert told(server, (5, other()), after=[ask, ask]) == [Outcome.ACCEPTED]


def test_data_wait_for_the_questions_that_came_before_them():
    server, ask = coordinator(of=LEAN), Question(np.array([0]), np.array([0.0]))
    assert told(server, (2, COPIED), after=[ask]) == [Outcome.NOT_YET]
    assert told(server, (1, ask)) == [Outcome.ACCEPTED]
    assert told(server, (2, COPIED), after=[ask]) == [Outcome.ACCEPTED]


def test_data_after_a_number_under_which_nothing_came_are_taken_in():
    """A question that was refused for another reason: nobody knows what was asked."""
    server, ask = coordinator(of=LEAN), Question(np.array([0]), np.array([0.0]))
    assert server.receive(Frame(Kind.VOID, 1, 7, 1).to_bytes(), 0.0, 1).outcome is Outcome.ACCEPTED
    assert told(server, (2, COPIED), after=[ask]) == [Outcome.ACCEPTED]


def test_a_copied_upload_that_was_refused_itself_refuses_nothing_after_it():
    """What comes after it is its site's own: the upload held all that was unsent before."""
    server = coordinator()
    assert told(server, (1, Hello()), (2, COPIED)) == [Outcome.ACCEPTED] * 2
    assert told(server, (2, other())) == [Outcome.REFUSED]
    assert told(server, (3, other())) == [Outcome.ACCEPTED]


def test_a_site_whose_question_was_refused_goes_on_in_its_epoch_until_it_has_told():
    """In a new one nobody would know that another site has what it holds."""
    site = open_site(LEAN)
    epoch = site.life.node.epoch
    site.receive(number_taken(last_upload(site), "two sites").to_bytes())
    assert site.life.node.epoch == epoch
    assert len(site.refused) == 1
    data = next_data(site)
    assert data.epoch == epoch
    site.receive(number_taken(data, "two sites").to_bytes())
    assert site.life.node.epoch > epoch
    assert site.refused[-1].body == data.body


def test_data_tell_of_the_questions_before_them_also_when_they_are_numbered_anew():
    site = open_site(LEAN)
    outbox = site.life.outbox
    question, data = encode(Question(np.array([0]), np.array([0.0]))), encode(COPIED)
    for number, body in enumerate([question, data, data, question, question, data], start=10):
        outbox.seal(Frame(Kind.UPLOAD, 0, 3, number, body), is_question=body is question)
    mark = mark_of(question)
    assert [Frame.from_bytes(each).asked for key, each in outbox.frames.items() if key[0] == 3] == [
        0, fold([mark]), 0, 0, 0, fold([mark, mark]),
    ]  # fmt: skip
    outbox.move(3, 14, 8, asks=True)
    moved = {key: Frame.from_bytes(each).asked for key, each in outbox.frames.items() if key[0] == 8}
    assert moved == {(8, 1): 0, (8, 2): fold([mark])}, "the one under number 13 was sent in the epoch before"
    assert decode_state(encode_state(outbox), type(outbox)) == outbox


def test_of_very_many_questions_the_last_are_told_and_compared():
    server, ask = coordinator(of=LEAN), Question(np.array([0]), np.array([0.0]))
    many = MOST_ASKED + 9
    assert set(told(server, *[(number, ask) for number in range(1, many + 1)])) == {Outcome.ACCEPTED}
    site = open_site(LEAN)
    for number in range(1, many + 1):
        site.life.outbox.seal(Frame(Kind.UPLOAD, 1, 1, number, encode(ask)), is_question=True)
    assert len(site.life.outbox.asked) == MOST_ASKED
    assert told(server, (many + 1, COPIED), after=[ask] * many) == [Outcome.ACCEPTED]
