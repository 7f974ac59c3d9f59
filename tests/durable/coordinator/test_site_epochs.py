"""A site may begin epochs for ever, now and then; memory of them is bounded, and what was forgotten is refused."""

import pytest

from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.site_epochs import KEPT_EPOCHS, WITH_DIGESTS, SiteEpochs
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.wire.digests import MOST_ASKED, mark_of
from fedbandit.wire.frame import Frame, Kind, with_numbers
from samples.pair import acknowledgements, charter, open_server, open_site, turn

ASYNC = charter()


def void(server, epoch, now=0.0, number=1):
    return server.receive(Frame(Kind.VOID, 0, epoch, number).to_bytes(), now, 0)


def test_an_allowance_of_epochs_fills_again_with_time():
    server = open_server(ASYNC, limits=Limits(epochs=2, seconds_per_epoch=60.0))
    verdicts = [void(server, epoch, now) for epoch, now in ((1, 0.0), (2, 0.0), (3, 59.0), (3, 60.0), (4, 60.0))]
    outcomes = [verdict.outcome for verdict in verdicts]
    assert outcomes == [Outcome.ACCEPTED, Outcome.ACCEPTED, Outcome.NOT_YET, Outcome.ACCEPTED, Outcome.NOT_YET]
    assert "may begin one every 60 seconds" in verdicts[2].reason
    assert void(server, 2, now=60.0, number=2).outcome is Outcome.ACCEPTED, "one that has begun goes on"


def test_a_site_is_never_shut_out_for_ever_and_its_epochs_take_bounded_memory():
    """A site without a store that is started every minute, for longer than a coordinator remembers."""
    server = open_server(ASYNC)
    for epoch in range(1, 2000):
        assert void(server, epoch, now=60.0 * epoch).outcome is Outcome.ACCEPTED
    assert len(server.node.seen.windows) == len(server.accounts.look(0).known) == KEPT_EPOCHS


def test_what_belongs_to_an_epoch_that_is_forgotten_is_refused_for_good():
    server = open_server(ASYNC, limits=Limits(epochs=10_000))
    for epoch in range(1, KEPT_EPOCHS + 3):
        void(server, epoch)
    verdicts = [void(server, epoch, number=2) for epoch in (1, 2, 3)]
    assert [verdict.outcome for verdict in verdicts] == [Outcome.REFUSED, Outcome.REFUSED, Outcome.ACCEPTED]
    assert "epoch 1 of site 0 is forgotten" in verdicts[0].reason
    again = open_server(ASYNC, server.journal, limits=Limits(epochs=10_000))
    assert again.accounts == server.accounts


def test_an_epoch_that_is_in_use_is_not_forgotten_for_others():
    epochs = SiteEpochs()
    for epoch in range(1, 2 * KEPT_EPOCHS):
        epochs.use(epoch)
        epochs.use(1)
    assert 1 in epochs.known
    assert 2 not in epochs.known
    assert epochs.forgotten == KEPT_EPOCHS


def test_digests_are_kept_of_the_epochs_that_were_used_last():
    epochs = SiteEpochs()
    for epoch in range(1, WITH_DIGESTS + 3):
        epochs.use(epoch)
        epochs.note(epoch, 1, b"sums", is_question=False)
    having = [epoch for epoch, digests in epochs.known.items() if digests is not None]
    assert having == list(range(3, WITH_DIGESTS + 3))
    assert not epochs.has_other(1, 1, b"others"), "nobody knows"
    assert epochs.has_other(3, 1, b"others")


@pytest.mark.parametrize("kind", ["ask", "close", "upload"])
def test_every_kind_of_frame_that_begins_an_epoch_counts(kind):
    server = open_server(ASYNC, limits=Limits(epochs=1))
    void(server, 1)
    site = open_site(ASYNC)
    turn(site)
    frames = {
        "ask": with_numbers(Kind.ASK, 0, 0, 0, 2, 5, 9).to_bytes(),
        "close": with_numbers(Kind.CLOSE, 0, 2, 1, 3).to_bytes(),
        "upload": site.commit()[0],
    }
    verdict = server.receive(frames[kind], 0.0, 0)
    assert verdict.outcome is Outcome.NOT_YET
    assert "in a short time" in verdict.reason


def test_a_number_under_which_nothing_will_come_is_acknowledged():
    server = open_server(ASYNC)
    for _ in range(2):
        server.receive(Frame(Kind.VOID, 0, 7, 1).to_bytes(), 0.0, 0)
        assert acknowledgements(server.commit()) == [(0, 7, 1)]


def test_of_questions_before_an_upload_as_many_count_as_it_tells_of():
    """What came before these may be forgotten."""
    epochs = SiteEpochs()
    epochs.use(7)
    for number in range(2, 2 + MOST_ASKED):
        epochs.note(7, number, b"question %d" % number, is_question=True)
    asked = [mark_of(b"question %d" % number) for number in range(2, 2 + MOST_ASKED)]
    assert epochs.asked_before(7, 2 + MOST_ASKED) == asked
    assert epochs.asked_before(7, 1 + MOST_ASKED) is None
