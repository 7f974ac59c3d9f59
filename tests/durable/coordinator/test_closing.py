"""A site that goes on in a new epoch has the old one closed; whatever it says of its epochs, it stops nobody."""

from dataclasses import replace

import pytest

from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.site_accounts import Accounts, Closure
from fedbandit.durable.coordinator.site_epochs import KEPT_EPOCHS
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind, with_numbers
from samples.pair import charter, open_server, open_site, to_server, turn

ASYNC = charter()


def close(server, epoch, first, heir, now=0.0):
    return server.receive(with_numbers(Kind.CLOSE, 0, epoch, first, heir).to_bytes(), now, 0)


def closed(server):
    """What sites were told of closed epochs: the epoch, the heir, and whether the number was taken in before."""
    answers = [Frame.from_bytes(data) for _, data in server.commit()]
    return [(each.epoch, *each.numbers[:2]) for each in answers if each.kind is Kind.CLOSED]


@pytest.mark.parametrize("heir", [7, 6, 0, LARGEST_NUMBER + 1, 2**64 - 1])
def test_an_heir_that_is_not_a_later_epoch_is_refused(heir):
    server = open_server(ASYNC)
    for _ in range(2):
        verdict = close(server, 7, 1, heir)
        assert verdict.outcome is Outcome.REFUSED
        assert "not a later one" in verdict.reason
    assert not server.accounts.closed


def test_a_journal_that_has_such_a_heir_already_is_walked_to_an_end():
    """Version 0.1.0 took in the first of two, and did not come to an end at the second."""
    closures = {(0, 7): Closure(1, 7), (0, 8): Closure(1, 9), (0, 9): Closure(1, 8)}
    accounts = Accounts(closed=closures)
    assert accounts.heirs(0, 7, first=1) == []
    assert accounts.heirs(0, 8, first=1) == [9]
    server = open_server(ASYNC)
    server.accounts.closed |= closures
    assert [close(server, epoch, 1, 20).outcome for epoch in (7, 8, 9)] == [Outcome.ACCEPTED] * 3


def test_closed_epochs_count_against_the_limit_and_are_forgotten_in_the_end():
    server = open_server(ASYNC, limits=Limits(epochs=3))
    outcomes = [close(server, epoch, 1, 10_000 + epoch).outcome for epoch in range(1, 6)]
    assert outcomes == [Outcome.ACCEPTED] * 3 + [Outcome.NOT_YET] * 2
    server = open_server(ASYNC, limits=Limits(epochs=10_000))
    for epoch in range(1, 3 * KEPT_EPOCHS):
        close(server, epoch, 1, epoch + 1)
        server.commit()
    assert len(server.accounts.closed) <= KEPT_EPOCHS
    assert len(server.accounts.look(0).known) == KEPT_EPOCHS


def test_the_first_number_of_a_lost_life_is_refused_and_the_one_before_it_is_not():
    server, site = open_server(ASYNC), open_site(ASYNC)
    for seed in range(3):
        turn(site, seed)
    frames = site.commit()
    epoch = site.life.node.epoch
    to_server(server, frames[:1])
    close(server, epoch, 3, epoch + 1)
    verdicts = [server.receive(frame, 0.0, 0) for frame in (frames[2], frames[1])]
    assert [verdict.outcome for verdict in verdicts] == [Outcome.REFUSED, Outcome.ACCEPTED]
    assert "from a life that was lost" in verdicts[0].reason
    assert server.node.state.uploads == 2


def test_a_site_whose_clock_went_back_learns_which_epoch_is_late_enough():
    """Its heir is below one that another life of it had; it asks again, with a later one, and goes on."""
    server, journal = open_server(ASYNC), MemoryJournal()
    site = open_site(ASYNC, journal=journal)
    turn(site)
    to_server(server, site.commit())
    server.commit()
    epoch = site.life.node.epoch
    close(server, epoch, 2, 10**9)
    assert closed(server) == [(epoch, 10**9, 0)]
    again = open_site(ASYNC, journal=journal, restored=True)
    turn(again, seed=1)
    for _ in range(3):
        to_server(server, again.resend())
        for _, data in server.commit():
            again.receive(data)
    assert again.life.node.epoch == 10**9 + 1
    assert not again.life.outbox.frames
    assert server.node.state.uploads == 2


def upload(server, epoch, number, seed=0):
    """Let a site upload something in an epoch, under a number."""
    site = open_site(ASYNC)
    turn(site, seed)
    frame = replace(Frame.from_bytes(site.commit()[0]), epoch=epoch, sequence=number)
    return to_server(server, [frame.to_bytes()])


