"""A site that joins is told what its federation has agreed on: by the coordinator first, by its store after that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.ending import Ending
from fedbandit.site import joining
from fedbandit.site.joining import kept_in
from fedbandit.transport.link import LinkRefused
from samples.local_coordinator import LocalCoordinator
from samples.pair import charter, to_server, to_sites
from samples.revising import revise

ASYNC = charter()


def told_by(connect, number, to):
    return Charter.from_text(joining.told_by(connect, number, to).body.decode())


def test_the_coordinator_tells_what_was_agreed_on():
    coordinator = LocalCoordinator(ASYNC)
    coordinator.server.validation.limits = Limits(bounds=Bounds(context=1.0))
    told = told_by(coordinator.connector(1), 1, "here")
    assert (told, told.limits) == (ASYNC, {"context": 1.0})
    assert coordinator.links[1].is_cut, "the connection is ended"
    assert list(coordinator.links[1].sent) == ["JOIN"]


def test_the_coordinator_tells_when_decisions_end_and_the_store_remembers(tmp_path):
    coordinator = LocalCoordinator(replace(ASYNC, ending=Ending(expires=60.0, default_reward=0.25)))
    told = told_by(coordinator.connector(1), 1, "here")
    assert told.ending == Ending(60.0, 0.25)
    sizes = {"dimension": 3, "arms": 2, "clients": 2, "horizon": 100}
    fb.Site(told.algorithm, number=1, store=tmp_path / "site.db", **told.ending.told(), **sizes).close()
    with fb.Site.join("nats://127.0.0.1:1/demo", number=1, store=tmp_path / "site.db") as site:
        assert site.node.ending == Ending(60.0, 0.25)
    with pytest.raises(fb.InvalidInput, match=r"expires is 30 here and 60\.0 in the federation: leave it out"):
        fb.Site.join("nats://127.0.0.1:1/demo", number=1, store=tmp_path / "site.db", expires=30)


def test_a_site_that_joins_knows_which_revision_it_has_before_it_hears_of_the_next(tmp_path, monkeypatch):
    """Else one that joins, and is not connected when the charter changes again, would have a charter of its own."""
    coordinator = LocalCoordinator(ASYNC)
    revise(coordinator.server, {"ridge": "0.5"})
    monkeypatch.setattr(joining, "connector", lambda to, number, credentials: coordinator.connector(number))
    monkeypatch.setattr(fb.Site, "connect", lambda *given, **how: None)
    with fb.Site.join("nats://127.0.0.1:1/demo", number=1, store=tmp_path / "site.db") as site:
        assert site.revision == 1
        site.learn(site.choose(np.eye(3)[:2]), 1.0)
    revise(coordinator.server, {"upload_threshold": "1.5", "dimension": "4"})
    with fb.Site.join("nats://127.0.0.1:1/demo", number=1, store=tmp_path / "site.db") as site:
        for _ in range(3):
            to_server(coordinator.server, site.node.resend())
            to_sites({1: site.node}, coordinator.server.commit())
        assert (site.revision, site.node.disagreement) == (2, "")
    assert coordinator.server.accounts.observations == {1: 1}


def test_it_is_asked_again_if_nobody_has_heard(monkeypatch):
    coordinator, heard = LocalCoordinator(ASYNC), []
    monkeypatch.setattr(joining, "ASK_SECONDS", 0.0)
    receive = coordinator.receive

    def deaf_twice(frame, sender):
        heard.append(frame)
        if len(heard) == 3:
            receive(frame, sender)

    coordinator.receive = deaf_twice
    assert told_by(coordinator.connector(0), 0, "here") == ASYNC


def test_who_cannot_be_told_is_told_why(monkeypatch):
    coordinator = LocalCoordinator(ASYNC)
    coordinator.is_up = False
    with pytest.raises(fb.InvalidInput) as refused:
        told_by(coordinator.connector(0), 0, "tls://here/demo")
    assert str(refused.value) == (
        "the coordinator of tls://here/demo does not say what its federation has agreed on (the coordinator is down): "
        "join when it is there; from then on the store knows"
    )

    async def refuse():
        raise LinkRefused("the credential has expired")

    with pytest.raises(fb.InvalidInput, match="this site cannot join here: the credential has expired"):
        told_by(refuse, 0, "here")
    coordinator = LocalCoordinator(ASYNC)
    coordinator.receive = lambda frame, sender: None
    monkeypatch.setattr(joining, "ANSWER_SECONDS", 0.01)
    with pytest.raises(fb.InvalidInput, match=r"\(no answer for 0.01 seconds\): join when it is there"):
        told_by(coordinator.connector(0), 0, "here")


@pytest.mark.parametrize("turns", [0, 600])  # before a snapshot, and after
def test_a_store_knows_what_was_agreed_on(tmp_path, turns):
    store = tmp_path / "site.db"
    assert kept_in(store) is None
    with fb.Site(
        "async-linucb", dimension=2, clients=3, number=1, limits={"reward": 2}, ridge=0.5, store=store
    ) as site:
        for _ in range(turns):
            site.learn(site.choose(np.eye(2)).id, 1.0)
        here = site.charter
    kept = kept_in(store)
    assert (kept, kept.limits) == (here, {"reward": 2.0})


def test_a_file_that_is_no_store_of_a_site_is_refused(tmp_path):
    (tmp_path / "empty.db").touch()
    assert kept_in(tmp_path / "empty.db") is None
    journal = SqliteJournal(tmp_path / "roster.db")
    journal.append(b"{}")
    journal.sync()
    journal.close()
    with pytest.raises(fb.InvalidInput, match=r"roster\.db is not the store of a site: give another"):
        kept_in(tmp_path / "roster.db")


BAD = {
    "clinics": "'clinics' is no address of a broker",
    "tls://broker/clinics": "tls://broker:4222 asks for a credential: make one with `fedbandit keys new`",
    "nats://broker/clinics": "nothing tells which site of nats://broker/clinics this is: give its number, or a",
}


@pytest.mark.parametrize("to", BAD)
def test_what_is_wrong_with_an_address_is_said_at_once(to):
    with pytest.raises(fb.InvalidInput) as refused:
        fb.Site.join(to)
    assert BAD[to] in str(refused.value)


def test_a_site_opens_with_its_store_though_nobody_is_there(tmp_path):
    said = {"dimension": 2, "clients": 3}
    fb.Site("async-linucb", number=1, limits={"reward": 2}, store=tmp_path / "site.db", **said).close()
    address = "nats://127.0.0.1:1/demo"
    with fb.Site.join(address, number=1, store=tmp_path / "site.db", algorithm="async-linucb", **said) as site:
        assert site.charter.setting.dimension == 2
        with pytest.raises(fb.InvalidInput, match="farther from 0 than the limit of 2"):
            site.learn(site.choose(np.eye(2)).id, 3.0)
    with pytest.raises(fb.InvalidInput, match="dimension is 3 here and 2 in the federation: leave it out, or give 2"):
        fb.Site.join(address, number=1, store=tmp_path / "site.db", dimension=3)
    with pytest.raises(fb.InvalidInput, match="the store belongs to site 1, not to 2"):
        fb.Site.join(address, number=2, store=tmp_path / "site.db")


def declared(largest):
    return fb.Features({"arm": {"price": {"kind": "number", "range": [0, largest]}}})


def test_features_are_those_of_the_federation(tmp_path):
    store, address = tmp_path / "site.db", "nats://127.0.0.1:1/demo"
    fb.Site("async-linucb", features=declared(500), store=store).close()
    with fb.Site.join(address, number=0, store=store, features=declared(500)) as site:
        assert site.choose([{"price": 7}, {"price": 9}], ids=["red", "blue"]).arm in ("red", "blue")
    with pytest.raises(fb.InvalidInput, match="the federation has features, and none are given: give those of the"):
        fb.Site.join(address, number=0, store=store)
    with pytest.raises(
        fb.InvalidInput, match=r"the features have the fingerprint .*, and those of the federation .*: give"
    ):
        fb.Site.join(address, number=0, store=store, features=declared(600))
    fb.Site("async-linucb", dimension=2, store=tmp_path / "other.db").close()
    with pytest.raises(fb.InvalidInput, match="features are given, and the federation has none"):
        fb.Site.join(address, number=0, store=tmp_path / "other.db", features=declared(500))
