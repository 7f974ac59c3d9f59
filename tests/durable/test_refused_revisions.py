"""What cannot change, and who cannot change it: refused, and nothing is changed."""

from __future__ import annotations

import pytest

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.protocol.changing import changed
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire.frame import Frame, Kind
from samples.pair import charter, to_sites
from samples.revising import EAGER, NEVER, federation, revise, state_of


def test_a_site_cannot_change_what_was_agreed_on():
    server, sites = federation()
    before = server.agreed, state_of(server), len(list(server.journal.records()))
    forged = server.agreed.next(changed(server.charter, EAGER).charter)
    frame = Frame(Kind.CHARTER, 0, 0, 0, forged.text.encode()).to_bytes()
    verdict = server.receive(frame, 0.0, sender=0)
    assert verdict.reason == "a site may not send a frame of kind charter"
    assert (server.agreed, state_of(server), len(list(server.journal.records()))) == before
    assert sites[0].revisions == 0


def test_a_revision_of_another_federation_is_not_taken_up():
    server, sites = federation()
    other = Agreed(charter(ridge=2.0)).next(charter(ridge=2.0, upload_threshold=7.0))
    sites[0].receive(Frame(Kind.CHARTER, 0, 0, 0, other.text.encode()).to_bytes())
    assert sites[0].revisions == 0
    assert "ridge is 0.1 here and 2.0 in the federation" in sites[0].disagreement
    for strange in (b"{}", b'{"revision": "many"}', other.text.replace('"former"', '"former": 7, "x"').encode()):
        with pytest.raises(ProtocolError, match="the charter of the federation is not known here"):
            sites[0].receive(Frame(Kind.CHARTER, 0, 0, 0, strange).to_bytes())
    assert server.agreed.count == 0


def test_an_earlier_revision_that_comes_late_changes_nothing():
    server, sites = federation()
    revise(server, EAGER)
    early = server.commit()
    revise(server, NEVER)
    to_sites(sites, server.commit())
    to_sites(sites, early)
    assert sites[0].charter.algorithm.upload_threshold == 1e9


def test_a_revision_that_cannot_carry_over_what_was_learnt_changes_nothing():
    server, sites = federation()
    life = sites[0].life
    life.node.form = 7  # of which the revision says nothing
    before = life.agreed, life.schema, life.side
    revise(server, EAGER)
    with pytest.raises(ProtocolError, match="a revision that knows nothing of the form"):
        to_sites(sites, server.commit())
    assert (life.agreed, life.schema, life.side) == before


REFUSED = {
    "a name that there is not": ({"uplod_threshold": "3"}, "unknown name 'uplod_threshold': did you mean"),
    "a value that is none": ({"upload_threshold": "much"}, "upload_threshold must be a number, not 'much'"),
    "a value out of range": ({"upload_threshold": "0.5"}, "upload_threshold must be at least 1, not 0.5"),
    "another algorithm": ({"algorithm": "sync-linucb"}, "algorithm can change only as a new federation: begin"),
    "more sites": ({"clients": "9"}, "clients can change only as a new federation"),
    "another discount": ({"discount": "0.5"}, "discount can change only as a new federation"),
    "nothing travels any more": (
        {"upload_threshold": "inf", "download_threshold": "inf"},
        "other messages would travel than now, which is possible only as a new federation",
    ),
    "a list of the wrong length": ({"upload_threshold": "1,2,3"}, "upload_threshold lists 3 values for 2 clients"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_change_that_cannot_be_is_refused_and_nothing_is_changed(what):
    values, words = REFUSED[what]
    server, _ = federation()
    before = server.agreed, len(list(server.journal.records()))
    with pytest.raises(InvalidInput, match=words):
        revise(server, values)
    assert (server.agreed, len(list(server.journal.records()))) == before
