"""Sites are forgotten by a federation whose parameters have changed: the log still is the whole truth."""

from __future__ import annotations

from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from samples import pair
from samples.forgetful import GONE, Federation, without
from samples.revising import revise
from simulation.tagged import sums_of


def change(made, **values):
    revise(made.server, values)
    pair.exchange(made.server, made.sites)


def is_the_truth(made):
    log, state = list(made.journal.records()), encode_state(made.server.node.state)
    again = pair.open_server(made.charter, MemoryJournal.holding(None, (), log))
    return encode_state(replay(made.charter, log).state) == state == encode_state(again.node.state)


def test_a_log_with_three_revisions_and_two_forgettings_gives_the_live_state_bit_for_bit():
    made = Federation()
    change(made, upload_threshold=1.2)
    made.play(range(12, 16))
    made.forget(GONE)
    assert is_the_truth(made)
    change(made, download_threshold=1.3)
    made.play(range(16, 20), sites=(0, 2))
    change(made, noise=0.5)
    made.play(range(20, 22), sites=(0, 2))
    made.forget(2)
    made.play(range(22, 26), sites=(0,))
    assert is_the_truth(made)
    assert made.server.accounts.forgotten == {GONE, 2}
    assert sorted(made.server.accounts.observations) == [0]


def test_what_is_left_after_a_revision_is_a_replay_without_the_site():
    made = Federation()
    change(made, upload_threshold=1.2, download_threshold=1.3)
    made.play(range(12, 16))
    expected = replay(made.charter, without(list(made.journal.records()), GONE)).state
    made.forget(GONE)
    for found, wanted in zip(sums_of(made.server.node.state), sums_of(expected), strict=True):
        assert found.tobytes() == wanted.tobytes()
