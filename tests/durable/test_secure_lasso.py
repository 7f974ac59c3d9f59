"""Secure aggregation of `fedego-lasso`: the averages of a plain federation, and none of a site's estimates."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.algorithm import Setting
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.protocol.charter import Charter
from fedbandit.secure.gathering import NONE, READY
from fedbandit.secure.member import IDLE
from fedbandit.secure.messages import Keys, Masked
from fedbandit.simulation.replay import replay
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import encode_state
from samples import pair
from samples.purses import KeyedIdentity

SITES, ARMS, DIMENSION = 4, 2, 3
SETTING = Setting(SITES, ARMS, DIMENSION, 100)
PLAIN = Charter.named("fedego-lasso", SETTING)
SECURE = Charter.named("fedego-lasso", SETTING, smallest_cohort=3)


def open_site(of, number, journal=None):
    site = pair.open_site(of, number, journal)
    site.identity = KeyedIdentity(number)
    return site


def turn(site, number, round_):
    rng = np.random.default_rng([number, round_])
    name, _ = site.choose(rng.standard_normal((1, DIMENSION)), pair.NO_LOTS)
    site.learn(name, float(rng.standard_normal()))


def play(server, sites, rounds, first=0, who=range(SITES)):
    for round_ in range(first, first + rounds):
        for number in who:
            turn(sites[number], number, round_)
        pair.exchange(server, sites)


def screening(site):
    state = site.life.node.state
    return getattr(state, "within", state).screening[0]


def test_the_averages_are_those_of_a_federation_without_it_but_for_rounding():
    found = []
    for charter in (PLAIN, SECURE):
        server, sites = pair.open_server(charter), [open_site(charter, number) for number in range(SITES)]
        play(server, sites, rounds=16)
        found.append([screening(site) for site in sites])
        assert np.abs(found[-1]).max() > 0.01
    assert server.node.state.gathering.finished == 4, "stages end after rounds 2, 4, 8 and 16"
    np.testing.assert_allclose(found[1], found[0], atol=2.0**-24, rtol=0)
    assert not any(site.life.in_exchange for site in sites)
    own = sites[0].life.node.state.within.teamwork.estimate[0]
    assert not np.allclose(server.node.state.within.estimates[0], own, atol=1e-6), "nobody has a site's own"


def test_all_are_called_when_all_have_ended_a_stage_or_at_the_deadline():
    server, sites = pair.open_server(SECURE), [open_site(SECURE, number) for number in range(SITES)]
    play(server, sites, rounds=2, who=(0, 1, 2))
    assert server.node.state.gathering.stage == READY
    assert server.awaited().tolist() == [3]
    assert server.deadline(1.0).tolist() == [3]
    pair.exchange(server, sites)
    gathering = server.node.state.gathering
    assert (gathering.stage, gathering.finished, gathering.counted.tolist()) == (NONE, 1, [1, 1, 1, 0])
    assert np.abs(screening(sites[3])).max() > 0.0, "it is told the average all the same"
    play(server, sites, rounds=2, who=(3,))
    play(server, sites, rounds=2, first=2)
    assert gathering.finished == 2


def test_with_too_few_nothing_leaves_and_what_was_estimated_is_contributed_later():
    server, sites = pair.open_server(SECURE), [open_site(SECURE, number) for number in range(SITES)]
    play(server, sites, rounds=2, who=(0, 1))
    server.deadline(1.0)
    pair.exchange(server, sites)
    gathering = server.node.state.gathering
    assert (gathering.finished, gathering.dropped) == (0, 1)
    assert not np.abs(screening(sites[0])).any()
    assert [site.life.node.state.turns for site in sites] == [2, 2, 0, 0]
    assert not any(site.life.in_exchange for site in sites)
    play(server, sites, rounds=2, who=(2, 3))
    server.deadline(2.0)
    pair.exchange(server, sites)
    assert gathering.counted.tolist() == [2, 2, 2, 2]
    assert [site.life.node.state.member.stage for site in sites] == [IDLE] * SITES


def test_the_log_replayed_gives_the_same_state_and_a_killed_site_goes_on():
    journal, stores = MemoryJournal(keep_log=True), [MemoryJournal() for _ in range(SITES)]
    server = pair.open_server(SECURE, journal)
    sites = [open_site(SECURE, number, stores[number]) for number in range(SITES)]
    play(server, sites, rounds=4)
    for number in range(SITES):
        turn(sites[number], number, 4)
        sites[number].commit()
    stores[1].crash(survivors=0)
    sites[1] = open_site(SECURE, 1, stores[1])
    pair.asking(server, sites)
    play(server, sites, rounds=3, first=5)
    assert server.node.state.gathering.finished == 3
    assert encode_state(replay(SECURE, journal.records()).state) == encode_state(server.node.state)


def test_no_upload_has_estimates_of_one_site():
    server, sites = pair.open_server(SECURE), [open_site(SECURE, number) for number in range(SITES)]
    for round_ in range(2):
        for number, site in enumerate(sites):
            turn(site, number, round_)
    seen = []
    for _ in range(20):
        frames = [frame for site in sites for frame in site.commit()]
        seen += [decode(each.body) for each in map(Frame.from_bytes, frames) if each.kind is Kind.UPLOAD]
        pair.to_server(server, frames)
        pair.to_sites(sites, server.commit())
    kinds = {type(each).kind for each in seen}
    assert kinds == {"secure.ready", "secure.keys", "secure.shares", "secure.masked", "secure.unmask"}
    assert [int(each.observations[0]) for each in seen if isinstance(each, Keys)] == [2] * SITES
    assert len([each for each in seen if isinstance(each, Masked)]) == SITES


def test_turns_after_which_no_stage_ends_make_no_average():
    parts = SECURE.build().server.parts
    with pytest.raises(ProtocolError, match="site 2 has had 6 turns, after which no stage ends"):
        parts.check_sum(None, None, np.zeros(6), {0: 2, 2: 6}, Bounds())
