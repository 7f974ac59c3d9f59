"""Features are added and removed, and the ridge changes, while earlier uploads and downloads are under way."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.protocol.changing import changed
from fedbandit.simulation.replay import replay
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import encode_state
from samples.pair import NO_LOTS, asking, charter, copy_of, exchange, kinds, open_server, open_site, to_server, to_sites
from samples.revising import federation, revise

EAGER = {"upload_threshold": 1.0, "download_threshold": 1.0}
ADDED, REMOVED, MIXED = {"dimension": 4}, {"drop": "1"}, {"drop": "0", "dimension": 5}
FAMILY = {  # all members whose sums can be carried over
    "async-linucb": EAGER,
    "sync-linucb": {"sync_threshold": 0.0},
    "lean-linucb": {**EAGER, "precision": "float64"},
    "fedlinucb": {"upload_threshold": 1.0},
}


class World:
    """Turns of sites whose arms are all alike, and what their sums must be after all changes."""

    def __init__(self, dimension=3):
        self.rng = np.random.default_rng(5)
        self.observed = []  # with all features, earlier ones in their place
        self.dimension = dimension

    def turn(self, site, reward=0.5):
        name = self.choose(site)
        site.learn(name, reward)

    def choose(self, site):
        size = site.charter.setting.dimension
        arm = self.rng.integers(-16, 17, size) / 16
        name, _ = site.choose(np.tile(arm, (1, 2, 1)), np.zeros((1, site.draws)) if site.draws else NO_LOTS)
        self.observed.append(arm)
        return name

    def change(self, server, values):
        """Change the features, and what was observed before with them: the literal version."""
        places = changed(server.charter, values).places
        revise(server, values)
        self.observed = [np.array([arm[each] if each >= 0 else 0.0 for each in places]) for arm in self.observed]

    def sums(self, reward=0.5):
        size = len(self.observed[0])
        gram, moment = np.zeros((size, size)), np.zeros(size)
        for arm in self.observed:
            gram += np.outer(arm, arm)
            moment += reward * arm
        return gram, moment


def asking_alone(server, site):
    """Let one site exchange all that it has with the coordinator; what is for others is lost."""
    for _ in range(4):
        to_server(server, site.resend())
        for number, data in server.commit():
            if number == site.number:
                site.receive(data)


def all_sums(server, sites):
    """What the coordinator has, and what sites have yet to send."""
    state = server.node.state
    rows = [site.life.node.state.rows for site in sites]
    gram = state.gram + sum(each.new_gram[0] for each in rows)
    return gram, state.moment + sum(each.new_moment[0] for each in rows)


def require_exact(world, server, sites):
    for found, expected in zip(all_sums(server, sites), world.sums(), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("values", [ADDED, REMOVED, MIXED, {"ridge": 0.5}], ids=str)
@pytest.mark.parametrize("name", FAMILY)
def test_all_that_was_observed_counts_once_whatever_is_under_way_when_features_change(name, values):
    server, sites = federation(of=charter(name, **FAMILY[name]))
    world = World()
    for site in sites:
        world.turn(site)
    exchange(server, sites)
    world.turn(sites[0])
    frames = sites[0].commit()  # on their way
    world.turn(sites[1])  # yet to be sent, and sealed before the change is heard of
    late = world.choose(sites[1])  # its reward comes when the features have changed
    world.change(server, values)
    assert set(to_server(server, frames)) == {"accepted"}
    assert set(to_server(server, frames)) == {"repeated"}
    to_sites(sites, server.commit())
    assert [site.charter for site in sites] == [server.charter] * 2
    sites[1].learn(late, 0.5)
    for site in sites:
        world.turn(site)
    asking(server, sites)
    assert [(site.unsent, site.disagreement) for site in sites] == [(0, "")] * 2
    require_exact(world, server, sites)
    again = replay(server.given, server.journal.records())
    assert encode_state(again.state) == encode_state(server.node.state)
    reopened = open_server(server.given, copy_of(server.journal))
    assert encode_state(reopened.node.state) == encode_state(server.node.state)
    for number, site in enumerate(sites):
        site.flush()
        node = open_site(server.given, number, copy_of(site.journal)).life.node
        if not node.side.asks:
            assert encode_state(node.state) == encode_state(site.life.node.state)
        assert (node.form, node.state.rows.gram.shape) == (site.life.node.form, site.life.node.state.rows.gram.shape)


@pytest.mark.parametrize("name", FAMILY)
def test_a_site_that_was_away_while_much_has_changed_is_heard_and_hears_of_all_of_it(name):
    server, sites = federation(of=charter(name, **FAMILY[name]))
    world = World()
    for values in (ADDED, {"ridge": 0.5}, REMOVED, MIXED):
        world.turn(sites[0])
        asking_alone(server, sites[0])
        world.change(server, values)
        asking_alone(server, sites[0])
    assert (sites[1].revisions, sites[0].revisions) == (0, 4)
    arm = np.array([1, 2, 3]) / 16
    name, _ = sites[1].choose(np.tile(arm, (1, 2, 1)), NO_LOTS)
    sites[1].learn(name, 0.5)
    waiting = sites[1].commit()
    asking(server, sites)
    to_server(server, waiting)
    assert (sites[1].revisions, sites[1].unsent) == (4, 0)
    for places in [each.places for each in server.agreed.forms[1:]]:
        arm = np.array([arm[each] if each >= 0 else 0.0 for each in places])
    world.observed.append(arm)
    require_exact(world, server, sites)
    assert sites[1].life.node.state.rows.gram.shape == sites[0].life.node.state.rows.gram.shape


@pytest.mark.parametrize("is_heard_first", [False, True])
def test_a_site_that_begins_with_the_charter_of_today_is_told_which_revision_that_is(is_heard_first):
    server, sites = federation(of=charter(**EAGER))
    for values in ({"dimension": "5"}, {"drop": "0"}, {"ridge": "0.5"}):
        revise(server, values)
    journal, world = MemoryJournal(), World()
    site = sites[1] = open_site(server.charter, 1, journal)
    assert (site.revisions, site.charter) == (0, server.charter)
    if is_heard_first:
        asking(server, [sites[0], site])
    world.turn(site)
    late = world.choose(site)
    stale = [data for data in site.resend() if Frame.from_bytes(data).kind is Kind.UPLOAD]
    site.unchecked = None
    site.save()
    asking(server, sites)
    if not is_heard_first:
        assert {Frame.from_bytes(data).form for data in stale} == {0}
        asking(server, sites)
    to_server(server, stale)  # the broker had kept them
    server.commit()
    assert (site.revisions, site.unsent, site.disagreement, site.refusals) == (3, 0, "", 0)
    site.flush()
    site = sites[1] = open_site(server.charter, 1, copy_of(journal))
    asking(server, sites)
    site.learn(late, 0.5)
    asking(server, sites)
    require_exact(world, server, [site])
    assert server.accounts.observations == {1: 2}


def test_a_site_of_0_1_0_is_told_of_no_revision():
    server, _ = federation(of=charter(**EAGER))
    server.accounts.old.add(1)
    revise(server, {"noise": 0.5})
    assert [number for number, _ in server.commit()] == [0]


def test_what_a_site_knows_is_what_it_would_have_learnt_with_the_new_ridge():
    def learnt(of, values):
        site, world = open_site(of, journal=MemoryJournal()), World()
        server = open_server(of)
        for _ in range(4):
            world.turn(site)
        to_server(server, site.commit())
        if values:
            revise(server, values)
            asking(server, [site])
        return site.life.node.state.rows

    changed_, begun = learnt(charter(**EAGER), {"ridge": 0.7}), learnt(charter(**EAGER, ridge=0.7), {})
    for name in ("inverse", "estimate", "log_det"):
        np.testing.assert_allclose(getattr(changed_, name)[0], getattr(begun, name)[0], rtol=1e-12)


def test_a_download_of_before_is_read_after_a_change_and_one_of_after_waits_for_it():
    server, sites = federation(of=charter(**EAGER))
    world = World()
    world.turn(sites[0])
    world.turn(sites[1])
    to_server(server, sites[0].commit())
    before = server.commit()
    to_server(server, sites[1].commit())
    revise(server, ADDED)
    answers = server.commit()
    charters = [each for each in answers if Frame.from_bytes(each[1]).kind is Kind.CHARTER]
    others = [each for each in answers if each not in charters]
    to_sites(sites, charters)
    to_sites(sites, [*before, *others])
    asking(server, sites)
    for site in sites:
        site.choose(np.zeros((1, 2, 4)), NO_LOTS)
        np.testing.assert_array_equal(site.life.node.state.rows.gram[0], server.node.state.gram)
    revise(server, REMOVED)
    for site in sites:
        name, _ = site.choose(np.full((1, 2, 4), 0.5), NO_LOTS)
        site.learn(name, 1.0)
        to_server(server, site.commit())
    answers = server.commit()
    new = [each for each in answers if Frame.from_bytes(each[1]).form == server.node.form]
    assert kinds(new) == ["DOWNLOAD"] * len(new)
    version = sites[0].version
    to_sites(sites, new)
    assert sites[0].version == version
    asking(server, sites)
    assert sites[0].version > version


def test_frames_are_what_they_were_until_features_change():
    server, sites = federation(of=charter(**EAGER))
    World().turn(sites[0])
    assert [Frame.from_bytes(data).form for data in sites[0].commit()] == [0] * sites[0].unsent
    revise(server, {"noise": 0.5})
    assert (server.node.form, server.agreed.forms) == (0, ())


def test_an_upload_in_a_form_that_is_not_known_waits():
    server, sites = federation(of=charter(**EAGER))
    backup = copy_of(server.journal)
    revise(server, ADDED)
    to_sites(sites, server.commit())
    world = World()
    world.turn(sites[0])
    restored = open_server(server.given, backup)
    frames = [data for data in sites[0].commit() if Frame.from_bytes(data).kind is Kind.UPLOAD]
    assert set(to_server(restored, frames)) == {"not yet"}
    revise(restored, ADDED)
    asking(restored, sites)
    assert sites[0].unsent == 0
    require_exact(world, restored, sites)
