"""A site that joins is told all that was agreed on; one that says otherwise is told what differs."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import fedbandit as fb
from samples.roster import serving
from samples.waiting import until

TABLE = {
    "algorithm": "async-linucb", "clients": 3, "dimension": 2, "limits": {"reward": 2.0},
    "set": {"upload_threshold": 1.0, "smallest_upload": 1, "ridge": 0.5},
}  # fmt: skip


@pytest.fixture(scope="module")
def rostered(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("rostered"), {"demo": TABLE}) as made:
        yield made


def learn(site):
    site.learn(site.choose(np.eye(2)).id, 1.0)


def test_a_site_joins_in_one_line_and_opens_without_anybody_the_next_time(rostered, tmp_path):
    joined = rostered.joined("demo", "north")
    with fb.Site.join(joined.address, credentials=joined.credential, store=tmp_path / "site.db", patience=0.1) as site:
        assert site.charter == rostered.host("demo").plan.charter
        with pytest.raises(fb.InvalidInput, match="farther from 0 than the limit of 2"):
            site.learn(site.choose(np.eye(2)).id, 3.0)
        learn(site)
        until(lambda: site.unsent == 0, "an acknowledgement")
    assert rostered.host("demo").server.accounts.observations == {joined.number: 1}
    rostered.host("demo").look()
    told = rostered.host("demo").telemetry.snapshot(0.0)["sites"]
    assert {each["site"]: each["name"] for each in told}[joined.number] == "north"
    away = "tls://127.0.0.1:1/demo"
    with fb.Site.join(away, credentials=joined.credential, store=tmp_path / "site.db") as site:
        learn(site)
        assert (site.charter.limits, site.unsent) == ({"reward": 2.0}, 1)


def test_what_a_program_says_otherwise_is_refused_before_anything_is_made(rostered, tmp_path):
    joined = rostered.joined("demo", "south")
    given = {"credentials": joined.credential, "store": tmp_path / "site.db"}
    with pytest.raises(fb.InvalidInput, match=r"ridge is 2\.0 here and 0\.5 in the federation: leave it out"):
        fb.Site.join(joined.address, **given, ridge=2)
    with pytest.raises(fb.InvalidInput, match=r"is the credential of site 1 of demo, not of site 2 of demo"):
        fb.Site.join(joined.address, **given, number=2)
    with pytest.raises(fb.InvalidInput, match=r"is the credential of site 1 of demo, not of site 1 of other"):
        fb.Site.join(joined.address.replace("demo", "other"), **given)
    assert not list(tmp_path.iterdir())
    rostered.operate("demo", "revoke", "south")
    with pytest.raises(fb.InvalidInput, match=r"this site cannot join tls://.*demo: the broker does not let this cred"):
        fb.Site.join(joined.address, **given)
    assert not list(tmp_path.iterdir())


def test_a_site_that_was_opened_otherwise_is_told_which_field_differs_and_loses_nothing(rostered, caplog):
    joined = rostered.joined("demo", "east")
    caplog.set_level(logging.WARNING, "fedbandit.site")
    sizes = {"dimension": 2, "clients": 3, "number": joined.number}
    with fb.Site("async-linucb", **sizes, upload_threshold=1.0, smallest_upload=1) as site:
        learn(site)
        site.connect(joined.address, credentials=joined.credential, patience=0.1)
        until(lambda: site.state.value == "refused", "the coordinator")
        for _ in range(2):
            learn(site)
        sentence = "ridge is 0.1 here and 0.5 in the federation: open the site with the federation's, as Site.join does"
        assert site.trouble.startswith(sentence)
        assert site.unsent == 3
    said = [each.getMessage() for each in caplog.records if each.name == "fedbandit.site"]
    assert said == [f"refused: {sentence}; what it learns waits here until then"]
