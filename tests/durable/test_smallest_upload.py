"""A deployed federation and its smallest upload: what is refused, what goes on as it was, and how it is changed."""

from __future__ import annotations

import pytest

import fedbandit as fb
from fedbandit.core.algorithm import Setting
from fedbandit.durable.coordinator.retuning import Retuned
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.protocol.agreement import charter_of
from fedbandit.protocol.changing import changed
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.revisions import Agreed
from samples import pair

SIZES = {"clients": 2, "arms": 2, "dimension": 3, "horizon": 100, "epoch_seconds": None, "features": None}
EAGER = {"upload_threshold": 1.0, "download_threshold": 1.0}


def turns(site, count, first=0):
    for seed in range(first, first + count):
        pair.turn(site, seed + 1)


def test_what_is_deployed_and_says_nothing_has_more_than_can_be_inverted():
    assert charter_of("async-linucb", {}, **SIZES).algorithm.smallest_upload == 10
    assert charter_of("lean-linucb", {}, **{**SIZES, "dimension": 25}).algorithm.smallest_upload == 50
    assert charter_of("async-linucb", {"smallest_upload": 1}, **SIZES).algorithm.smallest_upload == 1
    assert charter_of(fb.algorithm("async-linucb"), {}, **SIZES).algorithm.smallest_upload == 1
    assert "smallest_upload" not in charter_of("fedego-lasso", {}, **SIZES).algorithm.values()


def test_an_upload_of_fewer_is_refused_for_good():
    charter = pair.charter(smallest_upload=4)
    server, site = pair.open_server(charter), pair.open_site(charter)
    site.life.side.smallest = 0  # it does not keep to what was agreed on
    turns(site, 1)
    pair.exchange(server, [site])
    assert site.refusals == 1
    assert site.life.outbox.refused[0].reason == "1 observations, smallest_upload is 4"
    assert not server.node.state.gram.any()


def test_uploads_of_nothing_and_of_enough_are_taken_in():
    charter = pair.charter("sync-linucb", sync_threshold=0.0, smallest_upload=3)
    server = pair.open_server(charter)
    sites = [pair.open_site(charter, number) for number in range(2)]
    turns(sites[1], 2)
    turns(sites[0], 3)
    pair.exchange(server, sites)
    assert server.accounts.observations == {0: 3, 1: 0}
    assert [site.refusals for site in sites] == [0, 0]
    assert sites[1].life.node.state.rows.fresh[0] == 2
    assert not server.awaited().size, "it has answered, and no deadline waits for it"


def test_a_change_holds_at_once_and_what_a_site_sends_that_has_not_heard_is_taken_in():
    charter = pair.charter(smallest_upload=2)
    server, site = pair.open_server(charter), pair.open_site(charter)
    turns(site, 2)
    late = site.commit()
    server.revise(changed(server.charter, {"smallest_upload": 5}), Retuned(), 0.0)
    assert server.agreed.smallest_upload == 2, "the least that a site may go by"
    assert Agreed.from_text(server.agreed.text) == server.agreed
    pair.to_server(server, late)
    assert server.accounts.observations == {0: 2}
    pair.exchange(server, [site])
    turns(site, 4, first=2)
    pair.exchange(server, [site])
    assert server.accounts.observations == {0: 2}
    turns(site, 1, first=6)
    pair.exchange(server, [site])
    assert server.accounts.observations == {0: 7}


def test_a_journal_of_before_goes_on_with_single_observations(tmp_path):
    journal = SqliteJournal(tmp_path / "old.db")
    server = pair.open_server(Charter.named("async-linucb", Setting(2, 2, 3, 100), **EAGER), journal)
    server.save()
    journal.close()
    unsaid = charter_of("async-linucb", EAGER, **SIZES)
    assert unsaid.algorithm.smallest_upload == 10
    for given in (unsaid, pair.charter()):
        journal = SqliteJournal(tmp_path / "old.db")
        server = pair.open_server(given, journal)
        assert server.charter.algorithm.smallest_upload == 1
        journal.close()
    journal = SqliteJournal(tmp_path / "old.db")
    with pytest.raises(fb.InvalidInput, match="smallest_upload is 1, not 7"):
        pair.open_server(pair.charter(smallest_upload=7), journal)
    journal.close()


def test_so_does_a_store_of_before(tmp_path):
    how = {"dimension": 3, "clients": 2, "store": tmp_path / "site.db", **EAGER}
    with fb.Site("async-linucb", **how, smallest_upload=1) as site:
        site.learn(site.choose([[1.0, 0.0, 0.0]]), 1.0)
    with fb.Site("async-linucb", **how) as site:
        assert site.charter.algorithm.smallest_upload == 1
        site.learn(site.choose([[0.0, 1.0, 0.0]]), 1.0)
        assert [each.observations for each in site.audit() if each.observations] == [1, 1]
    with pytest.raises(fb.InvalidInput, match="smallest_upload is 1, not 7"):
        fb.Site("async-linucb", **how, smallest_upload=7)
