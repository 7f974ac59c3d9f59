"""A site is forgotten: what is left is what there would be if it had never sent anything, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.algorithm import Setting
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.erasure import erasure_of
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.record import ServerRecord
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.replay import replay
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import encode_state
from samples import pair
from samples.forgetful import GONE, SALT, SITES, WORLDS, Federation, is_of, without
from simulation.tagged import sums_of


@WORLDS
def test_the_sums_are_those_of_a_replay_without_the_site_bit_for_bit(world):
    made = Federation(world)
    expected = replay(made.charter, without(list(made.journal.records()), GONE)).state
    had = encode_state(made.server.node.state)
    made.forget()
    for found, wanted in zip(sums_of(made.server.node.state), sums_of(expected), strict=True):
        assert found.tobytes() == wanted.tobytes()
    assert encode_state(made.server.node.state) != had


@WORLDS
def test_a_replay_of_the_log_gives_the_state_and_so_does_recovery_from_it_alone(world):
    made = Federation(world)
    made.forget()
    made.play(range(12, 15), sites=(0, 2))
    state = encode_state(made.server.node.state)
    log = list(made.journal.records())
    assert encode_state(replay(made.charter, log).state) == state
    assert encode_state(pair.open_server(made.charter, MemoryJournal.holding(None, (), log)).node.state) == state


def test_what_others_have_learnt_is_there_to_the_last_bit():
    made = Federation()
    made.forget()
    rows = [pair.offer(SITES * seed + number)[0, 0] for seed in range(12) for number in (0, 2)]
    gram, moment = sums_of(made.server.node.state)
    assert (gram == sum(np.outer(row, row) for row in rows)).all()
    assert (moment == sum(0.5 * row for row in rows)).all()


@WORLDS
def test_all_others_have_nothing_of_it_any_more_once_they_were_told(world):
    made = Federation(world)
    made.forget()
    for site in made.server.postbox.latest:
        made.server.postbox.post_again(site, 0, 0)
    pair.to_sites(made.sites, made.server.commit())
    gram, _ = sums_of(made.server.node.state)
    for site in made.left:
        site.choose(pair.offer(50), pair.NO_LOTS)  # downloads are taken up when they are needed
        rows = site.life.node.state.rows
        rounding = 1e-2 if world.endswith("as it is") else 0  # as the sums travel
        np.testing.assert_allclose(rows.gram[0], gram + rows.new_gram[0], rtol=0, atol=rounding)
        assert site.life.version == (made.server.node.epoch, 1)


def test_a_new_epoch_is_later_than_all_that_was_ever_sent():
    made = Federation()
    before = made.server.node.epoch, made.server.node.sent
    erased = made.forget().erased
    assert erased.version_before >= before
    assert erased.version_after > erased.version_before
    assert (made.server.node.epoch, made.server.node.sent) >= erased.version_after


def test_the_site_is_barred_also_with_what_was_on_its_way_and_others_are_not():
    made = Federation()
    pair.turn(made.sites[GONE], 99)
    late = made.sites[GONE].commit()
    made.forget()
    verdicts = [made.server.receive(frame, 7.0) for frame in [*late, *made.sites[GONE].resend()]]
    assert {each.outcome for each in verdicts} == {Outcome.REFUSED}
    assert {each.reason for each in verdicts} == {f"site {GONE} was forgotten: nothing of it is taken in any more"}
    kinds = [Frame.from_bytes(frame).kind for site, frame in made.server.commit() if site == GONE]
    assert set(kinds) == {Kind.REFUSAL}
    made.play(range(20, 22), sites=(0, 2))
    assert sorted(made.server.accounts.observations.items()) == [(0, 14), (2, 14)]


def test_it_stays_barred_after_every_start():
    made = Federation()
    made.forget()
    made.server.save()
    made.start()
    assert made.server.accounts.forgotten == {GONE}


def test_forgetting_once_more_changes_nothing_and_two_may_be_forgotten():
    made = Federation()
    made.forget()
    state, last = encode_state(made.server.node.state), len(list(made.journal.records()))
    assert made.forget() is None
    assert encode_state(made.server.node.state) == state
    assert len(list(made.journal.records())) == last + 1, "the opening"
    made.forget(2)
    assert made.server.accounts.forgotten == {GONE, 2}
    assert made.server.accounts.observations == {0: 12}
    log = list(made.journal.records())
    assert encode_state(replay(made.charter, log).state) == encode_state(made.server.node.state)


def test_one_that_never_sent_anything_can_be_barred():
    made = Federation()
    made.forget(GONE)
    lonely = Federation()
    lonely.journal = MemoryJournal(keep_log=True)
    lonely.server = pair.open_server(lonely.charter, lonely.journal)
    erased = lonely.forget(GONE).erased
    assert (erased.uploads, erased.observations, erased.first, erased.last) == (0, 0, None, None)
    assert erased.state_before == erased.state_after


def test_what_is_told_of_it_is_right():
    made = Federation()
    log = [ServerRecord.from_bytes(entry.data) for entry in made.journal.records()]
    frames = [Frame.from_bytes(record.data) for record in log if is_of(record, GONE)]
    numbers = sorted((each.epoch, each.sequence) for each in frames if each.kind is Kind.UPLOAD)
    erased = made.forget().erased
    assert (erased.uploads, erased.first, erased.last) == (len(numbers), numbers[0], numbers[-1])
    assert erased.observations == 12
    assert len({erased.digest, erased.state_before, erased.state_after}) == 3


class Careless(MemoryJournal):
    """Planted: it takes a snapshot, and leaves the records of the site in the log."""

    def save(self, snapshot, released=(), replaced=(), up_to=None):
        super().save(snapshot, released, up_to=up_to)


def test_forgotten_data_that_would_come_back_after_recovery_are_noticed():
    made = Federation(journal=Careless(keep_log=True))
    made.forget()
    log = list(made.journal.records())
    assert encode_state(replay(made.charter, log).state) != encode_state(made.server.node.state)


@pytest.mark.parametrize("site", [-1, SITES])
def test_a_site_that_there_is_not(site):
    with pytest.raises(InvalidInput, match=f"there is no site {site} in this federation: give a number from 0 to 2"):
        Federation().forget(site)


def test_without_the_whole_log_it_is_refused_and_nothing_is_changed():
    made = Federation(journal=MemoryJournal())
    made.server.save()
    before = made.journal.snapshot()
    with pytest.raises(InvalidInput, match="only a federation with keep_log = true since its first day can forget"):
        erasure_of(made.charter, made.journal, GONE, salt=SALT, now=5.0)
    assert made.journal.snapshot() == before


@pytest.mark.parametrize("name", ["clustered-linucb"])
def test_where_others_rest_on_what_they_heard_of_it_it_is_refused(name):
    journal = MemoryJournal(keep_log=True)
    charter = Charter.named(name, Setting(SITES, pair.ARMS, pair.DIMENSION, 100))
    pair.open_server(charter, journal)
    with pytest.raises(InvalidInput, match=f"{name} cannot forget a site"):
        erasure_of(charter, journal, GONE, salt=SALT, now=5.0)
