"""Copies of a store of which one asks under a number under which the other tells: what both hold is counted once."""

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.messages import Hello, Question
from fedbandit.durable.outcome import Outcome
from fedbandit.durable.server import DurableServer
from fedbandit.protocol.charter import Charter
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind, Standing, number_taken, with_numbers
from samples.bad_frames import charter as of_async
from samples.bad_frames import statistics, upload
from samples.coordinators import coordinator
from samples.pair import NO_LOTS, open_site

LEAN = Charter.named("lean-linucb", of_async().setting, precision="float64", upload_threshold=1.0)
COPIED = statistics()  # what was unsent when the store was copied, and what each has learnt since
TWO = "two sites use number 1: "


def told(server, *uploads):
    """What a coordinator says to uploads of site 1, one after the other: numbers and messages."""
    return [server.receive(upload(each, sequence=number).to_bytes(), 0.0, 1).outcome for number, each in uploads]


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
def test_data_that_come_after_a_question_whose_number_has_told_data_are_refused(how):
    server = coordinator()
    assert told(server, (1, Hello()), (2, COPIED)) == [Outcome.ACCEPTED] * 2, "of the one"
    assert told(server, (2, Hello())) == [Outcome.REFUSED], "of the other, which has what is in 2 still"
    server.commit()
    if how != "as it is":
        if how == "from a snapshot":
            server.save()
        server = DurableServer(of_async(), server.journal, epoch=1, now=0.0)
    before = server.node.state.gram.copy()
    verdict = server.receive(upload(other(), sequence=3).to_bytes(), 0.0, 1)
    assert verdict.outcome is Outcome.REFUSED
    assert verdict.reason.startswith(TWO)
    [(site, answer)] = [each for each in server.commit() if Frame.from_bytes(each[1]).kind is Kind.REFUSAL]
    assert (site, Frame.from_bytes(answer).standing) == (1, Standing.NUMBER_TAKEN), "so that the site keeps it aside"
    assert (server.node.state.gram == before).all()


def test_where_both_have_asked_whoever_tells_first_is_counted_and_nobody_after_it():
    server = coordinator(of=LEAN)
    ask, other_ask = (Question(np.array([0]), np.array([level])) for level in (0.0, 1.0))
    assert told(server, (1, ask), (1, other_ask)) == [Outcome.ACCEPTED, Outcome.REFUSED]
    assert told(server, (2, COPIED)) == [Outcome.ACCEPTED]
    assert told(server, (3, other())) == [Outcome.REFUSED]
    assert told(server, (4, ask)) == [Outcome.ACCEPTED], "questions are harmless"
    assert server.receive(upload(COPIED, epoch=8).to_bytes(), 0.0, 1).outcome is Outcome.ACCEPTED, "in another epoch"


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
