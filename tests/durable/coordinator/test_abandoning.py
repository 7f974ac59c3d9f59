"""A secure aggregation that waits for sites which are lost: an operator is told, and gives it up."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.bounds import Bounds
from fedbandit.core.deadlines import RefusedSums, Waiting
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.secure.gathering import NONE, UNMASK
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from samples import pair
from samples.secure_pair import PLAIN, SECURE, SITES, open_site, stuck


def test_a_sum_that_waits_for_lost_sites_is_given_up_and_never_made():
    journal = MemoryJournal(keep_log=True)
    server, sites = stuck(journal)
    server.deadline(1.0)
    assert server.node.state.gathering.stage == UNMASK, "no deadline ends it"
    abandoned = server.abandon(2.0)
    assert (abandoned.lost, abandoned.awaited) == ([0, 1], [2, 3])
    state = encode_state(server.node.state)
    server = pair.open_server(SECURE, journal)
    assert encode_state(server.node.state) == state
    assert encode_state(replay(SECURE, journal.records()).state) == state
    pair.to_server(server, [frame for site in sites[2:] for frame in site.resend()])
    assert server.node.state.gathering.stage == NONE, "late answers make no sum of it"
    assert not server.node.state.within.gram.any()
    pair.asking(server, sites)
    assert [int(site.life.node.state.within.rows.fresh[0]) for site in sites] == [0, 0, 1, 1]


def test_an_operator_is_told_of_a_sum_that_has_long_waited_until_it_is_over():
    server, sites = stuck()
    kinds = []
    for now in (0.0, 599.0, 600.0, 1200.0):
        server.look_at_sums(now)
        kinds.append([each.kind for each in server.concerns])
    assert kinds == [[], [], ["sum-waits"], ["sum-waits"]]
    (concern,) = server.concerns
    assert concern.text == (
        "the last step of secure aggregation 1:0 lacks answers of sites 2, 3: start them, or give it up with "
        "`fedbandit abandon` if they are lost for good"
    )
    pair.asking(server, sites)
    server.look_at_sums(1300.0)
    assert not list(server.concerns)


def test_an_operator_is_told_of_a_sum_that_no_honest_sites_can_have():
    server = pair.open_server(SECURE)
    sites = [open_site(number) for number in range(SITES)]
    for number, site in enumerate(sites):
        pair.turn(site, number)
    sites[3].life.node.state.within.rows.new_gram[0] = -100.0 * np.eye(pair.DIMENSION)
    pair.exchange(server, sites)
    server.look_at_sums(5.0)
    assert [each.kind for each in server.concerns] == ["sum-refused"]
    assert not server.node.state.within.gram.any()
    pair.open_server(PLAIN).look_at_sums(5.0)


class Patient:
    """A server side that waits, and refuses sums, without any secure aggregation."""

    def __init__(self, within):
        self.within, self.waiting = within, Waiting(7, "the vote", [0, 2], [1])

    def __getattr__(self, name):
        return getattr(self.within, name)

    def waits_beyond(self, state):
        return self.waiting

    def abandon(self, state):
        self.waiting = None
        return ()

    def sum_limits(self, state):
        return self.within.bounds(Bounds())

    def limit_sums(self, state, limits):
        return

    def refused_sums(self, state):
        return RefusedSums(1, "it is green")


def test_whatever_server_waits_and_refuses_is_looked_after_without_a_look_into_its_state():
    server = pair.open_server(PLAIN)
    server.node.side = Patient(server.node.side)
    server.look_at_sums(0.0)
    server.look_at_sums(600.0)
    waits, refused = sorted((each.text for each in server.concerns), key=lambda text: "sum of" in text)
    assert "the vote" in waits
    assert "sites 1:" in waits
    assert "it is green" in refused
    assert server.abandon(601.0) == ([0, 2], [1])
    server.look_at_sums(602.0)
    assert [each.kind for each in server.concerns] == ["sum-refused"]


def test_there_is_nothing_to_give_up_but_a_last_step():
    with pytest.raises(InvalidInput, match="no secure aggregation waits for answers"):
        pair.open_server(SECURE).abandon(0.0)
    with pytest.raises(InvalidInput, match="this federation has no secure_aggregation"):
        pair.open_server(PLAIN).abandon(0.0)