@pytest.mark.parametrize(("number", "was_taken_in"), [(1, 1), (2, 0)])
def test_a_life_that_went_on_from_the_same_backup_is_asked_about_what_it_had(number, was_taken_in):
    """What the backup held unsent was in its first upload; with a later one alone, nobody knows."""
    server = open_server(ASYNC)
    close(server, 7, 3, 8)
    upload(server, 8, number)
    server.commit()
    close(server, 7, 3, 9)
    (answer,) = [each for each in map(Frame.from_bytes, dict(server.commit()).values()) if each.kind is Kind.CLOSED]
    assert answer.numbers == (9, was_taken_in, 3)


def test_what_is_said_of_lives_from_the_same_backup_is_said_again_to_each_that_asks():
    """An answer may be lost, and the site be opened once more: an upload of an earlier life counts all the same."""
    server = open_server(ASYNC)
    close(server, 7, 3, 8)
    upload(server, 8, 2)
    server.commit()
    for heir in (9, 9, 10, 11, 11):
        close(server, 7, 3, heir)
        (answer,) = map(Frame.from_bytes, dict(server.commit()).values())
        assert answer.numbers == (heir, 0, 3)


def test_a_life_that_sent_nothing_leaves_nothing_to_be_asked_about():
    server = open_server(ASYNC)
    close(server, 7, 3, 8)
    server.commit()
    close(server, 7, 3, 9)
    (answer,) = map(Frame.from_bytes, dict(server.commit()).values())
    assert answer.numbers == (9, 0, 0)
    assert server.accounts.closed == {(0, 7): Closure(3, 9), (0, 8): Closure(1, 9)}
    assert upload(server, 8, 1) == ["refused"]


def test_a_closing_at_a_later_number_does_not_open_what_an_earlier_one_has_closed():
    server = open_server(ASYNC)
    close(server, 7, 3, 8)
    close(server, 7, 5, 9)
    assert server.accounts.closed[0, 7] == Closure(3, 8)


@pytest.mark.parametrize("snapshot", [False, True])
def test_an_acknowledgement_for_a_lost_life_takes_nothing_from_what_is_held_back(snapshot):
    disk = MemoryJournal()
    epoch = open_site(ASYNC, journal=disk).life.node.epoch
    site = open_site(ASYNC, journal=disk)
    turn(site)
    held = list(site.life.outbox.frames)
    site.receive(with_numbers(Kind.ACKNOWLEDGEMENT, 0, epoch, 1, 1, 0).to_bytes())
    if snapshot:
        site.save()
    assert site.is_closing
    heir = Frame.from_bytes(site.resend()[1]).numbers[0]
    site.receive(with_numbers(Kind.CLOSED, 0, epoch, 1, heir, 0, 0).to_bytes())
    assert list(site.life.outbox.frames) == [(heir, number) for _, number in held]


@pytest.mark.parametrize("was_checked", [False, True])
@pytest.mark.parametrize(("was_taken_in", "is_kept"), [(0, True), (1, False)])
def test_what_was_unsent_is_kept_unless_a_lost_life_has_sent_it(was_taken_in, is_kept, was_checked):
    """A number above those of the site says that there was another life; it may have asked, and told nothing.

    Or there is another life, from a copy of the store, though the coordinator knew of none when the site was opened.
    """
    of, disk = charter(upload_threshold=1e9), MemoryJournal()
    before = open_site(of, journal=disk)
    turn(before)
    epoch, unsent = before.life.node.epoch, before.life.node.state.rows.new_gram.copy()
    before.commit()
    site = open_site(of, journal=disk)
    number = site.unchecked[1]
    if was_checked:
        told = number - 1, number - 1, site.opening
        site.receive(with_numbers(Kind.ACKNOWLEDGEMENT, 0, epoch, *told).to_bytes())
        assert site.unchecked is None
        site.save()
    site.receive(with_numbers(Kind.ACKNOWLEDGEMENT, 0, epoch, number, number, 0).to_bytes())
    heir = Frame.from_bytes(site.resend()[1]).numbers[0]
    site.receive(with_numbers(Kind.CLOSED, 0, epoch, number, heir, was_taken_in, number).to_bytes())
    assert site.life.node.epoch == heir
    assert unsent.any()
    assert (site.life.node.state.rows.new_gram == (unsent if is_kept else 0)).all()
